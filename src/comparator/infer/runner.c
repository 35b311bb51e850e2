/* comparator/infer/runner.c: see runner.h. */
#include "comparator/infer/runner.h"

#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "base/text/names.h"
#include "base/text/number.h"

char *runner_make_name(const char *prefix, size_t index, time_t now)
{
    struct string_builder name;
    struct tm local;

    localtime_r(&now, &local);
    string_init(&name);
    string_add_format(&name, "%s-N%zu-%02d/%02d/%02d-%02d:%02d:%02d", prefix, index, local.tm_mon + 1, local.tm_mday,
                      local.tm_year % 100, local.tm_hour, local.tm_min, local.tm_sec);
    return string_take(&name);
}

/* A runner at work. */
struct session {
    const struct runner *runner;
    const struct runner_settings *settings;
    struct data_loader *loader;
    struct backend_session *backend;
    const struct backend_io *inputs;
    size_t input_count;
    const char **wanted; /* the outputs that are tensors */
    size_t wanted_count;
    double total; /* seconds of all iterations */
};

static void choose_outputs(struct session *session)
{
    struct string_builder skipped;
    size_t count;
    const struct backend_io *outputs = session->runner->backend->outputs(session->backend, &count);

    string_init(&skipped);
    session->wanted = memory_alloc_zero(count, sizeof(*session->wanted));
    for (size_t i = 0; i < count; i++) {
        if (outputs[i].not_a_tensor == NULL)
            session->wanted[session->wanted_count++] = outputs[i].name;
        else
            name_list_add(&skipped, outputs[i].name);
    }
    if (skipped.size > 0)
        log_once(session->settings->log, LOG_WARNING, "Outputs that are sequences, maps or the like are left out: [%s]",
                 skipped.data);
    string_release(&skipped);
}

static int session_open(struct session *session, struct error *err)
{
    const struct backend *backend = session->runner->backend;
    const struct runner_settings *settings = session->settings;
    struct backend_request request = {0};
    int rc = session->runner->prepare(session->runner->data, &request, err);

    if (rc == 0)
        rc = backend->open(&request, &session->backend, err);
    if (rc < 0)
        return rc;
    session->inputs = backend->inputs(session->backend, &session->input_count);
    choose_outputs(session);
    if (session->wanted_count == 0)
        return error_set(err, ERR_UNSUPPORTED, "the model has no output that is a tensor: there is nothing to compute");
    if (settings->keep_feeds || settings->save_inputs != NULL)
        rc = data_loader_keep(session->loader, session->inputs, session->input_count, err);
    if (rc == 0 && settings->save_inputs != NULL) {
        log_message(settings->log, LOG_INFO, "Saving inference input data to %s", settings->save_inputs);
        rc = feed_dicts_save(data_loader_kept(session->loader), settings->save_inputs, err);
    }
    return rc;
}

static void session_close(struct session *session)
{
    session->runner->backend->close(session->backend);
    free(session->wanted);
}

void runner_log_metadata(struct log *log, const char *runner, const char *what, const struct tensor_list *tensors)
{
    struct string_builder text;

    if (!log_shows(log, LOG_INFO))
        return;
    string_init(&text);
    string_add_format(&text, "%-35s\n---- Inference %s(s) ----\n{", runner, what);
    for (size_t i = 0; i < tensors->count; i++) {
        const struct tensor *tensor = &tensors->items[i].tensor;

        string_add_format(&text, "%s%s [dtype=%s, shape=", i > 0 ? ",\n " : "", tensors->items[i].name,
                          data_type_name(tensor->type));
        shape_to_text(&tensor->shape, &text);
        string_add_char(&text, ']');
    }
    log_once(log, LOG_INFO, "%s}", text.data);
    string_release(&text);
}

/* A model that fails may only want other sizes. */
static void hint_at_sizes(const struct session *session, struct error *err)
{
    struct string_builder guesses;
    struct error why = *err;

    string_init(&guesses);
    if (data_loader_guesses(session->loader, session->inputs, session->input_count, &guesses)) {
        error_set(err, (enum error_code)why.code,
                  "%s; sizes that the model leaves open were taken as 1: if it wants others, give them with "
                  "--input-shapes, in place of %s",
                  why.message, guesses.data);
        err->foreign_code = why.foreign_code;
    }
    string_release(&guesses);
}

static int run_once(struct session *session, const struct tensor_list *feed, struct tensor_list *ret, double *seconds,
                    struct error *err)
{
    int rc;

