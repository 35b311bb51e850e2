/* debug/quantization/runs.c: see runs.h. */
#include "debug/quantization/runs.h"

#include <stdlib.h>
#include <string.h>

#include "backend/model_io.h"
#include "backend/onnxrt/optimizers.h"
#include "backend/onnxrt/settings.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/system.h"

static int stop_if_asked(struct error *err)
{
    return interrupt_pending() ? error_set(err, ERR_INTERRUPTED, "interrupted") : 0;
}

/* ---- How the runtime is set ---- */

/* Disables integer kernels: next to a constant that stays quantized, they would round float tensors to 8 bits, too. */
static const struct onnxrt_entry without_integer_kernels = {.key = "session.disable_quant_qdq", .value = "1"};

/* In hundreds of short runs, threads that spin while waiting slow down the one that computes, unless there are spare
 * cores. */
static const struct onnxrt_entry resting = {.key = "session.intra_op.allow_spinning", .value = "0"};

static const struct onnxrt_entry with_float_biases = {.key = ONNXRT_DISABLED_OPTIMIZERS_KEY,
                                                      .value = QUANTIZATION_BIAS_OPTIMIZER};

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
    struct tensor_list feed SCOPED(tensor_list_release) = {0}, outputs SCOPED(tensor_list_release) = {0};
    size_t count = session->input_count;
    const struct backend_io *inputs = session->inputs;
    int rc = stop_if_asked(err);

    if (rc < 0)
        return rc;
    rc = data_loader_feed(runs->study->loader, inputs, count, (int64_t)sample, &feed, err);
    if (rc == 0)
        rc = backend->run(session, &feed, NULL, &outputs, NULL, err);
    if (rc == 0)
        rc = keep_outputs(runs, &outputs, ret, err);
    return rc;
}

void study_outputs_free(struct tensor_list *outputs, size_t samples)
{
    for (size_t i = 0; outputs != NULL && i < samples; i++)
        tensor_list_release(&outputs[i]);
    free(outputs);
}

static int record_values(struct study_runs *runs, const struct backend_request *request, struct tensor_list **ret,
                         struct error *err)
{
    struct tensor_list *recorded = memory_alloc_zero(runs->samples + 1, sizeof(*recorded));
    struct backend_session *session = NULL;
    int rc;

    rc = runs->study->backend->open(request, &session, err);
    for (size_t i = 0; rc == 0 && i < runs->samples; i++)
        rc = record_sample(runs, session, i, &recorded[i], err);
    if (session != NULL)
        runs->study->backend->close(session);
    if (rc < 0)
        study_outputs_free(recorded, runs->samples);
    else
        *ret = recorded;
    return rc;
}

/* The runtime may have no kernels for the optimized model, or crash. The simulation does not need it. */
static int record_as_run(struct study_runs *runs, struct error *err)
{
    int rc = record_values(runs, &runs->study->request, &runs->as_run, &runs->why_not_run);

    if (rc == 0)
        return 0;
    if (rc != ERR_BACKEND)
        return error_set(err, (enum error_code)rc, "%s", runs->why_not_run.message);
    log_message(runs->study->log, LOG_WARNING,
                "The model does not run in ONNX Runtime, so quantization is only simulated: %s",
                runs->why_not_run.message);
    return 0;
}

int study_runs_refuse_crash(struct error *err, const char *what)
{
    struct error crash = *err;

    error_set(err, ERR_BACKEND,
              "cannot run %s, which all measurements need: %s. Pass --onnxrt-optimization-level none to run models "
              "without optimizations",
              what, crash.message);
    err->foreign_code = crash.foreign_code;
    return ERR_BACKEND;
}

static int record_with(struct study_runs *runs, const struct backend_model *model, const struct onnxrt_entry *entry,
                       struct tensor_list **ret, struct error *err)
{
    struct onnxrt_settings settings = *onnxrt_settings_of(&runs->study->request);
    struct backend_request request = runs->study->request;
    struct onnxrt_entry *entries SCOPED_FREE = entry != NULL ? onnxrt_settings_add(&settings, *entry) : NULL;

    request.model = *model;
    request.settings = &settings;
    return record_values(runs, &request, ret, err);
}

int study_runs_record(struct study_runs *runs, const struct backend_model *model, bool in_float,
                      struct tensor_list **ret, struct error *err)
{
    return record_with(runs, model, in_float ? &without_integer_kernels : NULL, ret, err);
}

int study_runs_record_biases(struct study_runs *runs, struct tensor_list **ret, struct error *err)
{
    const struct onnxrt_entries *given = &onnxrt_settings_of(&runs->study->request)->execution.session_config;

    for (size_t i = 0; i < given->count; i++)
        if (strcmp(given->items[i].key, ONNXRT_DISABLED_OPTIMIZERS_KEY) == 0)
            return error_set(err, ERR_UNSUPPORTED, "the command line disables optimizers");
    return record_with(runs, &runs->study->request.model, &with_float_biases, ret, err);
}

