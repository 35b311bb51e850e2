/* backend/exact/values.c: values, shapes and rounding, see kernels.h. */
#include <math.h>
#include <stdlib.h>

#include "backend/exact/kernels.h"
#include "base/memory.h"
#include "onnx/proto/node_attribute.h"

/* ---- Values ---- */

/* The largest int64_t, which stands for "to the end", is no double: it has become 2^63. */
static int64_t clamp_integer(double value)
{
    if (value >= 0x1p63)
        return INT64_MAX;
    return value > -0x1p63 ? (int64_t)value : INT64_MIN;
}

size_t exact_read_integers(const struct exact_value *value, int64_t *ret)
{
    size_t count = value != NULL ? exact_count(value) : 0;

    for (size_t i = 0; i < count && i < TENSOR_MAX_RANK; i++)
        ret[i] = clamp_integer(exact_items(value)[i]);
    return count;
}

int exact_allocate(struct exact_call *call, size_t output, enum data_type type, const struct shape *shape, double **ret,
                   struct error *err)
{
    struct exact_value *value = &call->outputs[output];
    int rc = tensor_allocate(DATA_FLOAT64, shape, &value->tensor, err);

    if (rc < 0)
        return rc;
    value->type = type;
    *ret = tensor_writable(&value->tensor);
    return 0;
}

double exact_round(const struct exact_options *options, double value)
{
    switch (options->type) {
    case DATA_FLOAT32:
        return (double)(float)value;
    case DATA_FLOAT16:
        return (double)float16_to_float32(float64_to_float16(value));
    case DATA_BFLOAT16:
        return (double)bfloat16_to_float32(float32_to_bfloat16((float)value));
    default:
        return value;
    }
}

double exact_round_sum(const struct exact_options *options, double sum)
{
    return options->type == DATA_FLOAT64 ? sum : (double)(float)sum;
}

double exact_sigmoid(double x)
{
    return x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x));
}

double exact_sum(const struct exact_options *options, const double *terms, size_t count, size_t stride)
{
    double ret = 0;

    for (size_t i = 0; i < count; i++)
        ret = exact_round_sum(options, ret + terms[(options->backwards ? count - 1 - i : i) * stride]);
    return ret;
}

int exact_refuse_as(const struct exact_call *call, enum error_code code, const char *what, struct error *err)
{
    SCOPED_STRING(label);

    model_add_node_label(call->model, (uint32_t)(call->node - call->model->nodes.items), &label);
    return error_set(err, code, "'%s' (" TEXT_FORMAT "): %s", label.data, TEXT_ARGS(call->node->op_type), what);
}

int exact_refuse(const struct exact_call *call, struct error *err, const char *what)
{
    return exact_refuse_as(call, ERR_UNSUPPORTED, what, err);
}

int exact_refuse_shapes(const struct exact_call *call, struct error *err)
{
    return exact_refuse_as(call, ERR_INVALID, "the shapes of its inputs do not fit", err);
}

struct text exact_text_attribute(const struct exact_call *call, const char *name, const char *fallback)
{
    return node_attribute_text_or(call->node->message, name, fallback);
}

/* ---- Shapes ---- */

bool exact_normalize_axis(int64_t *axis, size_t rank)
{
    if (*axis < 0)
        *axis += (int64_t)rank;
    return *axis >= 0 && *axis < (int64_t)rank;
}

bool exact_broadcast_shape(struct shape *shape, const struct shape *with)
{
    struct shape ret = {.rank = shape->rank > with->rank ? shape->rank : with->rank};

    for (size_t i = 0; i < ret.rank; i++) {
        int64_t a = i + shape->rank >= ret.rank ? shape->dims[i + shape->rank - ret.rank] : 1;
        int64_t b = i + with->rank >= ret.rank ? with->dims[i + with->rank - ret.rank] : 1;

        if (a != b && a != 1 && b != 1)
            return false;
        ret.dims[i] = a == 1 ? b : a;
    }
    *shape = ret;
    return true;
}

/* Element (i, j, ...) of `shape` is at offset i strides[0] + j strides[1] + ... */
static size_t *list_strided_indices(const struct shape *shape, const size_t *strides)
{
    size_t elements = shape_elements(shape), at = 0;
    size_t *ret = elements < SIZE_MAX / sizeof(*ret) ? malloc((elements + 1) * sizeof(*ret)) : NULL;
    struct shape position = {.rank = shape->rank};

    for (size_t i = 0; ret != NULL && i < elements; i++) {
        ret[i] = at;
        for (size_t axis = shape->rank; axis-- > 0;) {
            at += strides[axis];
            if (++position.dims[axis] < shape->dims[axis])
                break;
            at -= strides[axis] * (size_t)shape->dims[axis];
            position.dims[axis] = 0;
        }
    }
    return ret;
}

size_t *exact_broadcast_indices(const struct shape *from, const struct shape *to)
{
    size_t strides[TENSOR_MAX_RANK] = {0}, stride = 1;

    for (size_t i = 1; i <= from->rank && i <= to->rank; i++) {
        int64_t dim = from->dims[from->rank - i];

        strides[to->rank - i] = dim == 1 ? 0 : stride;
        stride *= (size_t)dim;
    }
    return list_strided_indices(to, strides);
}

size_t *exact_transposed_indices(const struct shape *from, const size_t *order)
{
    size_t strides[TENSOR_MAX_RANK];
    struct shape to = {.rank = from->rank};

    for (size_t i = 0; i < from->rank; i++) {
        to.dims[i] = from->dims[order[i]];
        strides[i] = shape_extent(from, order[i] + 1, from->rank);
    }
    return list_strided_indices(&to, strides);
}
