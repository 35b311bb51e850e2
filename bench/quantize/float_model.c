/* bench/quantize/float_model.c: see float_model.h. */
#include "backend/onnxrt/settings.h"
#include "float_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/constant_folding.h"
#include "backend/type_inference.h"
#include "base/memory.h"
#include "onnx/edit/constants.h"
#include "onnx/edit/model.h"
#include "onnx/edit/node.h"
#include "onnx/edit/rebuild.h"
#include "onnx/external/tensor.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/node_attribute.h"
#include "onnx/proto/wire.h"
#include "tensor/generate/mersenne_twister.h"

#define IR_VERSION 8 /* that of ONNX 1.10; operator set 13 needs 7 or newer */
#define PI 3.14159265358979323846
#define LOGIT_DEVIATION 2.0

bool float_model_constant(const struct model *model, uint32_t value, struct tensor *ret)
{
    uint32_t initializer = value == VALUE_NONE ? INITIALIZER_NONE : model->values.items[value].initializer;

    if (initializer == INITIALIZER_NONE || model->initializers.items[initializer].sparse ||
        external_tensor_read(model, model->initializers.items[initializer].message, ret, NULL) < 0)
        return false;
    if (ret->type == DATA_FLOAT32)
        return true;
    tensor_release(ret);
    return false;
}

/* ---- The operator set ---- */

/* Operators that have the same meaning in the operator sets 7 to 13. */
static const char *const unchanged[] = {
    "Add",
    "AveragePool",
    "BatchNormalization",
    "Concat",
    "Conv",
    "ConvTranspose",
    "Div",
    "Flatten",
    "Gemm",
    "GlobalAveragePool",
    "GlobalMaxPool",
    "Identity",
    "InstanceNormalization",
    "LRN",
    "LeakyRelu",
    "MatMul",
    "MaxPool",
    "Mul",
    "Relu",
    "Reshape",
    "Sigmoid",
    "Sub",
    "Sum",
    "Tanh",
    "Transpose",
    NULL,
};

static bool is_one_of(const struct node *node, const char *const *names)
{
    for (; *names != NULL; names++)
        if (node_is(node, *names))
            return true;
    return false;
}

/* Replaces the node by another operator with the first `inputs` of its inputs and its first output. */
static struct span rebuild_node(struct model *model, const struct node *node, const char *op_type, size_t inputs,
                                const struct node_attribute *attribute)
{
    struct text names[2], output = model->values.items[model_edge(model, node->outputs, 0)].name;

    for (size_t i = 0; i < inputs; i++)
        names[i] = model->values.items[model_edge(model, node->inputs, i)].name;
    return node_build(&model->arena, &(struct node_recipe){.op_type = text_of(op_type),
                                                           .name = node->name,
                                                           .inputs = names,
                                                           .input_count = inputs,
                                                           .outputs = &output,
                                                           .output_count = 1,
                                                           .attributes = attribute,
                                                           .attribute_count = attribute != NULL});
}

/* Before operator set 13 a Softmax normalized over all dimensions from its axis on. If only one of them is greater than
 * 1, that one is the axis. */
static int raise_softmax(struct model *model, const struct node *node, struct span *ret, struct error *err)
{
    int64_t axis = node_attribute_integer(node->message, "axis", 1), wide = -1;
    struct node_attribute attribute = {.name = TEXT("axis"), .kind = ATTRIBUTE_KIND_INTEGER};
    struct value_type type;

    value_info_decode(model->values.items[model_edge(model, node->inputs, 0)].info, &type);
    axis += axis < 0 ? (int64_t)type.shape.rank : 0;
    if (!type.has_shape || !shape_is_static(&type.shape) || axis < 0 || axis >= (int64_t)type.shape.rank)
        return error_set(err, ERR_UNSUPPORTED, "the input of Softmax '" TEXT_FORMAT "' has no known shape",
                         TEXT_ARGS(node->name));
    for (int64_t i = axis; i < (int64_t)type.shape.rank; i++) {
        if (type.shape.dims[i] > 1 && wide >= 0)
            return error_set(err, ERR_UNSUPPORTED, "Softmax '" TEXT_FORMAT "' normalizes over several dimensions",
                             TEXT_ARGS(node->name));
        wide = type.shape.dims[i] > 1 ? i : wide;
    }
    attribute.integer = wide >= 0 ? wide : axis;
    *ret = rebuild_node(model, node, "Softmax", 1, &attribute);
    return 0;
}

