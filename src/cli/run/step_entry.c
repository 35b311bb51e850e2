/* cli/run/step_entry.c: see step_entry.h. */
#include "cli/run/step_entry.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/text/names.h"
#include "cli/run/step_runs.h"

/* From `last` on backwards: each step with the caches of the reference, then the steps up to `last` with own caches,
 * until a step fails. */
static struct decoder_iteration *list_exchanges(size_t last, size_t *ret_count)
{
    struct decoder_iteration *ret = memory_alloc_zero((last + 1) * (last + 2) / 2, sizeof(*ret));
    size_t count = 0;

    for (size_t start = last + 1; start-- > 0;)
        for (size_t step = start; step <= last; step++)
            ret[count++] = (struct decoder_iteration){.step = step, .of_reference = step == start};
    *ret_count = count;
    return ret;
}

static void log_entry(struct log *log, const struct step_outcome *outcome)
{
    size_t first = outcome->first, entered = outcome->entered, shown = outcome->shown;
    SCOPED_STRING(accumulates);

    if (shown > entered + 1)
        string_add_format(&accumulates, " or accumulates from there to step %zu,", shown);
    if (entered == SIZE_MAX)
        log_message(log, LOG_WARNING,
                    "The difference is not reproducible: no step fails when the steps up to %zu are repeated", first);
    else if (first == 0)
        log_message(log, LOG_ERROR,
                    "The difference enters in step 0, the prefill, for which all runners have the same inputs");
    else if (entered == first)
        log_message(log, LOG_ERROR,
                    "The difference enters in step %zu: with the caches of the reference step %zu fails, too", entered,
                    first);
    else if (entered == shown)
        log_message(log, LOG_ERROR,
                    "The difference enters in step %zu, which fails with the caches of the reference, although it "
                    "passed with each runner's own; step %zu passes with those of the reference",
                    entered, first);
    else
        log_message(log, LOG_ERROR,
                    "The difference enters in step %zu,%s and is inherited through the caches: with the caches of the "
                    "reference before step %zu, and each runner's own from there on, step %zu fails; with those of the "
                    "reference before step %zu it passes",
                    entered, accumulates.data, entered, shown, entered + 1);
}

/* Runs the iterations of the steps without reporting them, and leaves none. `ret_failed`: whether each failed. */
static int run_exchanges(struct run_model *model, const struct driver_settings *settings, struct data_loader *loader,
                         bool *ret_failed, struct error *err)
{
    struct decoder_steps *steps = settings->steps;
    struct step_observer observer = {.count = steps->count, .failed = ret_failed};
    bool passed;
    int rc;

    rc = step_runs_make(model, settings, loader, &observer, &passed, err);
    steps->iterations = NULL;
    string_release(&observer.outputs);
    return rc;
}

static int find_entry(struct run_model *model, const struct driver_settings *settings, struct data_loader *loader,
                      struct step_outcome *ret, struct error *err)
{
    struct driver_settings quiet = *settings;
    size_t count, at;
    struct decoder_iteration *iterations SCOPED_FREE = list_exchanges(ret->first, &count);
    bool *failed SCOPED_FREE = memory_alloc_zero(count, sizeof(*failed));
    int rc;

    quiet.comparison.fail_fast = true;
    ret->steps.iterations = iterations;
    ret->steps.count = count;
    rc = run_exchanges(model, &quiet, loader, failed, err);
    at = step_first_failed(failed, count);
    if (rc < 0 || at == SIZE_MAX)
        return rc;
    ret->shown = iterations[at].step;
    while (!iterations[at].of_reference)
        at--;
    ret->entered = iterations[at].step;
    return 0;
}

/* For each cache: the steps from the entry to the one that failed then, with this one alone as each runner's own. */
static int find_carriers(struct run_model *model, const struct driver_settings *settings, struct data_loader *loader,
                         struct step_outcome *ret, struct error *err)
{
    const struct decoder *decoder = &ret->decoder;
    size_t length = ret->shown - ret->entered + 1, count = 0;
    struct decoder_iteration *iterations SCOPED_FREE = memory_alloc_zero(decoder->count * length, sizeof(*iterations));
    bool *failed SCOPED_FREE = memory_alloc_zero(decoder->count * length, sizeof(*failed));
    int rc;

    ARRAY_EACH (const struct decoder_input, input, decoder->inputs, decoder->count)
        for (size_t i = 0; i < length && input->role == DECODER_CACHE; i++)
            iterations[count++] =
                (struct decoder_iteration){.step = ret->entered + i, .of_reference = i == 0, .own = input->name};
    ret->steps.iterations = iterations;
    ret->steps.count = count;
    rc = run_exchanges(model, settings, loader, failed, err);
    if (rc < 0)
        return rc;
    ret->carries = memory_alloc_zero(decoder->count, sizeof(*ret->carries));
    count = 0;
    for (size_t i = 0; i < decoder->count; i++)
        for (size_t k = 0; k < length && decoder->inputs[i].role == DECODER_CACHE; k++)
            ret->carries[i] |= failed[count++];
    return 0;
}

static void log_carriers(struct log *log, const struct step_outcome *outcome)
{
    SCOPED_STRING(names);

    for (size_t i = 0; i < outcome->decoder.count; i++)
        if (outcome->carries[i])
            name_list_add(&names, outcome->decoder.inputs[i].present);
    if (names.size > 0)
        log_message(log, LOG_ERROR, "Caches that carry it, each with all others of the reference: [%s]", names.data);
    else
        log_message(log, LOG_ERROR, "No cache carries it alone, with all others of the reference");
}

int step_entry_find(struct run_model *model, const struct driver_settings *settings, struct data_loader *loader,
                    struct step_outcome *ret, struct error *err)
{
    struct driver_settings quiet = *settings;
    int rc = 0;

    quiet.log = NULL;
    quiet.report = NULL;
    quiet.save = (struct saving_paths){0};
    quiet.comparison.on_compared = NULL;
    quiet.comparison.fail_fast = false;
    if (ret->first > 0 && settings->load_count > 0) {
        log_message(settings->log, LOG_WARNING,
                    "Whether the difference enters in step %zu or in its caches is not known: caches are exchanged "
                    "between runners, not with the results of --load-outputs",
                    ret->first);
        return 0;
    }
    if (settings->count < 2)
        return 0;
    if (ret->first == 0)
        ret->entered = ret->shown = 0;
    else
        rc = find_entry(model, &quiet, loader, ret, err);
    if (rc < 0)
        return rc;
    log_entry(settings->log, ret);
    if (ret->entered == SIZE_MAX || ret->entered == ret->shown)
        return 0;
    rc = find_carriers(model, &quiet, loader, ret, err);
    if (rc == 0)
        log_carriers(settings->log, ret);
    return rc;
}
