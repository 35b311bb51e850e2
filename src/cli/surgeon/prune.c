/* prune.c: give the weights of a model the 2:4 sparsity pattern. */
#include <string.h>

#include "base/memory.h"
#include "cli/commands.h"
#include "cli/surgeon/edit.h"
#include "format/json/tensor.h"
#include "onnx/edit/model.h"
#include "onnx/edit/constants.h"
#include "onnx/external/tensor.h"
#include "onnx/shrink/sparsity.h"
#include "tensor/values/elements.h"

struct prune_settings {
    struct common_settings common;
    struct json_values json;
    struct model_file_settings file;
};

static size_t count_zeros(const struct tensor *tensor)
{
    size_t total = tensor_elements(tensor), count = 0;
    float run[ELEMENTS_RUN];

    for (size_t first = 0; first < total; first += ELEMENTS_RUN) {
        size_t length = elements_in_run(total, first);

        elements_to_float32(tensor, first, length, run);
        for (size_t i = 0; i < length; i++)
            count += run[i] == 0;
    }
    return count;
}

static void add_weight(struct result_file *result, struct text name, uint32_t axis, const struct tensor *before,
                       const void *data)
{
    struct tensor after;

    if (!result->wanted) /* the counts below take as long as pruning */
        return;
    tensor_borrow(before->type, &before->shape, data, before->size, &after);
    json_writer_begin_object(&result->json);
    json_writer_add_text(&result->json, "name", name);
    tensor_json_type(&result->json, before);
    json_writer_add_count(&result->json, "axis", axis);
    json_writer_add_count(&result->json, "elements", tensor_elements(before));
    json_writer_add_count(&result->json, "zeros_before", count_zeros(before));
    json_writer_add_count(&result->json, "zeros_after", count_zeros(&after));
    json_writer_end_object(&result->json);
}

static int prune_weight(struct model *model, const struct sparsity_candidate *candidate, struct result_file *result,
                        struct error *err)
{
    const struct initializer *initializer = &model->initializers.items[candidate->initializer];
    struct tensor weight SCOPED(tensor_release) = {0};
    void *data;
    int rc = external_tensor_read_constant(model, initializer, &weight, err);

    if (rc < 0)
        return error_context(err, "%s", model->display_name);
    rc = model_new_tensor(model, initializer->value, weight.type, &weight.shape, &data, err);
    if (rc == 0) {
        memcpy(data, weight.data, weight.size);
        sparsity_prune(weight.type, &weight.shape, candidate->axis, data);
        add_weight(result, model->values.items[initializer->value].name, candidate->axis, &weight, data);
    }
    return rc;
}

static int prune_weights(struct model *model, struct log *log, struct result_file *result, struct error *err)
{
    struct sparsity_candidates weights SCOPED_ITEMS = {0};
    int rc = sparsity_find(model, &weights, err);

    if (rc < 0)
        return rc;
    log_message(log, LOG_INFO, "Found: %zu weight tensor(s) eligible for pruning.", weights.count);
    log_message(log, LOG_INFO, "Pruning %zu tensors.", weights.count);
    json_writer_begin_array_member(&result->json, "pruned");
    for (size_t i = 0; rc == 0 && i < weights.count; i++)
        rc = prune_weight(model, &weights.items[i], result, err);
    json_writer_end_array(&result->json);
    if (rc == 0)
        log_message(log, LOG_INFO, "Finished pruning %zu tensors.", weights.count);
    return rc;
}

static int prune_model(const struct surgeon_job *job, struct error *err)
{
    struct span_list nodes SCOPED_ITEMS = {0};
    int rc;

    model_list_nodes(job->model, &nodes);
    rc = model_lower_constants(job->model, err);
    if (rc == 0)
        rc = prune_weights(job->model, job->context->log, job->result, err);
    if (rc == 0)
        rc = model_raise_constants(job->model, &nodes, err);
    if (rc < 0)
        return rc;
    model_set_producer(job->model, "polygraphy surgeon prune");
    return model_file_save_new_whole(job->context, job->file, job->model, err);
}

DEFINE_SURGEON_RUN(surgeon_prune_run, struct prune_settings, prune_model)

static const struct command_group groups[] = {
    COMMAND_GROUP(struct prune_settings, common.logging, logging_options),
    COMMAND_GROUP(struct prune_settings, file.model, onnx_model_options),
    COMMAND_GROUP(struct prune_settings, file.load, onnx_load_options),
    COMMAND_GROUP(struct prune_settings, file.save, onnx_save_required_options),
    COMMAND_GROUP(struct prune_settings, json, json_options),
};

const struct command cmd_surgeon_prune = {
    .name = "prune",
    .summary = "give the weights of a model the 2:4 sparsity pattern",
    .description =
        "Sets the two smallest magnitudes of every four values of a weight, along the axis that is summed over, "
        "to zero. Applies to the weights of MatMul, Gemm and Conv, also through Cast, Transpose, QuantizeLinear "
        "and DequantizeLinear, if they are float32, float16 or bfloat16 and the length of that axis is a multiple"
        " of four. A Constant node that is such a weight becomes an initializer.\n\nUse the result to measure "
        "speed only: its outputs differ from those of the original.",
    .example = "polygraphy surgeon prune model.onnx -o pruned.onnx",
    COMMAND_GROUPS(groups),
    .essential = "-o --save-external-data --json -v",
    .framed = true,
    COMMAND_RUN(surgeon_prune_run),
};