static int record_float(struct study_runs *runs, struct error *err)
{
    const char *path = runs->study->float_path;
    struct backend_model model = runs->study->request.model;
    struct string_builder what SCOPED(string_release) = {0};
    int rc;

    if (path == NULL)
        return 0;
    model.path = path;
    rc = study_runs_record(runs, &model, true, &runs->of_float, err);
    if (rc == 0 || !bounded_process_is_end(err))
        return rc;
    string_init(&what);
    string_add_format(&what, "'%s', the float model", path);
    return study_runs_refuse_crash(err, what.data);
}

/* ---- The model with switches ---- */

static int load_switched(struct study_runs *runs, struct error *err)
{
    struct onnxrt_settings settings = *onnxrt_settings_of(&runs->study->request);
    struct backend_request request = runs->study->request;
    struct onnxrt_entry *float_entries SCOPED_FREE = onnxrt_settings_add(&settings, without_integer_kernels);
    struct onnxrt_entry *entries SCOPED_FREE = onnxrt_settings_add(&settings, resting);

    request.settings = &settings;
    return switched_model_open(runs->switched, runs->study->backend, &request, err);
}

static int load_switched_first(struct study_runs *runs, struct error *err)
{
    int rc = load_switched(runs, err);

    return rc < 0 && bounded_process_is_end(err)
               ? study_runs_refuse_crash(err, "the model with a switch at each quantizer")
               : rc;
}

/* ---- Values ---- */

static int make_feeds(struct study_runs *runs, struct error *err)
{
    const struct model *model = runs->study->subject->model;
    struct backend_io *inputs = model_io_new(model, NULL, &model->inputs);
    size_t count = model->inputs.count;
    int rc = data_loader_keep(runs->study->loader, inputs, count, err);

    runs->feeds = memory_alloc_zero(runs->samples + 1, sizeof(*runs->feeds));
    for (size_t i = 0; rc == 0 && i < runs->samples; i++)
        rc = data_loader_feed(runs->study->loader, inputs, count, (int64_t)i, &runs->feeds[i], err);
    model_io_free(inputs, count);
    return rc;
}

/* Input data of hundreds of runs are most of the data between the two processes. */
static void share_values(const struct study_runs *runs)
{
    struct text_list values SCOPED_ITEMS = {0};

    if (runs->study->backend->share == NULL)
        return;
    switched_model_add_values(runs->switched, &values);
    for (size_t i = 0; i < runs->samples; i++)
        for (size_t k = 0; k < runs->feeds[i].count; k++) {
            const struct tensor *tensor = &runs->feeds[i].items[k].tensor;

            if (tensor->type != DATA_STRING && tensor->size > 0)
                *VECTOR_APPEND(&values) = (struct text){tensor->data, tensor->size};
        }
    runs->study->backend->share(values.items, values.count);
}

/* ---- All of them ---- */

int study_runs_begin(struct study_runs *ret, const struct quantization_study *study, size_t samples, struct error *err)
{
    int rc;

    *ret = (struct study_runs){.study = study, .samples = samples};
    rc = make_feeds(ret, err);
    if (rc < 0)
        return rc;
    rc = switched_model_new(study->subject, &ret->switched, err);
    if (rc < 0)
        return rc;
    share_values(ret);
    rc = record_as_run(ret, err);
    if (rc == 0)
        rc = record_float(ret, err);
    if (rc == 0)
        rc = load_switched_first(ret, err);
    ret->begun = stopwatch_now();
    return rc;
}

void study_runs_end(struct study_runs *runs)
{
    study_outputs_free(runs->as_run, runs->samples);
    study_outputs_free(runs->of_float, runs->samples);
    value_store_release(&runs->store);
    switched_model_free(runs->switched);
    if (runs->study->backend->share != NULL)
        runs->study->backend->share(NULL, 0);
    study_outputs_free(runs->feeds, runs->samples);
}

static void count_run(struct study_runs *runs)
{
    struct session_progress progress = {.exact = true, .nodes_now = -1, .nodes_whole = -1, .running = 1};

    runs->done++;
    if (runs->study->progress == NULL)
        return;
    progress.done = (int64_t)runs->done;
    progress.expected = (int64_t)(runs->expected - runs->done);
    progress.seconds_per_check = (stopwatch_now() - runs->begun) / (double)runs->done;
    runs->study->progress(runs->study->progress_data, &progress);
}

int study_runs_switched(struct study_runs *runs, size_t sample, const struct bitset *on, const struct words *wanted,
                        struct tensor_list *ret, struct error *err)
{
    struct error why = {0};
    int rc = stop_if_asked(err);

    if (rc < 0)
        return rc;
    if (runs->is_lost)
        rc = load_switched(runs, &why);
    if (rc == 0)
        rc = switched_model_run(runs->switched, &runs->feeds[sample], on, wanted, ret, &why);
    runs->is_lost = rc < 0 && (runs->is_lost || bounded_process_is_end(&why));
    if (rc == 0 || runs->is_lost)
        count_run(runs);
    if (rc < 0)
        *err = why;
    return rc;
}
