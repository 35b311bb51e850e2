/* bench/quantize/insert.c: see insert.h. */
#include "insert.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "float_model.h"
#include "onnx/edit/constants.h"
#include "onnx/edit/node.h"
#include "onnx/edit/rebuild.h"
#include "onnx/proto/node_attribute.h"
#include "tensor/statistics/range.h"

static const char *const layers[] = {"Conv", "ConvTranspose", "Gemm", "MatMul", NULL};

/* Other operators for which ONNX Runtime has integer kernels. */
static const char *const others[] = {"Add",     "AveragePool", "Concat", "GlobalAveragePool", "LeakyRelu", "Mul",
                                     "Sigmoid", "Softmax",     NULL};

/* Operators whose output has the scale of their input. */
static const char *const passing[] = {"Flatten", "Identity",  "MaxPool",   "Reshape",
                                      "Squeeze", "Transpose", "Unsqueeze", NULL};

static bool is_one_of(const struct node *node, const char *const *names)
{
    for (; *names != NULL; names++)
        if (node_is(node, *names))
            return true;
    return false;
}

static bool is_constant(const struct model *model, uint32_t value)
{
    return model->values.items[value].initializer != INITIALIZER_NONE;
}

/* ---- Selection of tensors ---- */

static void plan_activation(struct quantization_plan *plan, const struct model *model, uint32_t value,
                            const struct quantize_settings *settings)
{
    if (value == VALUE_NONE || value_list_has(&model->outputs, value) || plan->tensors[value].role != ROLE_NONE)
        return;
    plan->tensors[value].role = ROLE_ACTIVATION;
    plan->tensors[value].type = settings->symmetric_activations ? DATA_INT8 : DATA_UINT8;
}

/* The axis of a layer's channels in its weights; -1 if it cannot be determined. */
static int64_t channel_axis(const struct node *node, const struct shape *shape)
{
    if (node_is(node, "Conv"))
        return 0;
    if (node_is(node, "ConvTranspose")) /* each group has its own channels 0, 1, ... */
        return node_attribute_integer(node->message, "group", 1) == 1 ? 1 : -1;
    if (node_is(node, "Gemm"))
        return node_attribute_integer(node->message, "transB", 0) != 0 ? 0 : 1;
    return shape->rank == 2 ? 1 : -1;
}

static void plan_constant(struct quantization_plan *plan, const struct model *model, const struct node *node,
                          uint32_t value, const struct quantize_settings *settings)
{
    struct tensor_plan *tensor = &plan->tensors[value];
    struct tensor weight;

    if (tensor->role != ROLE_NONE || !float_model_constant(model, value, &weight))
        return;
    tensor->role = ROLE_WEIGHT;
    tensor->type = DATA_INT8;
    if (settings->per_channel && is_one_of(node, layers))
        tensor->axis = channel_axis(node, &weight.shape);
    tensor->scale_count = tensor->axis < 0 ? 1 : (size_t)weight.shape.dims[tensor->axis];
    tensor_release(&weight);
}

/* A bias that only this layer reads and that is not multiplied by a factor other than 1. */
static void plan_bias(struct quantization_plan *plan, const struct model *model, const struct node *node,
                      const size_t *readers)
{
    uint32_t value = node_input(model, node, 2), weight = node_input(model, node, 1);
    struct tensor bias;

    if (value == VALUE_NONE || node_is(node, "MatMul") || readers[value] != 1 ||
        plan->tensors[weight].role != ROLE_WEIGHT || !float_model_constant(model, value, &bias))
        return;
    if ((!node_is(node, "Gemm") || (node_attribute_float(node->message, "alpha", 1) == 1 &&
                                    node_attribute_float(node->message, "beta", 1) == 1)) &&
        bias.shape.rank == 1 &&
        (plan->tensors[weight].axis < 0 || (int64_t)plan->tensors[weight].scale_count == bias.shape.dims[0])) {
        plan->tensors[value].role = ROLE_BIAS;
        plan->tensors[value].type = DATA_INT32;
        plan->tensors[value].axis = plan->tensors[weight].axis < 0 ? -1 : 0;
        plan->tensors[value].scale_count = plan->tensors[weight].scale_count;
        plan->tensors[value].input = node_input(model, node, 0);
        plan->tensors[value].weight = weight;
    }
    tensor_release(&bias);
}

