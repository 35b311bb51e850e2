/* onnx/quantizer/refine.c: see refine.h. */
#include "onnx/quantizer/refine.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "onnx/external/tensor.h"
#include "onnx/model/subgraph.h"
#include "onnx/proto/node_attribute.h"
#include "onnx/quantizer/parameters.h"
#include "tensor/values/elements.h"
#include "onnx/edit/constants.h"
#include "onnx/edit/model.h"
#include "onnx/edit/node.h"
#include "onnx/edit/rebuild.h"
#include "onnx/model/unused_names.h"
#include "onnx/quantizer/quantizer.h"

/* ---- Replacing a quantizer's nodes ---- */

/* Replaces quantizers of a model by ones with other scales, zero points and types.
 *
 *   quantizer_replacing_init(&replacing, model);
 *   rc = quantizer_replace(&replacing, &changed, &values, err);     for each
 *   rc = quantizer_replacing_finish(&replacing, err);
 *   quantizer_replacing_release(&replacing); */

/* From this operator set on, ONNX quantizes to 16 bits. */
#define QUANTIZER_16_BITS_OPSET 21

struct quantizer_replacing {
    struct model *model;
    struct unused_names names;
    struct span_list fields; /* all nodes */
    bool has_microsoft;      /* a node was moved to com.microsoft, because the operator set has no 16-bit types */
};

#define MICROSOFT TEXT("com.microsoft")

static void init_quantizer_replacing(struct quantizer_replacing *replacing, struct model *model)
{
    *replacing = (struct quantizer_replacing){.model = model};
    unused_names_init(&replacing->names, model, &model->arena);
    for (size_t i = 0; i < model->nodes.count; i++)
        *VECTOR_APPEND(&replacing->fields) = model->nodes.items[i].field;
}

static void release_quantizer_replacing(struct quantizer_replacing *replacing)
{
    unused_names_release(&replacing->names);
    free(replacing->fields.items);
}

/* Replaces the model's nodes; they keep their numbers. */
static int finish_quantizer_replacing(struct quantizer_replacing *replacing, struct error *err)
{
    int rc = model_set_nodes(replacing->model, &replacing->fields, err);

    if (rc == 0 && replacing->has_microsoft)
        model_import_domain(replacing->model, MICROSOFT, 1);
    return rc;
}

/* ---- Constants ---- */

/* The least and the largest integer of a type of 4 to 32 bits. */
static void find_integer_range(enum data_type type, double *ret_least, double *ret_largest)
{
    double half = ldexp(1, (int)data_type_bits(type) - 1);

    *ret_least = data_type_is_signed(type) ? -half : 0;
    *ret_largest = data_type_is_signed(type) ? half - 1 : 2 * half - 1;
}

static int add_parameter_constant(struct quantizer_replacing *replacing, const struct quantizer *quantizer,
                                  const char *suffix, const struct tensor *tensor, struct text *ret, struct error *err)
{
    *ret = unused_names_make(&replacing->names, text_of(quantizer->name), suffix);
    return model_set_tensor(replacing->model, model_add_value(replacing->model, *ret), tensor, err);
}

/* Elements of 4 bits must be stored in ascending order: the first one of a byte clears the second one. */
static void store_rounded_number(enum data_type type, void *data, size_t element, double number)
{
    uint8_t *byte = (uint8_t *)data + element / 2;

    switch (type) {
    case DATA_INT4:
    case DATA_UINT4:
        *byte = (uint8_t)(element % 2 == 0 ? (int)number & 15 : *byte | ((int)number & 15) << 4);
        break;
    case DATA_INT8:
        ((int8_t *)data)[element] = (int8_t)number;
        break;
    case DATA_UINT8:
        ((uint8_t *)data)[element] = (uint8_t)number;
        break;
    case DATA_INT16:
        ((int16_t *)data)[element] = (int16_t)number;
        break;
    case DATA_UINT16:
        ((uint16_t *)data)[element] = (uint16_t)number;
        break;
    default:
        ((int32_t *)data)[element] = (int32_t)number;
    }
}

