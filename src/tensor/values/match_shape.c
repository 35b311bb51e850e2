/* tensor/values/match_shape.c: transposing and reshaping. */
#include "tensor/values/match_shape.h"

#include <string.h>

/* Finds the axis of `from` that each dimension of `to` takes. Returns false when they are no permutation. */
static bool find_permutation(const struct shape *from, const struct shape *to, size_t *axes)
{
    bool taken[TENSOR_MAX_RANK] = {false};

    if (from->rank != to->rank)
        return false;
    for (size_t i = 0; i < to->rank; i++) {
        size_t axis = 0;
        while (axis < from->rank && (taken[axis] || from->dims[axis] != to->dims[i]))
            axis++;
        if (axis == from->rank)
            return false;
        taken[axis] = true;
        axes[i] = axis;
    }
    return true;
}

static void copy_element(const struct tensor *from, size_t source, struct tensor *to, size_t target)
{
    size_t size = from->type == DATA_STRING ? sizeof(struct text) : data_type_bits(from->type) / 8;
    uint8_t *data = tensor_writable(to);

    if (size > 0) {
        memcpy(data + target * size, (const uint8_t *)from->data + source * size, size);
        return;
    }
    uint8_t half = ((const uint8_t *)from->data)[source / 2] >> (source % 2 * 4) & 15;
    if (target % 2 == 0)
        data[target / 2] = half;
    else
        data[target / 2] = (uint8_t)(data[target / 2] | half << 4);
}

static int transpose(const struct tensor *tensor, const size_t *axes, const struct shape *wanted, struct tensor *ret,
                     struct error *err)
{
    size_t elements = tensor_elements(tensor);
    size_t strides[TENSOR_MAX_RANK]; /* of the tensor's axes, in elements */
    struct shape position = {.rank = wanted->rank};
    size_t source = 0, stride = 1;

    int rc = tensor_allocate(tensor->type, wanted, ret, err);
    if (rc < 0 || elements == 0)
        return rc;
    for (size_t axis = wanted->rank; axis-- > 0;) {
        strides[axis] = stride;
        stride *= (size_t)tensor->shape.dims[axis];
    }
    for (size_t target = 0; target < elements; target++) {
        copy_element(tensor, source, ret, target);
        for (size_t i = wanted->rank; i-- > 0;) { /* the next position, last dimension first */
            source += strides[axes[i]];
            if (++position.dims[i] < wanted->dims[i])
                break;
            source -= strides[axes[i]] * (size_t)wanted->dims[i];
            position.dims[i] = 0;
        }
    }
    return 0;
}

int tensor_match_shape(const struct tensor *tensor, const struct shape *wanted, struct tensor *ret, struct error *err)
{
    size_t axes[TENSOR_MAX_RANK];
    struct string_builder text;

    if (!shape_equal(&tensor->shape, wanted) && find_permutation(&tensor->shape, wanted, axes))
        return transpose(tensor, axes, wanted, ret, err);
    if (tensor_elements(tensor) == shape_elements(wanted)) {
        tensor_borrow(tensor->type, wanted, tensor->data, tensor->size, ret);
        return 0;
    }
    string_init(&text);
    shape_to_text(&tensor->shape, &text);
    string_add(&text, " cannot be made into one of shape ");
    shape_to_text(wanted, &text);
    int rc = error_set(err, ERR_INVALID, "a tensor of shape %s: they differ in their number of elements", text.data);
    string_release(&text);
    return rc;
}
