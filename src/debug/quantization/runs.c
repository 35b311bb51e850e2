/* debug/quantization/runs.c: see runs.h. */
#include "debug/quantization/runs.h"

#include <stdlib.h>
#include <string.h>

#include "backend/model_io.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/system.h"

static int stop_if_asked(struct error *err)
{
    return interrupt_pending() ? error_set(err, ERR_INTERRUPTED, "interrupted") : 0;
}

/* ---- What is run once for each sample ---- */

static int keep_outputs(struct study_runs *runs, const struct tensor_list *outputs, struct tensor_list *ret,
                        struct error *err)
{
    int rc = 0;

    for (size_t i = 0; i < outputs->count; i++) {
        struct tensor none = {0};

        tensor_list_add(ret, text_of(outputs->items[i].name), &none);
    }
    for (size_t i = 0; rc == 0 && i < outputs->count; i++)
        rc = value_store_add(&runs->store, &outputs->items[i].tensor, &ret->items[i].tensor, err);
    return rc < 0 ? rc : value_store_commit(&runs->store, err);
}

static int record_sample(struct study_runs *runs, struct backend_session *session, size_t sample,
                         struct tensor_list *ret, struct error *err)
{
    const struct backend *backend = runs->study->backend;
    struct tensor_list feed = {0}, outputs = {0};
    size_t count;
    const struct backend_io *inputs = backend->inputs(session, &count);
    int rc = stop_if_asked(err);

    if (rc < 0)
        return rc;
    rc = data_loader_feed(runs->study->loader, inputs, count, (int64_t)sample, &feed, err);
    if (rc == 0)
        rc = backend->run(session, &feed, NULL, &outputs, NULL, err);
    if (rc == 0)
        rc = keep_outputs(runs, &outputs, ret, err);
    tensor_list_release(&outputs);
    tensor_list_release(&feed);
    return rc;
}

static void recorded_free(struct tensor_list *recorded, size_t samples)
{
    for (size_t i = 0; recorded != NULL && i < samples; i++)
        tensor_list_release(&recorded[i]);
    free(recorded);
}

static int record(struct study_runs *runs, const char *path, struct tensor_list **ret, struct error *err)
{
    struct backend_request request = runs->study->request;
    struct tensor_list *recorded = memory_alloc_zero(runs->samples + 1, sizeof(*recorded));
    struct backend_session *session = NULL;
    int rc;

    request.model_path = path;
    rc = runs->study->backend->open(&request, &session, err);
    for (size_t i = 0; rc == 0 && i < runs->samples; i++)
        rc = record_sample(runs, session, i, &recorded[i], err);
    if (session != NULL)
        runs->study->backend->close(session);
    if (rc < 0)
        recorded_free(recorded, runs->samples);
    else
        *ret = recorded;
    return rc;
}

/* A runtime may have no kernels for the model as its optimizers make it. The simulation does without. */
static int record_as_run(struct study_runs *runs, struct error *err)
{
    struct error why = {0};
    int rc = record(runs, runs->study->request.model_path, &runs->as_run, &why);

    if (rc == 0)
        return 0;
    if (rc != ERR_BACKEND)
        return error_set(err, (enum error_code)rc, "%s", why.message);
    log_message(runs->study->log, LOG_WARNING,
                "The model does not run as it is, so that quantization is only simulated: %s", why.message);
    return 0;
}

/* ---- The model with switches ---- */

static const struct backend_setting resting = {.key = "session.intra_op.allow_spinning", .value = "0"};

/* Hundreds of runs in a row: threads that spin while they wait for the next operator take the processor from the one
 * that computes it, unless there are processors to spare. What the user has set stays. */
static int load_switched(struct study_runs *runs, struct error *err)
{
    struct backend_request request = runs->study->request;
    const struct backend_settings given = request.execution.session_config;
    struct backend_setting *settings = memory_alloc_zero(given.count + 1, sizeof(*settings));
    size_t count = 0;
    bool is_set = false;
    int rc;

    for (; count < given.count; count++) {
        settings[count] = given.items[count];
        is_set |= strcmp(given.items[count].key, resting.key) == 0;
    }
    if (!is_set)
        settings[count++] = resting;
    request.execution.session_config = (struct backend_settings){settings, count};
    rc = switched_model_new(runs->study->subject, runs->study->backend, &request, &runs->switched, err);
    free(settings);
    return rc;
}

int study_runs_begin(struct study_runs *ret, const struct quantization_study *study, size_t samples, struct error *err)
{
    const struct model *model = study->subject->model;
    int rc;

    *ret = (struct study_runs){.study = study, .samples = samples};
    ret->inputs = model_io_new(model, NULL, &model->inputs);
    rc = data_loader_keep(study->loader, ret->inputs, model->inputs.count, err);
    if (rc < 0)
        return rc;
    rc = record_as_run(ret, err);
    if (rc < 0)
        return rc;
    if (study->float_path != NULL)
        rc = record(ret, study->float_path, &ret->of_float, err);
    if (rc == 0)
        rc = load_switched(ret, err);
    ret->begun = stopwatch_now();
    return rc;
}

void study_runs_end(struct study_runs *runs)
{
    recorded_free(runs->as_run, runs->samples);
    recorded_free(runs->of_float, runs->samples);
    value_store_release(&runs->store);
    switched_model_free(runs->switched);
    if (runs->inputs != NULL)
        model_io_free(runs->inputs, runs->study->subject->model->inputs.count);
}

int study_runs_feed(const struct study_runs *runs, size_t sample, struct tensor_list *ret, struct error *err)
{
    return data_loader_feed(runs->study->loader, runs->inputs, runs->study->subject->model->inputs.count,
                            (int64_t)sample, ret, err);
}

static void count_run(struct study_runs *runs)
{
    struct loop_progress progress = {.exact = true, .nodes_now = -1, .nodes_whole = -1, .running = 1};

    runs->done++;
    if (runs->study->progress == NULL)
        return;
    progress.done = (int64_t)runs->done;
    progress.expected = (int64_t)(runs->expected - runs->done);
    progress.seconds_per_check = (stopwatch_now() - runs->begun) / (double)runs->done;
    runs->study->progress(runs->study->progress_data, &progress);
}

int study_runs_switched(struct study_runs *runs, const struct tensor_list *feed, const struct bitset *on,
                        const struct wanted_outputs *wanted, struct tensor_list *ret, struct error *err)
{
    int rc = stop_if_asked(err);

    if (rc == 0)
        rc = switched_model_run(runs->switched, feed, on, wanted, ret, err);
    if (rc == 0)
        count_run(runs);
    return rc;
}