static void plan_inputs(struct quantization_plan *plan, const struct model *model, uint32_t number, size_t limit,
                        const struct quantize_settings *settings)
{
    const struct node *node = &model->nodes.items[number];

    plan->quantized_nodes[number] = true;
    for (size_t i = 0; i < limit && i < node->inputs.count; i++) {
        uint32_t value = node_input(model, node, i);

        if (value != VALUE_NONE && is_constant(model, value))
            plan_constant(plan, model, node, value, settings);
        else
            plan_activation(plan, model, value, settings);
    }
}

/* The node's output, or that of a Relu after it that is its only reader: a Relu is computed together with the node. */
static void plan_output(struct quantization_plan *plan, const struct model *model, uint32_t number,
                        const size_t *readers, const uint32_t *last_reader, const struct quantize_settings *settings)
{
    uint32_t value = model_edge(model, model->nodes.items[number].outputs, 0);

    if (readers[value] == 1 && last_reader[value] != NODE_NONE &&
        node_is(&model->nodes.items[last_reader[value]], "Relu"))
        value = model_edge(model, model->nodes.items[last_reader[value]].outputs, 0);
    plan_activation(plan, model, value, settings);
}

static void count_readers(const struct model *model, size_t *readers, uint32_t *last_reader)
{
    for (uint32_t i = 0; i < model->nodes.count; i++)
        for (size_t k = 0; k < node_read_count(&model->nodes.items[i]); k++) {
            uint32_t value = node_read(model, &model->nodes.items[i], k);

            if (value == VALUE_NONE)
                continue;
            readers[value]++;
            last_reader[value] = i;
        }
    for (size_t i = 0; i < model->outputs.count; i++)
        readers[model->outputs.items[i]]++;
}

void quantization_plan_init(const struct model *model, const struct quantize_settings *settings,
                            struct quantization_plan *ret)
{
    size_t *readers = memory_alloc_zero(model->values.count + 1, sizeof(*readers));
    uint32_t *last_reader = memory_alloc((model->values.count + 1) * sizeof(*last_reader));

    *ret = (struct quantization_plan){.tensors = memory_alloc_zero(model->values.count + 1, sizeof(*ret->tensors)),
                                      .count = model->values.count,
                                      .quantized_nodes =
                                          memory_alloc_zero(model->nodes.count + 1, sizeof(*ret->quantized_nodes))};
    for (size_t i = 0; i < ret->count; i++) {
        ret->tensors[i] = (struct tensor_plan){.axis = -1, .scale_count = 1, .alike = VALUE_NONE};
        last_reader[i] = NODE_NONE;
    }
    count_readers(model, readers, last_reader);
    for (uint32_t i = 0; i < model->nodes.count; i++) {
        const struct node *node = &model->nodes.items[i];
        uint32_t input = node_input(model, node, 0);

        if (is_one_of(node, layers)) {
            plan_inputs(ret, model, i, 2, settings);
            if (!settings->float_bias)
                plan_bias(ret, model, node, readers);
        } else if (settings->all_operators && is_one_of(node, others)) {
            plan_inputs(ret, model, i, SIZE_MAX, settings);
        } else if (settings->all_operators && is_one_of(node, passing) && input != VALUE_NONE &&
                   ret->tensors[input].role == ROLE_ACTIVATION) {
            uint32_t output = model_edge(model, node->outputs, 0);

            plan_activation(ret, model, output, settings);
            ret->tensors[output].alike = input;
            continue;
        } else {
            continue;
        }
        if (settings->all_operators)
            plan_output(ret, model, i, readers, last_reader, settings);
    }
    free(readers);
    free(last_reader);
}

void quantization_plan_release(struct quantization_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        free(plan->tensors[i].scales);
    free(plan->tensors);
    free(plan->quantized_nodes);
    *plan = (struct quantization_plan){0};
}

