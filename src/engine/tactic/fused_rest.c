/* engine/tactic/fused_rest.c: see fused_rest.h. */
#include "engine/tactic/fused_rest.h"

#include <math.h>

static float apply_activation(const struct fused_operation *operation, float x)
{
    switch (operation->activation) {
    case ACTIVATION_RELU:
        return x < 0 ? 0 : x;
    case ACTIVATION_LEAKY_RELU:
        return x < 0 ? operation->alpha * x : x;
    case ACTIVATION_CLIP:
        return x < operation->alpha ? operation->alpha : x > operation->beta ? operation->beta : x;
    case ACTIVATION_SIGMOID:
        return 1 / (1 + expf(-x));
    case ACTIVATION_TANH:
        return tanhf(x);
    case ACTIVATION_ELU:
        return x < 0 ? operation->alpha * expm1f(x) : x;
    case ACTIVATION_SWISH:
        return x / (1 + expf(-operation->alpha * x));
    case ACTIVATION_HARD_SWISH:
        return x * fminf(fmaxf(x / 6 + 0.5F, 0), 1);
    case ACTIVATION_GELU_ERF:
        return 0.5F * x * (1 + erff(x * 0.70710678F));
    default: /* others are not fused */
        return x;
    }
}

bool fused_rest_fits(const struct shape *operand, const struct shape *shape)
{
    if (operand->rank > shape->rank)
        return false;
    for (size_t i = 0; i < operand->rank; i++)
        if (operand->dims[i] != 1 && operand->dims[i] != shape->dims[shape->rank - operand->rank + i])
            return false;
    return true;
}

/* The operand's strides for each dimension of the shape, in elements; 0 for broadcast dimensions. */
static void find_operand_strides(const struct fused_operand *operand, const struct shape *shape, size_t *strides)
{
    size_t offset = shape->rank - operand->shape.rank, stride = 1;

    for (size_t i = shape->rank; i-- > 0;) {
        int64_t size = i < offset ? 1 : operand->shape.dims[i - offset];

        strides[i] = size == 1 ? 0 : stride;
        stride *= (size_t)size;
    }
}

static void add_fused_operand(const struct fused_operand *operand, const struct shape *shape, float *values)
{
    size_t strides[TENSOR_MAX_RANK], count = shape_elements(shape);
    size_t row = shape->rank > 0 ? (size_t)shape->dims[shape->rank - 1] : 1;

    find_operand_strides(operand, shape, strides);
    for (size_t first = 0; first < count; first += row) {
        size_t rest = first / row, at = 0, step = shape->rank > 0 ? strides[shape->rank - 1] : 0;

        for (size_t i = shape->rank; i-- > 1;) {
            size_t size = (size_t)shape->dims[i - 1];

            at += rest % size * strides[i - 1];
            rest /= size;
        }
        for (size_t k = 0; k < row; k++)
            values[first + k] += operand->data[at + k * step];
    }
}

void fused_rest_apply(const struct layer *layer, const struct fused_operand *operands, const struct shape *shape,
                      float *values)
{
    size_t count = shape_elements(shape);

    VECTOR_EACH (const struct fused_operation, operation, layer->fused) {
        if (operation->kind == FUSED_ADD)
            add_fused_operand(operands++, shape, values);
        else
            for (size_t k = 0; k < count; k++)
                values[k] = apply_activation(operation, values[k]);
    }
}
