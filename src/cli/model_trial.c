/* cli/model_trial.c: see model_trial.h. */
#include "cli/model_trial.h"

#include <string.h>

#include "backend/model_loading.h"
#include "backend/onnxrt/settings.h"
#include "cli/model_file.h"

/* Whether ONNX Runtime accepts a model, and why not. */
struct loading_trial {
    enum loading loading;
    struct error why;
};

static int try_loading(const struct command_context *context, const struct model_file_settings *file,
                       const struct subgraph *subgraph, int optimization_level, struct loading_trial *ret,
                       struct error *err)
{
    struct backend_request request = model_file_request_for(context, file, subgraph->model);
    struct onnxrt_settings settings = *onnxrt_settings_of(&request);

    settings.optimization_level = optimization_level;
    request.settings = &settings;
    return model_loading(subgraph, model_file_runtime(file), &request, &ret->loading, &ret->why, err);
}

/* The operator and its types are valid, only the kernel is missing: another build of the runtime, or another runtime,
 * may have it. */
static bool lacks_kernel(const struct error *why)
{
    return strstr(why->message, "Could not find an implementation for") != NULL;
}

/* Whether ONNX Runtime accepts the model that the command has read. */
static int load_original(const struct command_context *context, const struct model_file_settings *file,
                         enum loading *ret, struct error *err)
{
    struct loading_trial trial = {.loading = LOADING_UNKNOWN};
    struct model *model;
    struct subgraph whole SCOPED(subgraph_release) = {0};
    int rc;

    *ret = LOADING_UNKNOWN;
    if (model_open(file->model.path, file->load.external_data_dir, &model, &trial.why) < 0)
        return 0;
    subgraph_init_whole(&whole, model);
    rc = try_loading(context, file, &whole, 0, &trial, err);
    *ret = trial.loading;
    model_free(model);
    return rc;
}

static int judge_refusal(const struct command_context *context, const struct model_file_settings *file,
                         const char *path, const struct error *why, struct error *err)
{
    struct log *log = context->log;
    enum loading original;
    int rc;

    if (lacks_kernel(why)) {
        log_message(log, LOG_WARNING,
                    "ONNX Runtime on this machine has no kernel for an operator of the output model: %s", why->message);
        return 0;
    }
    rc = load_original(context, file, &original, err);
    if (rc < 0)
        return rc;
    if (original == LOADING_WORKED)
        return error_set(err, ERR_BACKEND,
                         "'%s' is not written: ONNX Runtime accepts the original model but not this one: %s. Choose "
                         "other shapes, types or cuts",
                         path, why->message);
    log_message(log, LOG_WARNING, "ONNX Runtime accepts neither the output model nor the original: %s", why->message);
    return 0;
}

/* The runtime repeats shape inference after folding constants, and may then refuse a model that it accepts unoptimized.
 * That takes time quadratic in the number of inputs and outputs, and here weights are inputs. */
static int try_optimized(const struct command_context *context, const struct model_file_settings *file,
                         const struct subgraph *subgraph, struct error *err)
{
    enum { MOST_TENSORS = 2000 };
    size_t tensors = subgraph->inputs.count + subgraph->outputs.count + subgraph->model->initializers.count;
    struct loading_trial trial = {.loading = LOADING_UNKNOWN};
    struct error failure = {0};

    if (tensors > MOST_TENSORS)
        return 0;
    if (try_loading(context, file, subgraph, -1, &trial, &failure) == ERR_INTERRUPTED)
        return error_set(err, ERR_INTERRUPTED, "%s", failure.message);
    if (failure.code == 0 && trial.loading == LOADING_REFUSED && !lacks_kernel(&trial.why))
        log_message(context->log, LOG_WARNING,
                    "ONNX Runtime accepts the output model only with --onnxrt-optimization-level none: %s",
                    trial.why.message);
    return 0;
}

int model_trial_run(const struct command_context *context, const struct model_file_settings *file,
                    const struct subgraph *subgraph, const char *path, struct error *err)
{
    struct loading_trial trial = {.loading = LOADING_UNKNOWN};
    struct error failure = {0};

    if (bitset_count(&subgraph->nodes) == 0) /* empty: nothing to test, and the runtime refuses it */
        return 0;
    if (try_loading(context, file, subgraph, 0, &trial, &failure) == ERR_INTERRUPTED)
        return error_set(err, ERR_INTERRUPTED, "%s", failure.message);
    if (failure.code == 0 && trial.loading == LOADING_REFUSED)
        return judge_refusal(context, file, path, &trial.why, err);
    if (trial.loading == LOADING_WORKED)
        return try_optimized(context, file, subgraph, err);
    if (trial.loading == LOADING_UNKNOWN)
        log_message(context->log, bounded_process_is_out_of_time(&trial.why) ? LOG_WARNING : LOG_INFO,
                    "The output model was not tested with ONNX Runtime: %s",
                    failure.code != 0 ? failure.message : trial.why.message);
    return 0;
}

int model_trial_takes(const struct command_context *context, const struct model_file_settings *file,
                      const struct subgraph *subgraph, bool *ret, struct error *err)
{
    struct loading_trial trial = {.loading = LOADING_UNKNOWN};
    int rc = 0;

    if (bitset_count(&subgraph->nodes) > 0)
        rc = try_loading(context, file, subgraph, 0, &trial, err);
    *ret = rc < 0 || trial.loading != LOADING_REFUSED;
    return rc == ERR_INTERRUPTED ? rc : 0;
}