/* Adds a constant with these values quantized as QuantizeLinear does. */
static int add_integer_constant(struct quantizer_replacing *replacing, const struct quantizer *changed,
                                const struct tensor *values, struct text *ret, struct error *err)
{
    struct model *model = replacing->model;
    const float *scales = changed->scale.data;
    struct scale_layout layout;
    double least, largest;
    void *integers;
    int rc;

    if (!scale_layout_of(changed, &values->shape, &layout))
        return error_set(err, ERR_INVALID, "'%s': its scales do not fit the shape of the float values", changed->name);
    find_integer_range(changed->type, &least, &largest);
    *ret = unused_names_make(&replacing->names, text_of(changed->name), "_integers");
    rc = model_new_tensor(model, model_add_value(model, *ret), changed->type, &values->shape, &integers, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < tensor_elements(values); i++) {
        size_t scale = scale_layout_index(&layout, i);
        float value; /* tensors in a message are unaligned */
        double quotient, number;

        memcpy(&value, (const char *)values->data + i * sizeof(value), sizeof(value));
        quotient = (double)(value / scales[scale]);
        number = (isnan(quotient) ? 0 : rint(quotient)) + (double)quantizer_zero_point(changed, scale);
        store_rounded_number(changed->type, integers, i, fmin(fmax(number, least), largest));
    }
    return 0;
}

/* ---- Nodes ---- */

static bool type_is_wide(enum data_type type)
{
    return type == DATA_INT16 || type == DATA_UINT16;
}

static void replace_quantizer_node(struct quantizer_replacing *replacing, const struct quantizer *changed,
                                   uint32_t index, struct text from, const struct text *parameters)
{
    struct model *model = replacing->model;
    const struct node *node = &model->nodes.items[index];
    struct text output = model->values.items[model_edge(model, node->outputs, 0)].name;
    const struct text inputs[] = {from, parameters[0], parameters[1]};
    struct node_attribute attributes[2];
    struct node_recipe recipe = {.op_type = node->op_type,
                                 .name = node->name,
                                 .domain = node->domain,
                                 .inputs = inputs,
                                 .input_count = parameters[1].size > 0 ? 3 : 2,
                                 .outputs = &output,
                                 .output_count = 1,
                                 .attributes = attributes};

    if (type_is_wide(changed->type) && model_opset(model) < QUANTIZER_16_BITS_OPSET) {
        recipe.domain = MICROSOFT;
        replacing->has_microsoft = true;
    }
    if (changed->axis >= 0)
        attributes[recipe.attribute_count++] =
            (struct node_attribute){.name = TEXT("axis"), .kind = ATTRIBUTE_KIND_INTEGER, .integer = changed->axis};
    if (changed->block_size > 0)
        attributes[recipe.attribute_count++] = (struct node_attribute){
            .name = TEXT("block_size"), .kind = ATTRIBUTE_KIND_INTEGER, .integer = changed->block_size};
    replacing->fields.items[index] = node_build(&model->arena, &recipe);
}

/* Adds scales and zero points as constants; scalars if they are for the whole tensor. */
static int add_quantizer_parameters(struct quantizer_replacing *replacing, const struct quantizer *changed,
                                    struct text *ret, struct error *err)
{
    size_t count = tensor_elements(&changed->scale);
    struct tensor tensor = changed->scale;
    uint8_t *zero_points;
    int rc;

    if (changed->axis < 0)
        tensor.shape.rank = 0;
    rc = add_parameter_constant(replacing, changed, "_scale", &tensor, &ret[0], err);
    ret[1] = TEXT("");
    if (rc < 0 || changed->type == DATA_INT32)
        return rc;
    zero_points = arena_alloc_zero(&replacing->model->arena, tensor_bytes(changed->type, count), 1);
    for (size_t i = 0; i < count; i++)
        store_rounded_number(changed->type, zero_points, i, quantizer_zero_point(changed, i));
    tensor_borrow(changed->type, &tensor.shape, zero_points, tensor_bytes(changed->type, count), &tensor);
    return add_parameter_constant(replacing, changed, "_zero_point", &tensor, &ret[1], err);
}