void quantization_plan_list(const struct quantization_plan *plan, struct value_list *ret)
{
    for (uint32_t i = 0; i < plan->count; i++)
        if (plan->tensors[i].role == ROLE_ACTIVATION)
            value_list_add(ret, i);
}

/* ---- Scales ---- */

/* A range includes 0, so that 0 is represented exactly. */
static void calibrate_activation(struct tensor_plan *plan, const struct reference_values *recorded, uint32_t value)
{
    double minimum = 0, maximum = 0, steps;

    for (size_t i = 0; i < reference_values_samples(recorded); i++) {
        struct value_range range;

        range_compute(reference_values_in(recorded, value, i), &range);
        minimum = fmin(minimum, range.minimum);
        maximum = fmax(maximum, range.maximum);
    }
    plan->scales = memory_alloc_zero(1, sizeof(*plan->scales));
    if (plan->type == DATA_INT8) {
        maximum = fmax(-minimum, maximum);
        minimum = 0;
    }
    steps = plan->type == DATA_INT8 ? INT8_MAX : UINT8_MAX;
    plan->scales[0] = maximum > minimum ? (float)((maximum - minimum) / steps) : 1;
    plan->zero_point = plan->type == DATA_INT8 ? 0 : (int64_t)nearbyint(-minimum / plan->scales[0]);
}

/* The number of elements after the axis: the product of the later dimensions. */
static size_t inner_elements(const struct shape *shape, int64_t axis)
{
    size_t count = 1;

    for (size_t i = axis < 0 ? 0 : (size_t)axis + 1; i < shape->rank; i++)
        count *= (size_t)shape->dims[i];
    return axis < 0 ? shape_elements(shape) : count;
}

static void calibrate_weight(struct tensor_plan *plan, const struct model *model, uint32_t value)
{
    struct tensor weight;
    const float *values;
    size_t inner;

    plan->scales = memory_alloc_zero(plan->scale_count, sizeof(*plan->scales));
    if (!float_model_constant(model, value, &weight))
        return;
    values = weight.data;
    inner = inner_elements(&weight.shape, plan->axis);
    for (size_t i = 0; i < tensor_elements(&weight); i++) {
        float *largest = &plan->scales[i / inner % plan->scale_count];

        *largest = fmaxf(*largest, fabsf(values[i]));
    }
    for (size_t i = 0; i < plan->scale_count; i++)
        plan->scales[i] = plan->scales[i] > 0 ? plan->scales[i] / INT8_MAX : 1;
    tensor_release(&weight);
}

static void multiply_scales(struct tensor_plan *plan, const struct tensor_plan *tensors)
{
    plan->scales = memory_alloc_zero(plan->scale_count, sizeof(*plan->scales));
    for (size_t i = 0; i < plan->scale_count; i++)
        plan->scales[i] = tensors[plan->input].scales[0] * tensors[plan->weight].scales[i];
}

/* The tensors that share its scale, and the biases that depend on it, follow. */
static int spoil_scale(struct quantization_plan *plan, const struct model *model, const struct bad_scale *bad,
                       bool biases, struct error *err)
{
    uint32_t value = model_find_value(model, bad->name);
    struct tensor_plan *tensor = value == VALUE_NONE ? NULL : &plan->tensors[value];

    if (tensor == NULL || tensor->role == ROLE_NONE || tensor->alike != VALUE_NONE)
        return error_set(err, ERR_INVALID,
                         "'" TEXT_FORMAT "' has no scale of its own; --list shows the tensors that have one",
                         TEXT_ARGS(bad->name));
    for (size_t i = 0; (tensor->role == ROLE_BIAS) == biases && i < tensor->scale_count; i++)
        tensor->scales[i] = (float)(tensor->scales[i] * bad->factor);
    return 0;
}

int quantization_plan_calibrate(struct quantization_plan *plan, const struct model *model,
                                const struct reference_values *recorded, const struct quantize_settings *settings,
                                struct error *err)
{
    int rc = 0;

