/* onnx/quantizer/replace.c: see replace.h. */
#include "onnx/quantizer/replace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "onnx/edit/constants.h"
#include "onnx/edit/model.h"
#include "onnx/edit/node.h"
#include "onnx/edit/rebuild.h"
#include "onnx/quantizer/rounding.h"

#define MICROSOFT TEXT("com.microsoft")

void quantizer_replacing_init(struct quantizer_replacing *replacing, struct model *model)
{
    *replacing = (struct quantizer_replacing){.model = model};
    unused_names_init(&replacing->names, model, &model->arena);
    for (size_t i = 0; i < model->nodes.count; i++)
        *VECTOR_APPEND(&replacing->fields) = model->nodes.items[i].field;
}

void quantizer_replacing_release(struct quantizer_replacing *replacing)
{
    unused_names_release(&replacing->names);
    free(replacing->fields.items);
}

int quantizer_replacing_finish(struct quantizer_replacing *replacing, struct error *err)
{
    int rc = model_set_nodes(replacing->model, &replacing->fields, err);

    if (rc == 0 && replacing->has_microsoft)
        model_import_domain(replacing->model, MICROSOFT, 1);
    return rc;
}

/* ---- Constants ---- */

void quantizer_integer_range(enum data_type type, double *ret_least, double *ret_largest)
{
    bool is_narrow = type == DATA_INT8 || type == DATA_UINT8, is_unsigned = type == DATA_UINT8 || type == DATA_UINT16;
    double half = type == DATA_INT32 ? 2147483648.0 : is_narrow ? 128 : 32768;

    *ret_least = is_unsigned ? 0 : -half;
    *ret_largest = is_unsigned ? 2 * half - 1 : half - 1;
}

static int add_parameter_constant(struct quantizer_replacing *replacing, const struct quantizer *quantizer,
                                  const char *suffix, const struct tensor *tensor, struct text *ret, struct error *err)
{
    *ret = unused_names_make(&replacing->names, text_of(quantizer->name), suffix);
    return model_set_tensor(replacing->model, model_add_value(replacing->model, *ret), tensor, err);
}

static void store_rounded_number(enum data_type type, void *data, size_t element, double number)
{
    switch (type) {
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

/* What QuantizeLinear makes of these values. */
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
        return error_set(err, ERR_INVALID, "'%s': its scales do not fit the float values", changed->name);
    quantizer_integer_range(changed->type, &least, &largest);
    *ret = unused_names_make(&replacing->names, text_of(changed->name), "_integers");
    rc = model_new_tensor(model, model_add_value(model, *ret), changed->type, &values->shape, &integers, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < tensor_elements(values); i++) {
        size_t scale = scale_layout_index(&layout, i);
        float value; /* tensors in a message lie anywhere */
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

/* Scales and zero points become constants. Those for the whole tensor have no dimension. */
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

int quantizer_replace(struct quantizer_replacing *replacing, const struct quantizer *changed,
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
        model->values.items[changed->integers].info = (struct span){0}; /* of another type than it will have */
    }
    for (size_t i = 0; i < changed->dequantize.count; i++)
        replace_quantizer_node(replacing, changed, changed->dequantize.items[i], integers, parameters);
    return 0;
}