/* `changed` has a new type (8 or 16 bits, int32), axis, scale and zero point. The integers of a stored constant are
 * quantized from `values`, float32. */
static int replace_quantizer(struct quantizer_replacing *replacing, const struct quantizer *changed,
                             const struct tensor *values, struct error *err)
{
    struct model *model = replacing->model;
    struct text integers = model->values.items[changed->integers].name, parameters[2];
    int rc = add_quantizer_parameters(replacing, changed, parameters, err);

    if (rc == 0 && changed->form == QUANTIZER_STORED)
        rc = add_integer_constant(replacing, changed, values, &integers, err);
    if (rc < 0)
        return rc;
    if (changed->quantize != NODE_NONE) {
        replace_quantizer_node(replacing, changed, changed->quantize, model->values.items[changed->tensor].name,
                               parameters);
        model->values.items[changed->integers].info = (struct span){0}; /* its type changes */
    }
    for (size_t i = 0; i < changed->dequantize.count; i++)
        replace_quantizer_node(replacing, changed, changed->dequantize.items[i], integers, parameters);
    return 0;
}

/* ---- Refinements ---- */

#define OPSET_OF_AXIS 13
#define BLOCKS_OPSET 21

struct refining {
    struct model *model; /* to be changed */
    const struct quantizer_knowledge *knowledge;
    struct quantizer *now;  /* new state of each quantizer */
    struct bitset rescaled; /* quantizers with 8 bits and new scales */
    struct quantizer_replacing replacing;
};

/* ---- Possible refinements ---- */

static int quantizer_type_bits(enum data_type type)
{
    switch (type) {
    case DATA_INT8:
    case DATA_UINT8:
        return 8;
    case DATA_INT4:
    case DATA_UINT4:
        return 4;
    default:
        return 0;
    }
}

static bool quantizer_type_is_signed(enum data_type type)
{
    return type == DATA_INT8 || type == DATA_INT4;
}

/* The constant with the float values of the quantized tensor, and its model; VALUE_NONE: none. */
static uint32_t find_original_values(const struct quantizer_knowledge *knowledge, size_t index,
                                     const struct model **ret)
{
    const struct quantizer *quantizer = &knowledge->quantizers->items[index];
    uint32_t value = quantizer->tensor;
    struct value_type type;

    *ret = knowledge->model;
    if (quantizer->form == QUANTIZER_STORED) {
        *ret = knowledge->twins != NULL ? knowledge->twins->float_model : NULL;
        value = knowledge->twins != NULL ? knowledge->twins->items[index].tensor : VALUE_NONE;
    }
    if (*ret == NULL || value == VALUE_NONE || (*ret)->values.items[value].initializer == INITIALIZER_NONE)
        return VALUE_NONE;
    quantizer_tensor_type(*ret, NULL, value, &type);
    return type.element == DATA_FLOAT32 && type.has_shape &&
                   (!quantizer->has_shape || shape_equal(&type.shape, &quantizer->shape))
               ? value
               : VALUE_NONE;
}

/* Whether the consumer reads the dequantized tensor directly, not transposed or reshaped. */
static bool constant_is_read_directly(const struct model *model, const struct quantizer *quantizer)
{
    uint32_t value = node_input(model, &model->nodes.items[quantizer->reader], quantizer->reader_input);

    return value != VALUE_NONE && value_list_has(&quantizer->dequantize, model->values.items[value].producer);
}

/* The axis of a weight with the output channels; -1: none. */
static int64_t find_channel_axis(const struct model *model, const struct quantizer *quantizer)
{
    const struct node *reader;

    if (quantizer->reader == NODE_NONE || !quantizer->has_shape || quantizer->shape.rank < 2 ||
        quantizer->reader_input != 1 || !constant_is_read_directly(model, quantizer))
        return -1;
    reader = &model->nodes.items[quantizer->reader];
    if (node_is(reader, "Conv"))
        return 0;
    if (node_is(reader, "ConvTranspose"))
        return node_attribute_integer(reader->message, "group", 1) == 1 ? 1 : -1;
    if (node_is(reader, "Gemm"))
        return node_attribute_integer(reader->message, "transB", 0) != 0 ? 0 : 1;
    return node_is(reader, "MatMul") ? (int64_t)quantizer->shape.rank - 1 : -1;
}

