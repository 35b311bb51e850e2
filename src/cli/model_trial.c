/* cli/model_trial.c: see model_trial.h. */
#include "cli/model_trial.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/model_file.h"
#include "debug/soundness.h"

struct model_trial {
    const struct command_context *context;
    struct backend_request request;
    struct sandbox *sandbox; /* NULL: `why_not` */
    struct error why_not;
};

struct model_trial *model_trial_start(const struct command_context *context)
{
    struct model_trial *trial = memory_alloc_zero(1, sizeof(*trial));

    trial->context = context;
    trial->request = model_file_request(context);
    trial->request.optimization_level = 0; /* with many outputs optimizing takes minutes, and tells nothing more */
    if (sandbox_start(&onnxrt_backend, &trial->request, NULL, &trial->sandbox, &trial->why_not) < 0)
        trial->sandbox = NULL;
    return trial;
}

void model_trial_stop(struct model_trial *trial)
{
    if (trial == NULL)
        return;
    sandbox_stop(trial->sandbox);
    free(trial);
}

/* The operator is known, and what is around it fits: another build of the runtime, or another runtime, may have it. */
static bool lacks_kernel(const struct error *why)
{
    return strstr(why->message, "Could not find an implementation for") != NULL;
}

/* What the runtime makes of the model as the command has read it. */
static int load_original(const struct model_trial *trial, enum loading *ret, struct error *err)
{
    struct model_file_options options = model_file_options(trial->context);
    struct error why = {0};
    struct model *model;
    struct subgraph whole;
    int rc;

    *ret = LOADING_UNKNOWN;
    if (model_open(options.model->path, options.load != NULL ? options.load->external_data_dir : NULL, &model, &why) <
        0)
        return 0;
    subgraph_init_whole(&whole, model);
    rc = model_loading(trial->sandbox, &whole, ret, &why, err);
    subgraph_release(&whole);
    model_free(model);
    return rc;
}

static int judge_refusal(const struct model_trial *trial, const char *path, const struct error *why, struct error *err)
{
    struct log *log = trial->context->log;
    enum loading original;
    int rc;

    if (lacks_kernel(why)) {
        log_message(log, LOG_WARNING,
                    "ONNX Runtime has no kernel here for an operator of the model that is written: %s", why->message);
        return 0;
    }
    rc = load_original(trial, &original, err);
    if (rc < 0)
        return rc;
    if (original == LOADING_WORKED)
        return error_set(err, ERR_BACKEND,
                         "'%s' is not written, because ONNX Runtime takes the original model but would not take this "
                         "one; ask for shapes, types or a part that fit: %s",
                         path, why->message);
    log_message(log, LOG_WARNING, "ONNX Runtime does not take the model that is written, nor the original: %s",
                why->message);
    return 0;
}

int model_trial_run(struct model_trial *trial, const struct subgraph *subgraph, const char *path, struct error *err)
{
    struct error why = trial->why_not, *problem = &why;
    enum loading loading = LOADING_UNKNOWN;

    if (bitset_count(&subgraph->nodes) == 0) /* nothing that could be wrong, and the runtime does not take it */
        return 0;
    if (trial->sandbox != NULL) {
        struct error failure = {0};

        why = (struct error){0};
        if (model_loading(trial->sandbox, subgraph, &loading, &why, &failure) == ERR_INTERRUPTED)
            return error_set(err, ERR_INTERRUPTED, "%s", failure.message);
        if (failure.code != 0)
            problem = &failure;
        if (failure.code == 0 && loading == LOADING_REFUSED)
            return judge_refusal(trial, path, &why, err);
    }
    if (loading == LOADING_UNKNOWN)
        log_message(trial->context->log, LOG_INFO, "The model was not tried with ONNX Runtime: %s", problem->message);
    return 0;
}

int model_trial_takes(struct model_trial *trial, const struct subgraph *subgraph, bool *ret, struct error *err)
{
    enum loading loading = LOADING_UNKNOWN;
    struct error why = {0};
    int rc = 0;

    if (trial->sandbox != NULL && bitset_count(&subgraph->nodes) > 0)
        rc = model_loading(trial->sandbox, subgraph, &loading, &why, err);
    *ret = rc < 0 || loading != LOADING_REFUSED;
    return rc == ERR_INTERRUPTED ? rc : 0;
}