/* Whether a node reads that output of the node, or it is an output of the model. */
static bool is_read(const struct model *model, const struct node *node, size_t output)
{
    uint32_t value = output < node->outputs.count ? model_edge(model, node->outputs, output) : VALUE_NONE;

    if (value == VALUE_NONE || value_list_has(&model->outputs, value))
        return value != VALUE_NONE;
    for (size_t i = 0; i < model->nodes.count; i++)
        for (size_t k = 0; k < node_read_count(&model->nodes.items[i]); k++)
            if (node_read(model, &model->nodes.items[i], k) == value)
                return true;
    return false;
}

static int raise_node(struct model *model, const struct node *node, struct span *ret, struct error *err)
{
    *ret = node->field;
    if (node_is(node, "Softmax"))
        return raise_softmax(model, node, ret, err);
    if (node_is(node, "Dropout") && !is_read(model, node, 1)) /* the ratio became an input; it is 0 outside training */
        *ret = rebuild_node(model, node, "Identity", 1, NULL);
    else if (node_is(node, "Sum") && node->inputs.count == 2) /* ONNX Runtime has an integer kernel for Add */
        *ret = rebuild_node(model, node, "Add", 2, NULL);
    else if (domain_is_standard(node->domain) && !is_one_of(node, unchanged))
        return error_set(err, ERR_UNSUPPORTED,
                         "%s: " TEXT_FORMAT " may differ between operator set %d, required for quantization, and the "
                         "model's %lld; convert the model first",
                         model->display_name, TEXT_ARGS(node->op_type), QUANTIZER_OPSET, (long long)model_opset(model));
    return 0;
}

/* Removes the default operator set and the IR version from the fields. */
static void drop_versions(struct span_list *fields)
{
    size_t kept = 0;

    for (size_t i = 0; i < fields->count; i++) {
        struct wire_reader reader = wire_reader_of(fields->items[i]), import;
        struct wire_field field, part;
        struct text domain = {"", 0};

        if (!wire_next(&reader, &field) || field.number == MODEL_IR_VERSION)
            continue;
        if (field.number == MODEL_OPSET_IMPORT && field.type == WIRE_BYTES) {
            import = wire_reader_of(field.bytes);
            while (wire_next(&import, &part))
                if (part.number == OPSET_DOMAIN && part.type == WIRE_BYTES)
                    domain = span_text(part.bytes);
            if (domain_is_standard(domain))
                continue;
        }
        fields->items[kept++] = fields->items[i];
    }
    fields->count = kept;
}

static void set_versions(struct model *model, int64_t opset)
{
    struct string_builder import, bytes;

    drop_versions(&model->fields_before_graph);
    drop_versions(&model->fields_after_graph);
    model->ir_version = model->ir_version < IR_VERSION ? IR_VERSION : model->ir_version;
    string_init(&import);
    string_init(&bytes);
    wire_write_integer(&bytes, MODEL_IR_VERSION, model->ir_version);
    *VECTOR_APPEND(&model->fields_before_graph) =
        (struct span){arena_copy(&model->arena, bytes.data, bytes.size), bytes.size};
    string_clear(&bytes);
    wire_write_text(&import, OPSET_DOMAIN, TEXT(""));
    wire_write_integer(&import, OPSET_VERSION, opset);
    wire_write_bytes(&bytes, MODEL_OPSET_IMPORT, import.data, import.size);
    *VECTOR_APPEND(&model->fields_before_graph) =
        (struct span){arena_copy(&model->arena, bytes.data, bytes.size), bytes.size};
    for (size_t i = 0; i < model->opsets.count; i++)
        if (domain_is_standard(model->opsets.items[i].domain))
            model->opsets.items[i].version = opset;
    string_release(&import);
    string_release(&bytes);
}

