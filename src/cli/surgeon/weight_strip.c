/* weight_strip.c: remove the values of a model's weights. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/commands.h"
#include "cli/surgeon/edit.h"
#include "format/json/tensor.h"
#include "onnx/edit/model.h"
#include "onnx/edit/constants.h"
#include "onnx/external/tensor.h"
#include "onnx/shrink/sparsity.h"
#include "onnx/shrink/stand_in_weights.h"
#include "onnx/shrink/stripped_weight.h"

struct weight_strip_settings {
    struct common_settings common;
    struct json_values json;
    struct model_file_settings file;
    struct weight_strip_values weight_strip;
};

#define LARGEST_LIST ((size_t)256 << 20)

struct stripping {
    struct model *model;
    struct log *log;
    struct result_file *result;
    struct sparsity_candidates candidates; /* weights that can have the 2:4 pattern */
    struct bitset weights;                 /* initializers that lose their values */
    size_t stripped, sparse;
    uint64_t bytes;
};

/* ---- Weights that are kept ---- */

/* Removes the weights that the file names from the set. */
static int keep_listed(struct stripping *stripping, const char *path, struct error *err)
{
    const struct model *model = stripping->model;
    SCOPED_STRING(unknown);
    char *text;
    size_t size;

    if (path == NULL)
        return 0;
    if (file_read(path, LARGEST_LIST, &text, &size, err) < 0)
        return error_context(err, "--exclude-list");
    for (char *line = text; line < text + size;) {
        struct text name = {line, strcspn(line, "\r\n")};
        uint32_t value = model_find_value(model, name);
        uint32_t weight = value != VALUE_NONE ? model->values.items[value].initializer : INITIALIZER_NONE;

        if (weight != INITIALIZER_NONE)
            bitset_remove(&stripping->weights, weight);
        else if (name.size > 0)
            string_add_format(&unknown, "%s'" TEXT_FORMAT "'", unknown.size > 0 ? ", " : "", TEXT_ARGS(name));
        line += name.size + 1;
    }
    if (unknown.size > 0)
        log_message(stripping->log, LOG_WARNING,
                    "The following weights provided by the user to skip stripping were not found in the model: {%s}.",
                    unknown.data);
    free(text);
    return 0;
}

/* ---- Stripping ---- */

/* Whether the weight has the 2:4 pattern along every axis over which a node sums. */
static int is_sparse(const struct stripping *stripping, uint32_t initializer, bool *ret, struct error *err)
{
    const struct model *model = stripping->model;
    size_t axes = 0, sparse = 0;

    VECTOR_EACH (const struct sparsity_candidate, candidate, stripping->candidates) {
        struct tensor weight SCOPED(tensor_release) = {0};
        int rc;

        if (candidate->initializer != initializer)
            continue;
        rc = external_tensor_read_constant(model, &model->initializers.items[initializer], &weight, err);
        if (rc < 0)
            return error_context(err, "%s", model->display_name);
        axes++;
        sparse += sparsity_holds(&weight, candidate->axis);
    }
    *ret = axes > 0 && sparse == axes;
    return 0;
}

/* Returns the weight's size. */
static uint64_t add_weight(struct result_file *result, struct text name, const struct stripped_weight *weight)
{
    const struct tensor tensor = {.type = weight->type, .shape = weight->shape};
    uint64_t bytes = tensor_bytes(weight->type, shape_elements(&weight->shape));

    json_writer_begin_object(&result->json);
    json_writer_add_text(&result->json, "name", name);
    tensor_json_type(&result->json, &tensor);
    json_writer_add_count(&result->json, "bytes", bytes);
    json_writer_add_boolean(&result->json, "sparse", weight->sparse);
    json_writer_end_object(&result->json);
    return bytes;
}

static int strip_weight(struct stripping *stripping, uint32_t index, struct error *err)
{
    struct model *model = stripping->model;
    const struct initializer *initializer = &model->initializers.items[index];
    struct text name = model->values.items[initializer->value].name;
    struct tensor_header header;
    struct stripped_weight weight;
    int rc = stripped_weight_read(initializer->message, &weight, err);

    if (rc != 0)
        return rc < 0 ? error_context(err, "%s", model->display_name) : 0;
    rc = tensor_proto_read(initializer->message, &header, err);
    if (rc < 0)
        return error_context(err, "%s", model->display_name);
    weight = (struct stripped_weight){.type = header.type, .shape = header.shape};
    rc = is_sparse(stripping, index, &weight.sparse, err);
    if (rc < 0)
        return rc;
    log_message(stripping->log, LOG_VERBOSE, "Stripping initializer " TEXT_FORMAT, TEXT_ARGS(name));
    stripping->stripped++;
    stripping->sparse += weight.sparse;
    stripping->bytes += add_weight(stripping->result, name, &weight);
    model_set_initializer(model, initializer->value, stripped_weight_make(&model->arena, name, &weight));
    return 0;
}