    for (uint32_t i = 0; i < plan->count; i++)
        if (plan->tensors[i].role == ROLE_ACTIVATION)
            calibrate_activation(&plan->tensors[i], recorded, i);
        else if (plan->tensors[i].role == ROLE_WEIGHT)
            calibrate_weight(&plan->tensors[i], model, i);
    for (size_t i = 0; rc == 0 && i < settings->bad_scale_count; i++)
        rc = spoil_scale(plan, model, &settings->bad_scales[i], false, err);
    for (size_t i = 0; rc == 0 && i < model->nodes.count; i++) { /* in order, so that chains are followed */
        uint32_t output =
            model->nodes.items[i].outputs.count > 0 ? model_edge(model, model->nodes.items[i].outputs, 0) : VALUE_NONE;
        struct tensor_plan *tensor = output == VALUE_NONE ? NULL : &plan->tensors[output];

        if (tensor == NULL || tensor->alike == VALUE_NONE)
            continue;
        tensor->scales[0] = plan->tensors[tensor->alike].scales[0];
        tensor->zero_point = plan->tensors[tensor->alike].zero_point;
    }
    for (uint32_t i = 0; rc == 0 && i < plan->count; i++)
        if (plan->tensors[i].role == ROLE_BIAS)
            multiply_scales(&plan->tensors[i], plan->tensors);
    for (size_t i = 0; rc == 0 && i < settings->bad_scale_count; i++)
        rc = spoil_scale(plan, model, &settings->bad_scales[i], true, err);
    return rc;
}

/* ---- Nodes ---- */

struct insertion {
    struct model *model;
    const struct quantize_settings *settings;
    struct unused_names names;
    struct rename_map quantized; /* the names that are read instead */
    struct span_list *behind;    /* nodes to insert after each node; the last list goes first */
};

static int add_constant(struct insertion *insertion, struct text name, enum data_type type, const struct shape *shape,
                        void **ret, struct error *err)
{
    return model_new_tensor(insertion->model, model_add_value(insertion->model, name), type, shape, ret, err);
}

static int store_weight(struct insertion *insertion, const struct tensor_plan *plan, uint32_t value, struct text name,
                        struct error *err)
{
    double low = plan->type == DATA_INT32 ? INT32_MIN : INT8_MIN,
           high = plan->type == DATA_INT32 ? INT32_MAX : INT8_MAX;
    struct tensor weight;
    size_t inner;
    void *data;
    int rc;

    if (!float_model_constant(insertion->model, value, &weight))
        return error_set(err, ERR_UNSUPPORTED, "a weight that is not float32");
    inner = inner_elements(&weight.shape, plan->axis);
    rc = add_constant(insertion, name, plan->type, &weight.shape, &data, err);
    for (size_t i = 0; rc == 0 && i < tensor_elements(&weight); i++) {
        double scaled = ((const float *)weight.data)[i] / (double)plan->scales[i / inner % plan->scale_count];
        double rounded = fmin(high, fmax(low, nearbyint(scaled)));

        if (plan->type == DATA_INT32)
            ((int32_t *)data)[i] = (int32_t)rounded;
        else
            ((int8_t *)data)[i] = (int8_t)rounded;
    }
    tensor_release(&weight);
    return rc;
}

/* Scale and zero point: writes their names to `inputs`. */
static int add_parameters(struct insertion *insertion, const struct tensor_plan *plan, struct text name,
                          struct text *inputs, struct error *err)
{
    struct shape shape = {plan->axis < 0 ? 0 : 1, {(int64_t)plan->scale_count}};
    void *scales, *zero_points;
    int rc;

    inputs[0] = unused_names_make(&insertion->names, name, "_scale");
    inputs[1] = unused_names_make(&insertion->names, name, "_zero_point");
    rc = add_constant(insertion, inputs[0], DATA_FLOAT32, &shape, &scales, err);
    if (rc == 0)
        rc = add_constant(insertion, inputs[1], plan->type, &shape, &zero_points, err);
    if (rc < 0)
        return rc;
    memcpy(scales, plan->scales, plan->scale_count * sizeof(*plan->scales));
    memset(zero_points, 0, tensor_bytes(plan->type, plan->scale_count));
    if (plan->zero_point != 0)
        *(uint8_t *)zero_points = (uint8_t)plan->zero_point;
    return 0;
}