static int raise_operator_set(struct model *model, struct error *err)
{
    struct backend_request request = {.settings = &(struct onnxrt_settings){.optimization_level = -1}};
    struct span_list fields = {0};
    int rc = 0;

    if (model_opset(model) < QUANTIZER_OPSET) {
        rc = types_infer(model, NULL, &onnxrt_backend, &request, NULL, err);
        for (size_t i = 0; rc == 0 && i < model->nodes.count; i++)
            rc = raise_node(model, &model->nodes.items[i], VECTOR_APPEND(&fields), err);
        if (rc == 0)
            rc = model_set_nodes(model, &fields, err);
        free(fields.items);
    }
    if (rc == 0)
        set_versions(model, model_opset(model) < QUANTIZER_OPSET ? QUANTIZER_OPSET : model_opset(model));
    return rc;
}

/* ---- Random weights ---- */

/* A normally distributed number with mean 0 and variance 1 (Box-Muller transform). */
static double next_normal(struct mersenne_twister *random)
{
    double radius = sqrt(-2 * log(1 - mersenne_twister_next_fraction(random)));

    return radius * cos(2 * PI * mersenne_twister_next_fraction(random));
}

static bool is_filled_with_one_number(const struct tensor *tensor)
{
    const char *bytes = tensor->data;

    return tensor_elements(tensor) > 1 && memcmp(bytes, bytes + sizeof(float), tensor->size - sizeof(float)) == 0;
}

/* Finds the number of products summed for each output of the layer, and the axis of the output channels in its
 * weights. */
static double fan_in(const struct node *node, const struct shape *shape, size_t *channel_axis)
{
    double elements = (double)shape_elements(shape);
    int64_t groups = node_attribute_integer(node->message, "group", 1);

    *channel_axis = 0;
    if (node_is(node, "ConvTranspose")) {
        *channel_axis = 1;
        return elements / (double)(shape->dims[1] * groups);
    }
    if (node_is(node, "MatMul") || (node_is(node, "Gemm") && node_attribute_integer(node->message, "transB", 0) == 0)) {
        *channel_axis = shape->rank - 1;
        return (double)shape->dims[shape->rank < 2 ? 0 : shape->rank - 2];
    }
    return elements / (double)shape->dims[0];
}

static void fill_weights(struct mersenne_twister *random, const struct node *node, const struct shape *shape,
                         float *ret)
{
    size_t axis, inner = 1, elements = shape_elements(shape);
    double deviation = sqrt(2 / fan_in(node, shape, &axis));
    double *sizes = memory_alloc(((size_t)shape->dims[axis] + 1) * sizeof(*sizes));

    for (size_t i = axis + 1; i < shape->rank; i++)
        inner *= (size_t)shape->dims[i];
    for (int64_t i = 0; i < shape->dims[axis]; i++)
        sizes[i] = deviation * (0.5 + 1.5 * mersenne_twister_next_fraction(random));
    for (size_t i = 0; i < elements; i++)
        ret[i] = (float)(sizes[i / inner % (size_t)shape->dims[axis]] * next_normal(random));
    free(sizes);
}

static const char *const layers[] = {"Conv", "ConvTranspose", "Gemm", "MatMul", NULL};