static bool node_converts_result(const struct model *model, const struct quantizer *quantizer)
{
    for (size_t i = 0; i < quantizer->dequantize.count; i++)
        if (quantizer_type_behind(quantizer, &model->nodes.items[quantizer->dequantize.items[i]]) !=
            quantizer->scale_type)
            return true;
    return false;
}

/* Whether scales can be divided without losing bits. */
static bool scales_are_normal(const struct quantizer *quantizer)
{
    const float *scales = quantizer->scale.data;
    size_t count = tensor_elements(&quantizer->scale);

    for (size_t i = 0; i < count; i++)
        if (!(scales[i] >= FLT_MIN * 4096) || isinf(scales[i]))
            return false;
    return true;
}

/* Why a quantizer cannot be refined in any way; NULL if it can. */
static const char *explain_unrefinable(const struct model *model, const struct quantizer *quantizer, bool has_values)
{
    if (quantizer->form == QUANTIZER_FIXED)
        return "integer operators read or produce its integers";
    if (quantizer->problem != NULL)
        return quantizer->problem;
    if (quantizer->dynamic || quantizer->scale.data == NULL)
        return "its scale is computed";
    if (quantizer->groups != NULL)
        return "its scales are gathered for each slice";
    if (quantizer->role == QUANTIZER_BIAS || quantizer_type_bits(quantizer->type) == 0)
        return "it is a bias, or not an integer type of 4 or 8 bits";
    if (quantizer->scale_type != DATA_FLOAT32 || node_converts_result(model, quantizer))
        return "its scale is not float32";
    return quantizer->form == QUANTIZER_STORED && !has_values ? "its float values are unknown" : NULL;
}

static bool quantizer_range_is_known(const struct quantizer_knowledge *knowledge, size_t index)
{
    return knowledge->ranges != NULL && isfinite(knowledge->ranges[index].least) &&
           isfinite(knowledge->ranges[index].largest);
}

const char *quantizer_why_not_refined(const struct quantizer_knowledge *knowledge, size_t index,
                                      enum quantizer_refinement refinement)
{
    const struct quantizer *quantizer = &knowledge->quantizers->items[index];
    int64_t opset = model_opset(knowledge->model);
    const struct model *owner;
    bool has_values = find_original_values(knowledge, index, &owner) != VALUE_NONE;
    const char *why_not = explain_unrefinable(knowledge->model, quantizer, has_values);

    if (why_not != NULL)
        return why_not;
    if (refinement == REFINE_16_BITS && !scales_are_normal(quantizer))
        return "its scale is too small to be divided, or not finite";
    if (refinement == REFINE_16_BITS)
        return quantizer->block_size > 0 && opset < QUANTIZER_16_BITS_OPSET
                   ? "this operator set does not support 16-bit blocks"
                   : NULL;
    if (refinement == REFINE_FIT && quantizer->block_size > 0 && has_values)
        return opset < BLOCKS_OPSET ? "this operator set does not support blocks" : NULL;
    if (quantizer_type_bits(quantizer->type) != 8)
        return "its type does not have 8 bits";
    if (refinement == REFINE_FIT && quantizer->axis < 0 && quantizer_range_is_known(knowledge, index))
        return NULL;
    if (!has_values || quantizer->block_size > 0)
        return has_values ? "it has a scale for each block" : "its float values are unknown";
    if (refinement == REFINE_FIT)
        return NULL;
    if (quantizer->role != QUANTIZER_WEIGHT || quantizer->axis >= 0 || opset < OPSET_OF_AXIS)
        return "only a weight with one scale gets one for each channel, from operator set 13 on";
    return find_channel_axis(knowledge->model, quantizer) < 0 ? "it has no output channels" : NULL;
}

