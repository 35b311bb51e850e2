/* engine/onednn/onnx.c: see onnx.h. */
#include "engine/onednn/onnx.h"

#include <string.h>

#include "onnx/proto/node_attribute.h"

int64_t onednn_integer(const struct onednn_attempt *attempt, const char *name, int64_t fallback)
{
    return node_attribute_integer(onednn_node(attempt), name, fallback);
}

float onednn_float(const struct onednn_attempt *attempt, const char *name, float fallback)
{
    return node_attribute_float(onednn_node(attempt), name, fallback);
}

struct text onednn_string(const struct onednn_attempt *attempt, const char *name, const char *fallback)
{
    return node_attribute_text_or(onednn_node(attempt), name, fallback);
}

int64_t onednn_opset(const struct onednn_attempt *attempt)
{
    return model_opset(attempt->request->network->model);
}

bool onednn_is_ordinary(const struct onednn_attempt *attempt)
{
    const struct layer *layer = attempt->request->layer;

    if (layer->outputs.count == 0 || layer->outputs.items[0] == VALUE_NONE)
        return false;
    for (size_t i = 1; i < layer->outputs.count; i++)
        if (layer->outputs.items[i] != VALUE_NONE)
            return false;
    if (!onednn_has_input(attempt, 0) || shape_elements(&attempt->request->inputs[0].shape) == 0)
        return false;
    return true;
}

bool onednn_axis(int64_t axis, size_t rank, size_t *ret)
{
    int64_t counted = axis < 0 ? axis + (int64_t)rank : axis;

    if (counted < 0 || counted >= (int64_t)rank)
        return false;
    *ret = (size_t)counted;
    return true;
}

bool onednn_axes(const int64_t *axes, size_t count, size_t rank, bool ret[TENSOR_MAX_RANK])
{
    memset(ret, 0, TENSOR_MAX_RANK * sizeof(*ret));
    for (size_t i = 0; i < count; i++) {
        size_t axis;

        if (!onednn_axis(axes[i], rank, &axis) || ret[axis])
            return false;
        ret[axis] = true;
    }
    return true;
}

bool onednn_constant_integers(const struct onednn_attempt *attempt, size_t position, int64_t ret[TENSOR_MAX_RANK],
                              size_t *ret_count)
{
    const struct kernel_input *input;
    size_t count;

    if (!onednn_has_input(attempt, position))
        return false;
    input = &attempt->request->inputs[position];
    count = shape_elements(&input->shape);
    if (!input->constant || input->type != DATA_INT64 || count > TENSOR_MAX_RANK)
        return false;
    memcpy(ret, input->constant, count * sizeof(*ret));
    *ret_count = count;
    return true;
}

int64_t onednn_product(const struct shape *shape, size_t from, size_t to)
{
    int64_t product = 1;

    for (size_t i = from; i < to; i++)
        product *= shape->dims[i];
    return product;
}

bool onednn_is_padded(const struct onednn_memory_desc *memory)
{
    struct layout_strides strides;

    if (memory->kind != ONEDNN_MEMORY_LAYOUT || !layout_resolve(&memory->layout, &memory->shape, &strides))
        return false;
    return strides.elements != shape_elements(&memory->shape);
}

bool onednn_is_one_pixel(const struct shape *shape)
{
    return shape->rank > 2 && onednn_product(shape, 2, shape->rank) == 1;
}

bool onednn_fills_vectors(const struct onednn_memory_desc *memory)
{
    enum { FLOATS = 16 }; /* of AVX-512; a multiple of other register sizes */
    struct layout_strides strides;

    if (memory->kind != ONEDNN_MEMORY_LAYOUT || !layout_resolve(&memory->layout, &memory->shape, &strides))
        return true;
    for (size_t i = 0; i < strides.block_count; i++)
        if (memory->shape.dims[strides.block_dimensions[i]] % FLOATS != 0)
            return false;
    return true;
}