/* Factors and variances are near 1; summands are near 0. */
static void fill_parameters(struct mersenne_twister *random, const struct node *node, size_t place, size_t count,
                            float *ret)
{
    bool factor = node_is(node, "Mul") || (node_is(node, "BatchNormalization") && (place == 1 || place == 4));

    for (size_t i = 0; i < count; i++)
        ret[i] = (float)(factor ? 0.75 + 0.5 * mersenne_twister_next_fraction(random) : 0.1 * next_normal(random));
}

static int randomize_input(struct model *model, const struct node *node, size_t place, struct mersenne_twister *random,
                           struct error *err)
{
    uint32_t value = node_input(model, node, place);
    struct tensor old;
    void *data;
    int rc = 0;

    if (!float_model_constant(model, value, &old))
        return 0;
    if (is_filled_with_one_number(&old)) {
        rc = model_new_tensor(model, value, DATA_FLOAT32, &old.shape, &data, err);
        if (rc == 0 && place == 1 && is_one_of(node, layers))
            fill_weights(random, node, &old.shape, data);
        else if (rc == 0)
            fill_parameters(random, node, place, tensor_elements(&old), data);
    }
    tensor_release(&old);
    return rc;
}

static int randomize_weights(struct model *model, uint32_t seed, struct error *err)
{
    static const char *const others[] = {"BatchNormalization", "Mul", "Add", "Sub", NULL};
    struct mersenne_twister random;
    int rc = 0;

    mersenne_twister_seed(&random, seed);
    for (size_t i = 0; i < model->nodes.count; i++) {
        const struct node *node = &model->nodes.items[i];

        for (size_t k = 0; rc == 0 && (is_one_of(node, layers) || is_one_of(node, others)) && k < node->inputs.count;
             k++)
            rc = randomize_input(model, node, k, &random, err);
    }
    return rc;
}

/* ---- Batch normalizations ---- */

struct normalization {
    struct tensor scale, bias, mean, variance;
    float epsilon;
};

static void normalization_release(struct normalization *normalization)
{
    tensor_release(&normalization->scale);
    tensor_release(&normalization->bias);
    tensor_release(&normalization->mean);
    tensor_release(&normalization->variance);
}

static bool normalization_read(const struct model *model, const struct node *node, struct normalization *ret)
{
    struct tensor *tensors[] = {&ret->scale, &ret->bias, &ret->mean, &ret->variance};

    *ret = (struct normalization){.epsilon = node_attribute_float(node->message, "epsilon", 1e-5f)};
    for (size_t i = 0; i < ARRAY_LEN(tensors); i++)
        if (!float_model_constant(model, node_input(model, node, i + 1), tensors[i]) ||
            !shape_equal(&tensors[i]->shape, &tensors[0]->shape)) {
            normalization_release(ret);
            return false;
        }
    return true;
}

/* The weights and bias of a convolution that includes the normalization: W' = W s / sqrt(v + e), b' = (b - m) s /
 * sqrt(v + e) + t for scale s, variance v, mean m and bias t. */
static int fold_into(struct model *model, uint32_t weight, uint32_t bias, const struct tensor *old_bias,
                     const struct normalization *normalization, struct error *err)
{
    const float *scale = normalization->scale.data, *mean = normalization->mean.data;
    const float *variance = normalization->variance.data, *added = normalization->bias.data;
    size_t channels = tensor_elements(&normalization->scale), inner;
    struct tensor old;
    void *weights, *biases;
    int rc;

    if (!float_model_constant(model, weight, &old))
        return error_set(err, ERR_UNSUPPORTED,
                         "%s: a convolution before a BatchNormalization has weights that are not float32",
                         model->display_name);
    inner = tensor_elements(&old) / channels;
    rc = model_new_tensor(model, weight, DATA_FLOAT32, &old.shape, &weights, err);
    if (rc == 0)
        rc = model_new_tensor(model, bias, DATA_FLOAT32, &normalization->scale.shape, &biases, err);
    for (size_t i = 0; rc == 0 && i < channels; i++) {
        double factor = scale[i] / sqrt((double)variance[i] + normalization->epsilon);
        double before = old_bias->data == NULL ? 0 : ((const float *)old_bias->data)[i];

        ((float *)biases)[i] = (float)((before - mean[i]) * factor + added[i]);
        for (size_t k = 0; k < inner; k++)
            ((float *)weights)[i * inner + k] = (float)(((const float *)old.data)[i * inner + k] * factor);
    }
    tensor_release(&old);
    return rc;
}

