/* cmd_surgeon_weight_reconstruct.c: put proxies in place of weights that were stripped. */
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/model_file.h"
#include "onnx/model_rebuild.h"
#include "onnx/stripped_weight.h"

static int reconstruct_all(struct model *model, struct log *log, struct error *err)
{
    size_t count = 0;

    for (size_t i = 0; i < model->initializers.count; i++) {
        const struct initializer *initializer = &model->initializers.items[i];
        struct text name = model->values.items[initializer->value].name;
        struct stripped_weight weight;
        void *data;
        int rc;

        if (initializer->sparse || !stripped_weight_read(initializer->message, &weight))
            continue;
        rc = model_new_tensor(model, initializer->value, weight.type, &weight.shape, &data, err);
        if (rc < 0)
            return rc;
        stripped_weight_fill(&weight, name, data);
        count++;
    }
    if (count == 0)
        log_message(log, LOG_WARNING, "The model has no stripped weights: it is saved as it is");
    else
        log_message(log, LOG_INFO, "Reconstructed %zu weight tensor(s)", count);
    return 0;
}

static int surgeon_weight_reconstruct_run(const struct command_context *context, struct error *err)
{
    struct model *model;
    int rc = model_file_load(context, &model, err);

    if (rc < 0)
        return rc;
    rc = reconstruct_all(model, context->log, err);
    if (rc == 0)
        rc = model_file_save_whole(context, model, err);
    model_free(model);
    return rc;
}

static const struct option_group *const groups[] = {&logging_options, &onnx_model_options, &onnx_load_options,
                                                    &onnx_save_required_options};

const struct command cmd_surgeon_weight_reconstruct = {
    .name = "weight-reconstruct",
    .summary = "put proxies in place of weights that were stripped",
    .description =
        "Fills the weights that `surgeon weight-strip` has emptied with values of the same type and shape, so that the "
        "model "
        "runs: as fast as the original, with other results. Weights that had the 2:4 sparsity pattern get it again. "
        "The "
        "values depend on name, type and shape of a weight alone, so every reconstruction gives the same model.",
    .example = "polygraphy surgeon weight-reconstruct stripped.onnx -o proxy.onnx",
    .groups = groups,
    .group_count = ARRAY_LEN(groups),
    .run = surgeon_weight_reconstruct_run,
};
