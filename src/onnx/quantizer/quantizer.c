/* onnx/quantizer/quantizer.c: see quantizer.h. */
#include "onnx/quantizer/quantizer.h"

#include "onnx/proto/node_attribute.h"
#include "tensor/values/elements.h"

const char *quantizer_form_name(enum quantizer_form form)
{
    static const char *const names[] = {"pair", "stored", "fixed"};

    return names[form];
}

const char *quantizer_role_name(enum quantizer_role role)
{
    static const char *const names[] = {"activation", "weight", "bias"};

    return names[role];
}

static bool node_is_quantizer(const struct node *node, const char *op_type)
{
    return text_equal_string(node->op_type, op_type) &&
           (domain_is_standard(node->domain) || text_equal_string(node->domain, "com.microsoft"));
}

bool node_quantizes(const struct node *node)
{
    return node_is_quantizer(node, "QuantizeLinear") && node->inputs.count > 0 && node->outputs.count > 0;
}

bool node_dequantizes(const struct node *node)
{
    return node_is_quantizer(node, "DequantizeLinear") && node->inputs.count > 0 && node->outputs.count > 0;
}

enum data_type quantizer_type_behind(const struct quantizer *quantizer, const struct node *dequantize)
{
    enum data_type stated = (enum data_type)node_attribute_integer(dequantize->message, "output_dtype", DATA_UNDEFINED);

    return stated != DATA_UNDEFINED ? stated : quantizer->scale_type;
}

/* ---- Scale layout ---- */

/* With blocks there is a scale for each element across the axis: scales have the strides of a tensor of their shape. */
bool scale_layout_of(const struct quantizer *quantizer, const struct shape *shape, struct scale_layout *ret)
{
    const struct shape *scale = &quantizer->scale.shape;
    size_t axis = (size_t)quantizer->axis, elements = shape_elements(shape), length;

    if (quantizer->scale.data == NULL || elements == SIZE_MAX)
        return false;
    if (quantizer->axis < 0) {
        *ret = (struct scale_layout){.inner = elements + 1, .length = 1};
        return tensor_elements(&quantizer->scale) == 1;
    }
    if (axis >= shape->rank)
        return false;
    length = (size_t)shape->dims[axis];
    *ret = (struct scale_layout){.inner = shape_extent(shape, axis + 1, shape->rank), .length = length};
    if (quantizer->block_size == 0)
        return tensor_elements(&quantizer->scale) == length;
    ret->block_size = (size_t)quantizer->block_size;
    ret->blocks = length / ret->block_size + (length % ret->block_size != 0);
    ret->groups = quantizer->groups;
    if (ret->groups != NULL) {
        if (axis >= scale->rank || !quantizer->has_shape || quantizer->shape.dims[axis] != shape->dims[axis])
            return false;
        ret->blocks = (size_t)scale->dims[axis];
    }
    for (size_t i = 0; i < shape->rank; i++)
        if (scale->rank != shape->rank || scale->dims[i] != (i == axis ? (int64_t)ret->blocks : shape->dims[i]))
            return false;
    return true;
}

void quantizer_restore_run(const struct quantizer *quantizer, const struct scale_layout *layout,
                           const struct tensor *stored, size_t first, size_t count, float *ret)
{
    const float *scales = quantizer->scale.data;
    double integers[ELEMENTS_RUN];

    elements_to_float64(stored, first, count, integers);
    for (size_t i = 0; i < count; i++) {
        size_t scale = scale_layout_index(layout, first + i);

        ret[i] = (float)(integers[i] - quantizer_zero_point(quantizer, scale)) * scales[scale];
    }
}