static size_t *count_readers(const struct model *model)
{
    size_t *counts = memory_alloc_zero(model->values.count + 1, sizeof(*counts));

    for (size_t i = 0; i < model->nodes.count; i++)
        for (size_t k = 0; k < node_read_count(&model->nodes.items[i]); k++) {
            uint32_t value = node_read(model, &model->nodes.items[i], k);

            counts[value == VALUE_NONE ? model->values.count : value]++;
        }
    for (size_t i = 0; i < model->outputs.count; i++)
        counts[model->outputs.items[i]]++;
    return counts;
}

/* The node with one more input and another name for its output. */
static int rebuild_convolution(struct model *model, const struct node *node, struct text bias, struct text output,
                               struct span *ret, struct error *err)
{
    struct string_builder message, field;
    struct rename_map outputs;
    int rc;

    string_init(&message);
    string_init(&field);
    rename_map_init(&outputs);
    string_add_bytes(&message, node->message.data, node->message.size);
    if (node->inputs.count == 2)
        wire_write_text(&message, NODE_INPUT, bias);
    wire_write_bytes(&field, GRAPH_NODE, message.data, message.size);
    rename_map_add(&outputs, model->values.items[model_edge(model, node->outputs, 0)].name, output);
    rc = node_rename(&model->arena, (struct span){arena_copy(&model->arena, field.data, field.size), field.size}, NULL,
                     &outputs, ret, err);
    rename_map_release(&outputs);
    string_release(&message);
    string_release(&field);
    return rc;
}

/* Folds a normalization into the convolution that only it reads; the convolution then has its output. `fields` are the
 * nodes of the model; a removed one becomes empty. */
static int fold_normalization(struct model *model, uint32_t number, const size_t *readers, struct unused_names *names,
                              struct span *fields, struct error *err)
{
    const struct node *node = &model->nodes.items[number], *conv;
    uint32_t input = node_input(model, node, 0), producer = model->values.items[input].producer, weight, bias;
    struct normalization normalization;
    struct tensor old_bias = {0};
    int rc = 0;

    if (producer == NODE_NONE || readers[input] != 1 || node->outputs.count != 1)
        return 0;
    conv = &model->nodes.items[producer];
    weight = node_input(model, conv, 1);
    bias = node_input(model, conv, 2);
    if (!node_is(conv, "Conv") || weight == VALUE_NONE || readers[weight] != 1 ||
        model->values.items[weight].initializer == INITIALIZER_NONE ||
        (bias != VALUE_NONE && (readers[bias] != 1 || !float_model_constant(model, bias, &old_bias))) ||
        !normalization_read(model, node, &normalization))
        goto done;
    if (bias == VALUE_NONE)
        bias = model_add_value(model, unused_names_make(names, model->values.items[weight].name, "_bias"));
    rc = fold_into(model, weight, bias, &old_bias, &normalization, err);
    if (rc == 0)
        rc = rebuild_convolution(model, conv, model->values.items[bias].name,
                                 model->values.items[model_edge(model, node->outputs, 0)].name, &fields[producer], err);
    fields[number] = (struct span){0};
    normalization_release(&normalization);
done:
    tensor_release(&old_bias);
    return rc;
}