    if (interrupt_pending())
        return error_set(err, ERR_INTERRUPTED, "interrupted");
    rc = session->runner->backend->run(session->backend, feed, session->wanted, session->wanted_count, ret, seconds,
                                       err);
    if (rc == ERR_BACKEND)
        hint_at_sizes(session, err);
    return rc;
}

static int warm_up(struct session *session, const struct tensor_list *feed, struct error *err)
{
    int64_t count = session->settings->warm_up;
    int rc = 0;

    if (count > 0)
        log_message(session->settings->log, LOG_START, "%-35s | Running %lld warm-up run(s)", session->runner->name,
                    (long long)count);
    for (int64_t i = 0; i < count && rc == 0; i++) {
        struct tensor_list outputs = {0};

        rc = run_once(session, feed, &outputs, NULL, err);
        tensor_list_release(&outputs);
    }
    return rc;
}

static int run_iteration(struct session *session, int64_t index, struct runner_results *results, struct error *err)
{
    const struct runner_settings *settings = session->settings;
    struct tensor_list feed = {0}, outputs = {0};
    struct iteration_result *iteration;
    double seconds = 0;
    int rc = data_loader_feed(session->loader, session->inputs, session->input_count, index, &feed, err);

    if (rc == 0 && index == 0)
        rc = warm_up(session, &feed, err);
    if (rc == 0) {
        runner_log_metadata(settings->log, session->runner->name, "Input", &feed);
        rc = run_once(session, &feed, &outputs, &seconds, err);
    }
    if (rc < 0)
        goto done;
    runner_log_metadata(settings->log, session->runner->name, "Output", &outputs);
    session->total += seconds;
    iteration = runner_results_add_iteration(results, seconds);
    iteration->outputs = outputs;
    outputs = (struct tensor_list){0};
    if (settings->writer != NULL)
        rc = run_results_writer_add_iteration(settings->writer, iteration, err);
    if (!settings->keep_outputs)
        tensor_list_release(&iteration->outputs);
done:
    tensor_list_release(&outputs);
    tensor_list_release(&feed);
    return rc;
}

void runner_log_completion(struct log *log, const char *runner, double seconds, int64_t iterations)
{
    char total[NUMBER_TEXT_SIZE], average[NUMBER_TEXT_SIZE];
    double milliseconds = seconds * 1000;

    log_message(log, LOG_FINISH, "%-35s | Completed %lld iteration(s) in %s ms | Average inference time: %s ms.",
                runner, (long long)iterations, number_to_text_rounded(milliseconds, 'g', 4, total),
                number_to_text_rounded(iterations > 0 ? milliseconds / (double)iterations : 0, 'g', 4, average));
}

static void expect_outputs(const struct session *session, int64_t iterations)
{
    size_t name_bytes = 0;

    for (size_t i = 0; i < session->wanted_count; i++)
        name_bytes += strlen(session->wanted[i]);
    for (int64_t i = 0; i < iterations; i++)
        run_results_writer_expect(session->settings->writer, session->wanted_count, name_bytes);
}

/* Everything between loading the model and releasing it. */
static int run_all(struct session *session, struct runner_results *results, struct error *err)
{
    struct run_results_writer *writer = session->settings->writer;
    int64_t iterations = data_loader_iterations(session->loader);
    int rc = session_open(session, err);

    if (rc == 0 && writer != NULL)
        expect_outputs(session, iterations * session->settings->runners);
    if (rc == 0 && writer != NULL)
        rc = run_results_writer_begin_runner(writer, session->runner->name, err);
    for (int64_t i = 0; i < iterations && rc == 0; i++)
        rc = run_iteration(session, i, results, err);
    if (rc == 0 && writer != NULL)
        rc = run_results_writer_end_runner(writer, err);
    if (rc == 0)
        runner_log_completion(session->settings->log, session->runner->name, session->total, iterations);
    return rc;
}

int runner_run(const struct runner *runner, struct data_loader *loader, const struct runner_settings *settings,
               struct run_results *ret, struct error *err)
{
    struct session session = {.runner = runner, .settings = settings, .loader = loader};
    struct run_results results = {0};
    int rc;

    log_message(settings->log, LOG_START, "%-35s | Activating and starting inference", runner->name);
    rc = run_all(&session, run_results_add_runner(&results, text_of(runner->name)), err);
    session_close(&session);
    if (rc < 0) {
        run_results_release(&results);
        return rc;
    }
    *VECTOR_APPEND(ret) = results.items[0];
    free(results.items);
    return 0;
}