/* ---- Refining one quantizer ---- */

static int read_original_values(const struct refining *refining, size_t index, struct tensor *ret, struct error *err)
{
    const struct model *owner;
    uint32_t value = find_original_values(refining->knowledge, index, &owner);

    if (value == VALUE_NONE)
        return error_set(err, ERR_UNSUPPORTED, "the float values of '%s' are unknown",
                         refining->knowledge->quantizers->items[index].name);
    return external_tensor_read_constant(owner, &owner->initializers.items[owner->values.items[value].initializer], ret,
                                         err);
}

/* Allocates new scales in a copy of a quantizer. */
static void set_refined_scales(struct refining *refining, struct quantizer *changed, const struct shape *shape,
                               float **ret_scales, int32_t **ret_zero_points)
{
    size_t count = shape_elements(shape);

    *ret_scales = arena_alloc_zero(&refining->model->arena, count, sizeof(float));
    *ret_zero_points = arena_alloc_zero(&refining->model->arena, count, sizeof(int32_t));
    tensor_borrow(DATA_FLOAT32, shape, *ret_scales, count * sizeof(float), &changed->scale);
    tensor_borrow(DATA_INT32, shape, *ret_zero_points, count * sizeof(int32_t), &changed->zero_point);
}

/* Keeps the range, with finer steps. */
static void refine_to_16_bits(struct refining *refining, struct quantizer *changed)
{
    const struct quantizer before = *changed;
    int factor = 1 << (16 - quantizer_type_bits(before.type));
    int32_t *zero_points;
    float *scales;

    changed->type = quantizer_type_is_signed(before.type) ? DATA_INT16 : DATA_UINT16;
    set_refined_scales(refining, changed, &before.scale.shape, &scales, &zero_points);
    for (size_t i = 0; i < tensor_elements(&changed->scale); i++) {
        scales[i] = ((const float *)before.scale.data)[i] / (float)factor;
        zero_points[i] = quantizer_zero_point(&before, i) * factor;
    }
}

/* Signed integers stay symmetric if they were. */
static void fit_range_scale(enum data_type type, bool symmetric, double least, double largest, float *ret_scale,
                            int32_t *ret_zero_point)
{
    double low, high;

    find_integer_range(type, &low, &high);
    least = fmin(least, 0);
    largest = fmax(largest, 0);
    *ret_scale = (float)(symmetric ? fmax(-least, largest) / high : (largest - least) / (high - low));
    if (!(*ret_scale >= FLT_MIN) || isinf(*ret_scale))
        *ret_scale = 1; /* only zeros, or not finite */
    *ret_zero_point = symmetric ? 0 : (int32_t)fmin(fmax(rint(low - least / (double)*ret_scale), low), high);
}

static bool range_starts_at_zero(const struct quantizer *quantizer)
{
    double least, largest;

    find_integer_range(quantizer->type, &least, &largest);
    return (double)quantizer_zero_point(quantizer, 0) <= least;
}

/* `layout`: which of the scales, of this shape, belongs to which value. `range`: for tensors that are not constant. */
static void refine_scales(struct refining *refining, struct quantizer *changed, const struct scale_layout *layout,
                          const struct shape *shape, const struct tensor *values, const struct quantizer_range *range)
{
    bool symmetric = quantizer_type_is_signed(changed->type) && quantizer_zero_point(changed, 0) == 0;
    size_t scale_count = shape_elements(shape), count = values->data != NULL ? tensor_elements(values) : 0;
    double *least SCOPED_FREE = memory_alloc_zero(scale_count, sizeof(*least)),
                  *largest SCOPED_FREE = memory_alloc_zero(scale_count, sizeof(*least));
    int32_t *zero_points;
    float *scales;

    if (values->data == NULL) {
        least[0] = (double)range->least;
        largest[0] = (double)range->largest;
    }
    for (size_t i = 0; i < count; i++) {
        size_t scale = scale_layout_index(layout, i);
        float number; /* tensors in a message are unaligned */

        memcpy(&number, (const char *)values->data + i * sizeof(number), sizeof(number));
        least[scale] = fmin(least[scale], (double)number);
        largest[scale] = fmax(largest[scale], (double)number);
    }
    if (values->data == NULL && range_starts_at_zero(changed)) /* its range may replace a Relu */
        least[0] = 0;
    set_refined_scales(refining, changed, shape, &scales, &zero_points);
    for (size_t i = 0; i < scale_count; i++)
        fit_range_scale(changed->type, symmetric, least[i], largest[i], &scales[i], &zero_points[i]);
}

