/* weight_reconstruct.c: put proxies in place of weights that were stripped. */
#include <stdlib.h>

#include "base/memory.h"
#include "cli/commands.h"
#include "cli/model_file.h"
#include "onnx/edit/constants.h"
#include "onnx/shrink/sparsity.h"
#include "onnx/shrink/stripped_weight.h"

/* The mark says that there was a pattern; the nodes that use the weight say along which axes. */
static void find_axes(const struct sparsity_candidates *candidates, uint32_t initializer,
                      struct stripped_weight *weight)
{
    for (size_t i = 0; i < candidates->count; i++)
        if (candidates->items[i].initializer == initializer)
            weight->sparse_axes |= (uint32_t)1 << candidates->items[i].axis;
}

static int reconstruct(struct model *model, const struct sparsity_candidates *candidates, uint32_t index,
                       struct log *log, struct error *err)
{
    const struct initializer *initializer = &model->initializers.items[index];
    struct text name = model->values.items[initializer->value].name;
    struct stripped_weight weight;
    void *data;
    int rc = initializer->sparse ? 0 : stripped_weight_read(initializer->message, &weight, err);

    if (rc <= 0)
        return rc < 0 ? error_context(err, "%s", model->display_name) : 0;
    if (weight.sparse)
        find_axes(candidates, index, &weight);
    if (weight.sparse && weight.sparse_axes == 0)
        log_message(log, LOG_WARNING,
                    "Weight '" TEXT_FORMAT "' had the 2:4 pattern, and no node that uses it says along which axis: its "
                    "proxy does not have it",
                    TEXT_ARGS(name));
    rc = model_new_tensor(model, initializer->value, weight.type, &weight.shape, &data, err);
    if (rc < 0)
        return rc;
    log_message(log, LOG_VERBOSE, "Reconstructing weights for the " TEXT_FORMAT " initializer", TEXT_ARGS(name));
    stripped_weight_fill(&weight, name, data);
    return 1;
}

static int reconstruct_all(struct model *model, struct log *log, struct error *err)
{
    struct sparsity_candidates candidates = {0};
    size_t count = 0;
    int rc;

    log_message(log, LOG_START, "Beginning weight reconstruction...");
    rc = sparsity_find(model, &candidates, err);
    for (uint32_t i = 0; rc >= 0 && i < model->initializers.count; i++) {
        rc = reconstruct(model, &candidates, i, log, err);
        count += rc > 0;
    }
    free(candidates.items);
    if (rc < 0)
        return rc;
    stripped_model_unmark(model);
    if (count == 0)
        log_message(log, LOG_WARNING, "The model has no stripped weights: it is saved as it is");
    else
        log_message(log, LOG_FINISH, "Finished reconstructing %zu weights", count);
    return 0;
}

static int surgeon_weight_reconstruct_run(const struct command_context *context, struct error *err)
{
    struct model *model;
    int rc = model_file_load_original(context, &model, err);

    if (rc < 0)
        return rc;
    rc = reconstruct_all(model, context->log, err);
    if (rc == 0)
        rc = model_file_save_new_whole(context, model, err);
    model_free(model);
    return rc;
}

static const struct option_group *const groups[] = {&logging_options, &onnx_model_options, &onnx_load_options,
                                                    &onnx_save_required_options};

/* What a page of help has. */
static const char *const essential[] = {"-o", "--save-external-data", "-v", NULL};

const struct command cmd_surgeon_weight_reconstruct = {
    .name = "weight-reconstruct",
    .summary = "put proxies in place of weights that were stripped",
    .description = "Fills the weights that `surgeon weight-strip` has emptied, this program's or Polygraphy's, "
                   "with values of the same type and shape, so that the model runs: "
                   "as fast as the original, with other results. "
                   "Weights that had the 2:4 sparsity pattern get it again. "
                   "The values depend on name, type and shape of a weight alone, "
                   "so every reconstruction gives the same model. "
                   "The marks of stripped weights go.",
    .example = "polygraphy surgeon weight-reconstruct stripped.onnx -o proxy.onnx",
    .groups = groups,
    .group_count = ARRAY_LEN(groups),
    .essential = essential,
    .framed = true,
    .run = surgeon_weight_reconstruct_run,
};
