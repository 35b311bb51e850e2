/* weight_reconstruct.c: replace stripped weights by proxies. */
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/surgeon/edit.h"
#include "format/json/tensor.h"
#include "onnx/edit/constants.h"
#include "onnx/shrink/sparsity.h"
#include "onnx/shrink/stripped_weight.h"

struct weight_reconstruct_settings {
    struct common_settings common;
    struct json_values json;
    struct model_file_settings file;
};

struct reconstruction {
    struct model *model;
    struct log *log;
    struct result_file *result;
    struct sparsity_candidates candidates; /* weights that can have the 2:4 pattern */
};

/* The mark records that a weight had the pattern; the axes follow from the nodes that use the weight. */
static void find_axes(const struct sparsity_candidates *candidates, uint32_t initializer,
                      struct stripped_weight *weight)
{
    for (size_t i = 0; i < candidates->count; i++)
        if (candidates->items[i].initializer == initializer)
            weight->sparse_axes |= (uint32_t)1 << candidates->items[i].axis;
}

static void add_proxy(struct result_file *result, struct text name, const struct stripped_weight *weight)
{
    const struct tensor tensor = {.type = weight->type, .shape = weight->shape};

    json_writer_begin_object(&result->json);
    json_writer_add_text(&result->json, "name", name);
    tensor_json_type(&result->json, &tensor);
    json_writer_begin_array_member(&result->json, "sparse_axes");
    for (unsigned axis = 0; axis < weight->shape.rank; axis++)
        if (weight->sparse_axes >> axis & 1)
            json_writer_integer(&result->json, axis);
    json_writer_end_array(&result->json);
    json_writer_end_object(&result->json);
}

/* Returns 1 for a stripped weight, otherwise 0. */
static int fill_weight(struct reconstruction *reconstruction, uint32_t index, struct error *err)
{
    struct model *model = reconstruction->model;
    const struct initializer *initializer = &model->initializers.items[index];
    struct text name = model->values.items[initializer->value].name;
    struct stripped_weight weight;
    void *data;
    int rc = initializer->sparse ? 0 : stripped_weight_read(initializer->message, &weight, err);

    if (rc <= 0)
        return rc < 0 ? error_context(err, "%s", model->display_name) : 0;
    if (weight.sparse)
        find_axes(&reconstruction->candidates, index, &weight);
    if (weight.sparse && weight.sparse_axes == 0)
        log_message(reconstruction->log, LOG_WARNING,
                    "Weight '" TEXT_FORMAT
                    "' had the 2:4 pattern, but no consumer determines its axis: the proxy has no pattern",
                    TEXT_ARGS(name));
    rc = model_add_raw_data(model, initializer->value, tensor_bytes(weight.type, shape_elements(&weight.shape)), &data,
                            err);
    if (rc < 0)
        return rc;
    log_message(reconstruction->log, LOG_VERBOSE, "Reconstructing weights for the " TEXT_FORMAT " initializer",
                TEXT_ARGS(name));
    add_proxy(reconstruction->result, name, &weight);
    stripped_weight_fill(&weight, name, data);
    return 1;
}

static int fill_weights(struct reconstruction *reconstruction, struct error *err)
{
    struct model *model = reconstruction->model;
    struct log *log = reconstruction->log;
    struct json_writer *json = &reconstruction->result->json;
    size_t count = 0;
    int rc;

    log_message(log, LOG_START, "Beginning weight reconstruction...");
    rc = sparsity_find(model, &reconstruction->candidates, err);
    json_writer_begin_array_member(json, "reconstructed");
    for (uint32_t i = 0; rc >= 0 && i < model->initializers.count; i++) {
        rc = fill_weight(reconstruction, i, err);
        count += rc > 0;
    }
    json_writer_end_array(json);
    if (rc < 0)
        return rc;
    if (count == 0)
        log_message(log, LOG_WARNING, "The model has no stripped weights: it is saved unchanged");
    else
        log_message(log, LOG_FINISH, "Finished reconstructing %zu weights", count);
    return 0;
}

static int reconstruct_model(const struct surgeon_job *job, struct error *err)
{
    struct reconstruction reconstruction = {.model = job->model, .log = job->context->log, .result = job->result};
    int rc = fill_weights(&reconstruction, err);

    if (rc == 0)
        rc = model_file_save_new_whole(job->context, job->file, job->model, err);
    free(reconstruction.candidates.items);
    return rc;
}

DEFINE_SURGEON_RUN(surgeon_weight_reconstruct_run, struct weight_reconstruct_settings, reconstruct_model)

static const struct command_group groups[] = {
    COMMAND_GROUP(struct weight_reconstruct_settings, common.logging, logging_options),
    COMMAND_GROUP(struct weight_reconstruct_settings, file.model, onnx_model_options),
    COMMAND_GROUP(struct weight_reconstruct_settings, file.load, onnx_load_options),
    COMMAND_GROUP(struct weight_reconstruct_settings, file.save, onnx_save_required_options),
    COMMAND_GROUP(struct weight_reconstruct_settings, json, json_options),
};

const struct command cmd_surgeon_weight_reconstruct = {
    .name = "weight-reconstruct",
    .summary = "replace stripped weights by proxies",
    .description =
        "Fills the weights that `surgeon weight-strip` of this program or Polygraphy has emptied with values of the "
        "same type and shape, so that the model runs as fast as the original, with different results. Weights that had "
        "the 2:4 sparsity pattern get it again. The values depend only on the weight's name, type and shape, so every "
        "reconstruction gives the same model. The marks of stripped weights stay, because the "
        "values are not the original ones.",
    .example = "polygraphy surgeon weight-reconstruct stripped.onnx -o proxy.onnx",
    COMMAND_GROUPS(groups),
    .essential = "-o --save-external-data --json -v",
    .framed = true,
    COMMAND_RUN(surgeon_weight_reconstruct_run),
};