static int fold_normalizations(struct model *model, struct error *err)
{
    struct span *fields = memory_alloc_zero(model->nodes.count + 1, sizeof(*fields));
    size_t *readers = count_readers(model);
    struct span_list kept = {0};
    struct unused_names names;
    int rc = 0;

    unused_names_init(&names, model, &model->arena);
    for (uint32_t i = 0; i < model->nodes.count; i++)
        fields[i] = model->nodes.items[i].field;
    for (uint32_t i = 0; rc == 0 && i < model->nodes.count; i++)
        if (node_is(&model->nodes.items[i], "BatchNormalization"))
            rc = fold_normalization(model, i, readers, &names, fields, err);
    for (uint32_t i = 0; i < model->nodes.count; i++)
        if (fields[i].size > 0)
            *VECTOR_APPEND(&kept) = fields[i];
    if (rc == 0)
        rc = model_set_nodes(model, &kept, err);
    unused_names_release(&names);
    free(kept.items);
    free(readers);
    free(fields);
    return rc;
}

int float_model_prepare(struct model *model, const struct float_model_settings *settings, struct error *err)
{
    struct folding_settings folding = {.backend = &onnxrt_backend,
                                       .request = {.settings = &(struct onnxrt_settings){.optimization_level = -1}},
                                       .passes = -1,
                                       .partition = FOLDING_NODES,
                                       .size_limit = UINT64_MAX,
                                       .infer_types = true};
    int rc = model_lower_constants(model, err);

    if (rc == 0)
        rc = constants_fold(model, &folding, err);
    if (rc == 0)
        rc = raise_operator_set(model, err);
    if (rc == 0 && settings->random_weights)
        rc = randomize_weights(model, settings->seed, err);
    if (rc == 0)
        rc = fold_normalizations(model, err);
    return rc;
}

/* ---- Inputs of Softmax ---- */

static double deviation(const struct tensor *tensor)
{
    const float *values = tensor->data;
    size_t count = tensor_elements(tensor);
    double sum = 0, squares = 0;

    for (size_t i = 0; i < count; i++) {
        sum += values[i];
        squares += (double)values[i] * values[i];
    }
    return count == 0 ? 0 : sqrt(fmax(0, squares / (double)count - sum / (double)count * (sum / (double)count)));
}

/* The layer that computes the value, possibly followed by operators that preserve factors; NULL if there is none. */
static const struct node *find_layer(const struct model *model, uint32_t value)
{
    static const char *const passes_factors[] = {"Relu",    "AveragePool", "GlobalAveragePool", "MaxPool",
                                                 "Reshape", "Flatten",     "Identity",          NULL};

    while (model->values.items[value].producer != NODE_NONE) {
        const struct node *node = &model->nodes.items[model->values.items[value].producer];

        if (is_one_of(node, layers))
            return node;
        if (!is_one_of(node, passes_factors))
            break;
        value = node_input(model, node, 0);
    }
    return NULL;
}

static int scale_constant(struct model *model, uint32_t value, double factor, struct error *err)
{
    struct tensor old;
    void *data;
    int rc;

    if (!float_model_constant(model, value, &old))
        return 0;
    rc = model_new_tensor(model, value, DATA_FLOAT32, &old.shape, &data, err);
    for (size_t i = 0; rc == 0 && i < tensor_elements(&old); i++)
        ((float *)data)[i] = (float)(((const float *)old.data)[i] * factor);
    tensor_release(&old);
    return rc;
}

int float_model_tame_softmax(struct model *model, const struct reference_values *recorded, struct error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < model->nodes.count; i++) {
        uint32_t input = node_input(model, &model->nodes.items[i], 0);
        const struct node *layer;
        double now;

        if (!node_is(&model->nodes.items[i], "Softmax"))
            continue;
        layer = find_layer(model, input);
        now = deviation(reference_values_get(recorded, input));
        if (layer == NULL || now == 0)
            continue;
        rc = scale_constant(model, node_input(model, layer, 1), LOGIT_DEVIATION / now, err);
        if (rc == 0)
            rc = scale_constant(model, node_input(model, layer, 2), LOGIT_DEVIATION / now, err);
    }
    return rc;
}