/* Before sharing the model, the user should know which of its weights still have trained values. */
static void warn_of_what_stays(struct stripping *stripping)
{
    const struct model *model = stripping->model;
    size_t inside = weights_count_inside(model), others = 0;

    for (size_t i = 0; i < model->initializers.count; i++) {
        const struct initializer *initializer = &model->initializers.items[i];
        struct tensor_header header;

        others += !bitset_has(&stripping->weights, i) &&
                  (initializer->sparse || (tensor_proto_read(initializer->message, &header, NULL) == 0 &&
                                           data_type_is_float(header.type) && shape_elements(&header.shape) > 1));
    }
    json_writer_begin_object_member(&stripping->result->json, "kept");
    json_writer_add_count(&stripping->result->json, "initializers", others);
    json_writer_add_count(&stripping->result->json, "inside", inside);
    json_writer_end_object(&stripping->result->json);
    if (inside + others > 0)
        log_message(stripping->log, LOG_WARNING,
                    "%zu floating-point tensor(s) keep their values: %zu are inputs of other operators, small, or "
                    "listed, and %zu are in bodies, attributes and functions",
                    inside + others, others, inside);
}

static int strip_weights(struct stripping *stripping, const char *exclude_list, struct error *err)
{
    struct log *log = stripping->log;
    int rc;

    log_message(log, LOG_START, "Beginning weight stripping...");
    log_message(log, LOG_WARNING,
                "The model is expected to be constant folded to successfully capture all weights eligible for "
                "stripping");
    rc = stripped_weight_find(stripping->model, &stripping->weights, err);
    if (rc < 0)
        return rc;
    rc = keep_listed(stripping, exclude_list, err);
    if (rc < 0)
        return rc;
    log_message(log, LOG_INFO, "Querying Sparse Initializers in the model");
    rc = sparsity_find(stripping->model, &stripping->candidates, err);
    if (rc < 0)
        return rc;
    json_writer_begin_array_member(&stripping->result->json, "stripped");
    BITSET_EACH (i, &stripping->weights) {
        rc = strip_weight(stripping, (uint32_t)i, err);
        if (rc < 0)
            return rc;
    }
    json_writer_end_array(&stripping->result->json);
    json_writer_add_count(&stripping->result->json, "stripped_bytes", stripping->bytes);
    json_writer_add_count(&stripping->result->json, "stripped_sparse", stripping->sparse);
    if (stripping->stripped > 0)
        stripped_model_mark(stripping->model);
    warn_of_what_stays(stripping);
    log_message(log, LOG_FINISH, "Finished stripping %zu weights (%llu bytes; %zu with 2:4 sparsity)",
                stripping->stripped, (unsigned long long)stripping->bytes, stripping->sparse);
    return 0;
}

static int strip_model(const struct surgeon_job *job, struct error *err)
{
    const struct weight_strip_settings *settings = job->settings;
    struct stripping stripping = {.model = job->model, .log = job->context->log, .result = job->result};
    struct span_list nodes SCOPED_ITEMS = {0};
    int rc;

    model_list_nodes(job->model, &nodes);
    rc = model_lower_constants(job->model, err);
    if (rc < 0)
        goto done;
    bitset_init(&stripping.weights, job->model->initializers.count);
    rc = strip_weights(&stripping, settings->weight_strip.exclude_list, err);
    if (rc == 0)
        rc = model_raise_constants(job->model, &nodes, err);
    if (rc == 0)
        rc = model_file_save_new_whole(job->context, job->file, job->model, err);
done:
    bitset_release(&stripping.weights);
    free(stripping.candidates.items);
    return rc;
}

DEFINE_SURGEON_RUN(surgeon_weight_strip_run, struct weight_strip_settings, strip_model)

static const struct command_group groups[] = {
    COMMAND_GROUP(struct weight_strip_settings, common.logging, logging_options),
    COMMAND_GROUP(struct weight_strip_settings, file.model, onnx_model_options),
    COMMAND_GROUP(struct weight_strip_settings, file.load, onnx_load_options),
    COMMAND_GROUP(struct weight_strip_settings, file.save, onnx_save_required_options),
    COMMAND_GROUP(struct weight_strip_settings, weight_strip, weight_strip_options),
    COMMAND_GROUP(struct weight_strip_settings, json, json_options),
};

const struct command cmd_surgeon_weight_strip = {
    .name = "weight-strip",
    .summary = "remove the values of a model's weights",
    .description =
        "Weights keep their name, type and shape, and lose their values, so that the structure of a model can be "
        "shared, for example with a bug report, in a small file. Weights are constant inputs of Conv, ConvTranspose, "
        "Gemm and MatMul of any size, also through QuantizeLinear, DequantizeLinear and Transpose, and those of "
        "Gather, Slice and plug-ins with at least 1024 elements. uint8 and string tensors are kept. Constant nodes "
        "that are weights become initializers; other computed constants must be folded first (`surgeon sanitize "
        "--fold-constants`).\n\nA stripped weight has no data, and the doc_string `TRT_WEIGHTLESS/`, or "
        "`TRT_WEIGHTLESS/SPARSE_2_4` if it had the 2:4 sparsity pattern. The doc_string of the model ends with "
        "`TRT_WEIGHTLESS`. `surgeon weight-reconstruct` fills them with other values.",
    .example = "polygraphy surgeon weight-strip model.onnx -o stripped.onnx",
    COMMAND_GROUPS(groups),
    .essential = "-o --exclude-list --json -v",
    .framed = true,
    COMMAND_RUN(surgeon_weight_strip_run),
};