/* The layout and shape of new scales: one for each block, for each slice along the axis, or for the whole tensor. */
static void lay_out_scales(const struct quantizer *changed, const struct tensor *values, struct scale_layout *ret,
                           struct shape *ret_shape)
{
    *ret = (struct scale_layout){.inner = values->data != NULL ? tensor_elements(values) + 1 : 1, .length = 1};
    *ret_shape = (struct shape){.rank = 1, .dims = {1}};
    if (changed->block_size > 0 && scale_layout_of(changed, &values->shape, ret)) {
        *ret_shape = changed->scale.shape;
    } else if (changed->axis >= 0) {
        ret->length = (size_t)values->shape.dims[changed->axis];
        ret->inner = shape_extent(&values->shape, (size_t)changed->axis + 1, values->shape.rank);
        ret_shape->dims[0] = values->shape.dims[changed->axis];
    }
}

static int refine_quantizer(struct refining *refining, size_t index, enum quantizer_refinement how, struct error *err)
{
    const struct quantizer_knowledge *knowledge = refining->knowledge;
    struct quantizer *changed = &refining->now[index];
    struct tensor values SCOPED(tensor_release) = {0};
    const struct model *owner;
    int rc = 0;

    if (find_original_values(knowledge, index, &owner) != VALUE_NONE)
        rc = read_original_values(refining, index, &values, err);
    if (rc < 0)
        return rc;
    if (how == REFINE_16_BITS) {
        refine_to_16_bits(refining, changed);
    } else {
        struct scale_layout layout;
        struct shape shape;

        if (how == REFINE_PER_CHANNEL)
            changed->axis = find_channel_axis(refining->model, changed);
        lay_out_scales(changed, &values, &layout, &shape);
        refine_scales(refining, changed, &layout, &shape, &values,
                      knowledge->ranges != NULL ? &knowledge->ranges[index] : NULL);
        bitset_add(&refining->rescaled, index);
    }
    return replace_quantizer(&refining->replacing, changed, &values, err);
}

/* ---- Bias ---- */

/* The quantizer whose result this input of the node reads; SIZE_MAX: none. */
static size_t find_feeding_quantizer(const struct refining *refining, const struct node *node, size_t input)
{
    const struct quantizers *quantizers = refining->knowledge->quantizers;
    const struct model *model = refining->model;
    uint32_t value = node_input(model, node, input);

    for (size_t i = 0; value != VALUE_NONE && i < quantizers->count; i++)
        for (size_t k = 0; k < quantizers->items[i].dequantize.count; k++) {
            const struct node *dequantize = &model->nodes.items[quantizers->items[i].dequantize.items[k]];

            if (model_edge(model, dequantize->outputs, 0) == value)
                return i;
        }
    return SIZE_MAX;
}

static bool bias_can_be_rescaled(const struct refining *refining, const struct quantizer *bias)
{
    return bias->role == QUANTIZER_BIAS && bias->form == QUANTIZER_STORED && bias->type == DATA_INT32 &&
           bias->scale.data != NULL && bias->problem == NULL && bias->reader != NODE_NONE && bias->has_shape &&
           bias->shape.rank == 1 && bias->block_size == 0 && model_opset(refining->model) >= OPSET_OF_AXIS;
}

