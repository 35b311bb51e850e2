/* cli/run/steps.c: see steps.h. */
#include "cli/run/steps.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "cli/run/step_entry.h"
#include "cli/run/step_runs.h"
#include "format/data/writer.h"
#include "tensor/values/elements.h"

/* Of the first row. */
static void log_tokens(struct log *log, const struct step_outcome *outcome, const char *source)
{
    SCOPED_STRING(text);

    for (size_t step = 1; step < outcome->steps.feeds.count; step++) {
        const struct tensor *tokens = step_outcome_tokens(outcome, step);
        uint64_t token;

        if (tokens == NULL || tensor_elements(tokens) == 0)
            continue;
        elements_to_integers(tokens, 0, 1, &token);
        string_add_format(&text, " %lld", (long long)token);
    }
    log_message(log, LOG_INFO, "Decoder Steps | Tokens of steps 1 to %zu, from %s:%s", outcome->steps.feeds.count - 1,
                source, text.data);
}

static void log_steps(struct log *log, const struct step_outcome *outcome, const struct step_observer *observer)
{
    SCOPED_STRING(failed);

    if (outcome->first == SIZE_MAX)
        return;
    for (size_t i = 0; i < outcome->count; i++)
        if (outcome->failed[i])
            string_add_format(&failed, "%s%zu", failed.size > 0 ? ", " : "", i);
    log_message(log, LOG_ERROR,
                "FAILED | Decoder Steps | First failing step: %zu%s | Outputs: [%s%s] | Failing steps: %s",
                outcome->first, outcome->first == 0 ? ", the prefill" : "", observer->outputs.data,
                observer->output_count > MOST_OUTPUTS ? ", ..." : "", failed.data);
}

int step_inputs_save(const char *path, const struct tensor_list *feed, size_t step, struct log *log, struct error *err)
{
    struct tensor_list item;
    struct feed_dicts one = {.items = &item, .count = 1};

    if (feed == NULL) { /* inputs of an earlier run would look like those of this one */
        bool removed = unlink(path) == 0;

        if (!removed && errno != ENOENT)
            return error_set_errno(err, ERR_IO, "cannot remove '%s', which an earlier run has written", path);
        log_message(log, LOG_WARNING, "No step fails: '%s' is not written%s", path,
                    removed ? ", and the file of an earlier run is removed" : "");
        return 0;
    }
    item = *feed;
    log_message(log, LOG_INFO, "Saving the inputs of step %zu to %s", step, path);
    return data_file_save(&one, path, err);
}

static int save_outcome_inputs(const char *path, const struct step_outcome *outcome, struct log *log, struct error *err)
{
    size_t step = step_to_look_into(outcome);

    return path != NULL
               ? step_inputs_save(path, step != SIZE_MAX ? &outcome->steps.feeds.items[step] : NULL, step, log, err)
               : 0;
}

/* The steps need data of all of them, or of the first. */
static int check_loaded_steps(const struct driver_settings *settings, const struct data_loader *loader, size_t count,
                              bool *ret_has_tokens, struct error *err)
{
    size_t loaded = data_loader_generates(loader) ? 1 : (size_t)data_loader_iterations(loader);

    *ret_has_tokens = loaded > 1;
    if (loaded > 1 && loaded < count)
        return error_set(err, ERR_INVALID,
                         "--load-inputs has %zu iterations, and the prefill with %zu steps needs %zu: pass data of the "
                         "prefill alone, or --steps %zu",
                         loaded, count - 1, count, loaded - 1);
    if (settings->load_count > 0 && !*ret_has_tokens)
        return error_set(err, ERR_INVALID,
                         "--load-outputs with --steps needs the tokens with which those results were computed: pass "
                         "the file of --save-inputs of that run to --load-inputs");
    return 0;
}

int run_steps(struct run_model *model, const struct driver_settings *settings, struct data_loader *loader,
              struct step_outcome *ret, bool *ret_passed, struct error *err)
{
    const struct step_values *values = &model->settings->steps;
    struct driver_settings own = *settings;
    struct step_observer observer = {.count = (size_t)values->count + 1};
    struct decoder_iteration *iterations = memory_alloc_zero(observer.count, sizeof(*iterations));
    int rc;

    ret->count = observer.count;
    ret->failed = observer.failed = memory_alloc_zero(observer.count, sizeof(*observer.failed));
    ret->first = ret->entered = ret->shown = SIZE_MAX;
    ret->steps.decoder = &ret->decoder;
    ret->steps.encoded = &ret->encoded;
    ret->steps.iterations = iterations;
    ret->steps.count = observer.count;
    for (size_t i = 0; i < observer.count; i++)
        iterations[i].step = i;
    rc = check_loaded_steps(settings, loader, observer.count, &ret->steps.has_tokens, err);
    if (rc < 0)
        goto done;
    own.steps = &ret->steps;
    if (model->settings->comparison.first_divergence) {
        own.report = NULL;
        own.comparison.on_compared = NULL;
    }
    rc = step_runs_make(model, &own, loader, &observer, ret_passed, err);
    if (rc < 0)
        goto done;
    log_tokens(settings->log, ret, ret->steps.has_tokens ? "--load-inputs" : settings->runners[0].name);
    if (!*ret_passed)
        ret->first = step_first_failed(ret->failed, ret->count);
    log_steps(settings->log, ret, &observer);
    if (ret->first != SIZE_MAX)
        rc = step_entry_find(model, &own, loader, ret, err);
    if (rc == 0)
        rc = save_outcome_inputs(values->save_inputs, ret, settings->log, err);
done:
    ret->steps.iterations = NULL;
    free(iterations);
    string_release(&observer.outputs);
    return rc;
}