static void add_node(struct insertion *insertion, const struct tensor_plan *plan, const char *op_type,
                     struct text tensor, const struct text inputs[3], struct text output, struct span_list *list)
{
    struct node_attribute axis = {.name = TEXT("axis"), .kind = ATTRIBUTE_KIND_INTEGER, .integer = plan->axis};
    const char *suffix = arena_printf(&insertion->model->arena, "_%s", op_type);

    *VECTOR_APPEND(list) = node_build(
        &insertion->model->arena, &(struct node_recipe){.op_type = text_of(op_type),
                                                        .name = unused_names_make(&insertion->names, tensor, suffix),
                                                        .inputs = inputs,
                                                        .input_count = 3,
                                                        .outputs = &output,
                                                        .output_count = 1,
                                                        .attributes = &axis,
                                                        .attribute_count = plan->axis >= 0});
}

static int quantize_tensor(struct insertion *insertion, const struct tensor_plan *plan, uint32_t value,
                           struct error *err)
{
    struct model *model = insertion->model;
    struct text name = model->values.items[value].name, inputs[3], output;
    uint32_t producer = model->values.items[value].producer;
    struct span_list *list = &insertion->behind[producer == NODE_NONE ? model->nodes.count : producer];
    bool stored = plan->role == ROLE_BIAS || (plan->role == ROLE_WEIGHT && !insertion->settings->float_weights);
    int rc = add_parameters(insertion, plan, name, inputs + 1, err);

    if (rc < 0)
        return rc;
    output = unused_names_make(&insertion->names, name, stored ? "_quantized" : "_QuantizeLinear_Output");
    inputs[0] = name;
    if (stored)
        rc = store_weight(insertion, plan, value, output, err);
    else
        add_node(insertion, plan, "QuantizeLinear", name, inputs, output, list);
    inputs[0] = output;
    output = unused_names_make(&insertion->names, name, "_DequantizeLinear_Output");
    add_node(insertion, plan, "DequantizeLinear", name, inputs, output, list);
    rename_map_add(&insertion->quantized, name, output);
    return rc;
}

/* The nodes in order, including the new ones; readers of quantized tensors are renamed accordingly. */
static int assemble(struct insertion *insertion, const struct quantization_plan *plan, struct error *err)
{
    struct model *model = insertion->model;
    struct span_list fields = {0};
    const struct span_list *first = &insertion->behind[model->nodes.count];
    int rc = 0;

    for (size_t i = 0; i < first->count; i++)
        *VECTOR_APPEND(&fields) = first->items[i];
    for (size_t i = 0; rc == 0 && i < model->nodes.count; i++) {
        struct span field = model->nodes.items[i].field;

        if (insertion->settings->all_operators || plan->quantized_nodes[i])
            rc = node_rename(&model->arena, field, &insertion->quantized, NULL, &field, err);
        *VECTOR_APPEND(&fields) = field;
        for (size_t k = 0; k < insertion->behind[i].count; k++)
            *VECTOR_APPEND(&fields) = insertion->behind[i].items[k];
    }
    if (rc == 0)
        rc = model_set_nodes(model, &fields, err);
    if (rc == 0)
        rc = model_sort_nodes(model, err);
    free(fields.items);
    return rc;
}

int quantization_plan_insert(const struct quantization_plan *plan, struct model *model,
                             const struct quantize_settings *settings, struct error *err)
{
    struct insertion insertion = {.model = model, .settings = settings};
    size_t count = model->nodes.count;
    int rc = 0;

    insertion.behind = memory_alloc_zero(count + 1, sizeof(*insertion.behind));
    unused_names_init(&insertion.names, model, &model->arena);
    rename_map_init(&insertion.quantized);
    for (uint32_t i = 0; rc == 0 && i < plan->count; i++)
        if (plan->tensors[i].role != ROLE_NONE)
            rc = quantize_tensor(&insertion, &plan->tensors[i], i, err);
    if (rc == 0)
        rc = assemble(&insertion, plan, err);
    for (size_t i = 0; i <= count; i++)
        free(insertion.behind[i].items);
    free(insertion.behind);
    rename_map_release(&insertion.quantized);
    unused_names_release(&insertion.names);
    return rc;
}