/* Keeps the values of a bias, with new scales: the products of these scales. */
static int rescale_bias(struct refining *refining, struct quantizer *bias, const struct quantizer *input,
                        const struct quantizer *weight, struct error *err)
{
    struct model *model = refining->model;
    const struct quantizer before = *bias;
    size_t weight_scales = tensor_elements(&weight->scale);
    struct tensor integers SCOPED(tensor_release) = {0};
    struct tensor values SCOPED(tensor_release) = {0};
    struct scale_layout layout;
    int32_t *zero_points;
    float *scales;
    int rc = external_tensor_read_constant(
        model, &model->initializers.items[model->values.items[bias->integers].initializer], &integers, err);

    if (rc < 0)
        return rc;
    rc = tensor_allocate(DATA_FLOAT32, &integers.shape, &values, err);
    if (rc < 0)
        return rc;
    if (!scale_layout_of(&before, &integers.shape, &layout))
        return error_set(err, ERR_INVALID, "'%s': its scales do not fit the shape of its integers", bias->name);
    for (size_t first = 0, count = tensor_elements(&values); first < count; first += ELEMENTS_RUN)
        quantizer_restore_run(&before, &layout, &integers, first, elements_in_run(count, first),
                              (float *)tensor_writable(&values) + first);
    bias->axis = weight_scales > 1 ? 0 : -1;
    set_refined_scales(refining, bias, &(struct shape){.rank = 1, .dims = {(int64_t)weight_scales}}, &scales,
                       &zero_points);
    for (size_t i = 0; i < weight_scales; i++)
        scales[i] = ((const float *)input->scale.data)[0] * ((const float *)weight->scale.data)[i];
    return replace_quantizer(&refining->replacing, bias, &values, err);
}

static int rescale_biases(struct refining *refining, struct error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < refining->knowledge->quantizers->count; i++) {
        struct quantizer *bias = &refining->now[i];
        const struct node *reader;
        size_t input, weight, channels;

        if (!bias_can_be_rescaled(refining, bias))
            continue;
        reader = &refining->model->nodes.items[bias->reader];
        input = find_feeding_quantizer(refining, reader, 0);
        weight = find_feeding_quantizer(refining, reader, 1);
        if (input == SIZE_MAX || weight == SIZE_MAX ||
            (!bitset_has(&refining->rescaled, input) && !bitset_has(&refining->rescaled, weight)) ||
            quantizer_type_bits(refining->now[input].type) != 8 ||
            quantizer_type_bits(refining->now[weight].type) != 8 || refining->now[input].scale.data == NULL ||
            refining->now[input].axis >= 0 || refining->now[weight].scale.data == NULL ||
            refining->now[weight].block_size > 0)
            continue;
        channels = tensor_elements(&refining->now[weight].scale);
        if (channels == 1 || (int64_t)channels == bias->shape.dims[0])
            rc = rescale_bias(refining, bias, &refining->now[input], &refining->now[weight], err);
    }
    return rc;
}

/* ---- All quantizers ---- */

int quantizers_refine(struct model *model, const struct quantizer_knowledge *knowledge,
                      const enum quantizer_refinement *how, bool *ret_microsoft, struct error *err)
{
    size_t count = knowledge->quantizers->count;
    struct refining refining = {
        .model = model, .knowledge = knowledge, .now = memory_alloc_zero(count, sizeof(*refining.now))};
    int rc = 0;

    bitset_init(&refining.rescaled, count);
    init_quantizer_replacing(&refining.replacing, model);
    for (size_t i = 0; i < count; i++)
        refining.now[i] = knowledge->quantizers->items[i];
    for (size_t i = 0; rc == 0 && i < count; i++)
        if (how[i] != REFINE_NOT)
            rc = refine_quantizer(&refining, i, how[i], err);
    if (rc < 0)
        goto done;
    rc = rescale_biases(&refining, err);
    if (rc == 0)
        rc = finish_quantizer_replacing(&refining.replacing, err);
done:
    if (ret_microsoft != NULL)
        *ret_microsoft = refining.replacing.has_microsoft;
    bitset_release(&refining.rescaled);
    release_quantizer_replacing(&refining.replacing);
    free(refining.now);
    return rc;
}
