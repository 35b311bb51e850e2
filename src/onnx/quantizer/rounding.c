/* onnx/quantizer/rounding.c: see rounding.h. */
#include "onnx/quantizer/rounding.h"

#include "tensor/values/elements.h"

static size_t dimension_product(const struct shape *shape, size_t from, size_t end)
{
    size_t count = 1;

    for (size_t i = from; i < end; i++)
        count *= (size_t)shape->dims[i];
    return count;
}

/* Blocks have a scale for each element across the axis: the scales' own strides are those of a tensor of their
 * shape. */
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
    *ret = (struct scale_layout){.inner = dimension_product(shape, axis + 1, shape->rank), .length = length};
    if (quantizer->block_size == 0)
        return tensor_elements(&quantizer->scale) == length;
    ret->block_size = (size_t)quantizer->block_size;
    ret->blocks = length / ret->block_size + (length % ret->block_size != 0);
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
