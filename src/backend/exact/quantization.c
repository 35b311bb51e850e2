/* backend/exact/quantization.c: QuantizeLinear and DequantizeLinear. */
#include <math.h>

#include "backend/exact/kernels.h"
#include "onnx/proto/node_attribute.h"

struct quantized_range {
    double least, greatest;
};

/* False for a type that is not quantized to. */
static bool find_quantized_range(enum data_type type, struct quantized_range *ret)
{
    unsigned bits = data_type_bits(type);

    if (!data_type_is_integer(type) || bits > 32)
        return false;
    ret->least = data_type_is_signed(type) ? -ldexp(1, (int)bits - 1) : 0;
    ret->greatest = ldexp(1, data_type_is_signed(type) ? (int)bits - 1 : (int)bits) - 1;
    return true;
}

/* One scale for all, or one for each index of an axis; not those of blocks. */
static int read_scale_axis(struct exact_call *call, size_t *ret_plane, size_t *ret_scales, struct error *err)
{
    int64_t axis = node_attribute_integer(call->node->message, "axis", 1);
    const struct shape *shape = exact_shape(call->inputs[0]);

    *ret_plane = 1;
    *ret_scales = exact_count(call->inputs[1]);
    if (*ret_scales == 1)
        return 0;
    if (!exact_normalize_axis(&axis, shape->rank) || *ret_scales != (size_t)shape->dims[axis] ||
        node_attribute_integer(call->node->message, "block_size", 0) != 0)
        return exact_refuse(call, err, "its scales are not computed in float64");
    *ret_plane = shape_extent(shape, (size_t)axis + 1, shape->rank);
    return 0;
}

static int compute_quantizer(struct exact_call *call, struct error *err)
{
    bool is_inverse = node_is(call->node, "DequantizeLinear");
    const struct exact_value *zeros = exact_input(call, 2), *input = call->inputs[0];
    struct quantized_range range = {0};
    enum data_type type = zeros != NULL ? zeros->type : DATA_UINT8;
    size_t plane = 1, scales = 1;
    double *ret;
    int rc = read_scale_axis(call, &plane, &scales, err);

    if (rc < 0)
        return rc;
    if (!is_inverse && !find_quantized_range(type, &range))
        return exact_refuse(call, err, "quantization to that type is not computed in float64");
    if (zeros != NULL && exact_count(zeros) != scales)
        return exact_refuse_shapes(call, err);
    rc = exact_allocate(call, 0, is_inverse ? call->inputs[1]->type : type, exact_shape(input), &ret, err);
    for (size_t i = 0; rc == 0 && i < exact_count(input); i++) {
        double scale = exact_items(call->inputs[1])[i / plane % scales];
        double zero = zeros != NULL ? exact_items(zeros)[i / plane % scales] : 0, x = exact_items(input)[i];

        ret[i] = is_inverse ? exact_round(call->options, (x - zero) * scale)
                            : fmin(range.greatest, fmax(range.least, nearbyint(x / scale) + zero));
    }
    return rc;
}

const struct exact_operator exact_quantization_operators[] = {
    {"QuantizeLinear", 2, false, compute_quantizer, NULL},
    {"DequantizeLinear", 2, false, compute_quantizer, NULL},
    {0},
};
