/* engine/precision/precision.c: rounding to narrow types, and the tensors of a layer that are rounded. See
 * precision.h. */
#include "engine/precision/precision.h"

#include <math.h>
#include <string.h>

#include "onnx/half/half_operators.h"
#include "onnx/proto/node_attribute.h"
#include "tensor/values/float_bits.h"

/* Compilers vectorize loops of fixed length even when optimizing for size. */
#define BLOCK 64

static const struct {
    const char *name, *tensorrt_name;
    enum data_type type;
} precisions[PRECISION_COUNT] = {
    [PRECISION_FLOAT32] = {"float32", "DataType.FLOAT", DATA_FLOAT32},
    [PRECISION_TF32] = {"tf32", "DataType.FLOAT", DATA_UNDEFINED},
    [PRECISION_BFLOAT16] = {"bfloat16", "DataType.BF16", DATA_BFLOAT16},
    [PRECISION_FLOAT16] = {"float16", "DataType.HALF", DATA_FLOAT16},
    [PRECISION_INT8] = {"int8", "DataType.INT8", DATA_INT8},
};

const char *precision_name(enum precision precision)
{
    return precisions[precision].name;
}

const char *precision_tensorrt_name(enum precision precision)
{
    return precisions[precision].tensorrt_name;
}

enum data_type precision_type(enum precision precision)
{
    return precision == PRECISION_TF32 ? DATA_FLOAT32 : precisions[precision].type;
}

enum precision precision_of_type(enum data_type type)
{
    for (int i = 0; i < PRECISION_COUNT; i++)
        if (type != DATA_UNDEFINED && precisions[i].type == type)
            return (enum precision)i;
    return PRECISION_COUNT;
}

/* ---- Rounding ---- */

/* `a` if `choose_a` is 1, `b` if it is 0. Avoids the branch that compilers generate for a conditional expression. */
static inline uint32_t select_bits(int choose_a, uint32_t a, uint32_t b)
{
    return b ^ ((a ^ b) & (uint32_t)-choose_a);
}

/* Every case is computed, then one is chosen: there is no branch. The result is that of
 * float16_to_float32(float32_to_float16()). Bits are compared as signed numbers, which vector units can do. */
static inline float rounded_to_float16(float value)
{
    uint32_t bits = float32_bits(value);
    uint32_t sign = bits & 0x80000000, magnitude = bits & 0x7fffffff;
    /* Ties go to the even neighbour. Results of 2^16 and above do not exist in float16. */
    uint32_t normal = (magnitude + 0xfff + (magnitude >> 13 & 1)) & ~(uint32_t)0x1fff;
    /* Rounds to multiples of 2^-24, the spacing of float32 numbers in [0.5, 1), by an addition. */
    uint32_t subnormal = float32_bits((float32_of_bits(magnitude) + 0.5F) - 0.5F);
    uint32_t not_a_number = (magnitude & ~(uint32_t)0x1fff) | 0x400000;
    uint32_t ret = select_bits((int32_t)magnitude > 0x477fefff, 0x7f800000, normal); /* from 65520 on */

    ret = select_bits((int32_t)magnitude < 0x38800000, subnormal, ret); /* 2^-14 */
    return float32_of_bits(sign | select_bits((int32_t)magnitude > 0x7f800000, not_a_number, ret));
}

static inline float rounded_to_bfloat16(float value)
{
    uint32_t bits = float32_bits(value);
    uint32_t number = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
    uint32_t not_a_number = (bits & 0xffff0000) | 0x400000;

    return float32_of_bits(select_bits((int32_t)(bits & 0x7fffffff) > 0x7f800000, not_a_number, number));
}

/* `limit` is 127 or 128, the magnitude of the smallest value. */
static inline float quantize_float(float value, float scale, float limit)
{
    float steps = value / scale;
    uint32_t bits = float32_bits(steps);
    bits = select_bits(steps < -limit, float32_bits(-limit), bits);
    bits = select_bits(steps > 127, float32_bits(127), bits);
    bits = select_bits(steps == steps, bits, 0); /* NaN */
    /* float32 numbers of that size are integers, and the addition rounds to one of them, ties to even. */
    return ((float32_of_bits(bits) + 0x1.8p23F) - 0x1.8p23F) * scale;
}

void precision_round(enum precision precision, float *values, size_t count)
{
    size_t i = 0;

    if (precision == PRECISION_FLOAT16) {
        for (; count - i >= BLOCK; i += BLOCK)
            for (size_t k = 0; k < BLOCK; k++)
                values[i + k] = rounded_to_float16(values[i + k]);
        for (; i < count; i++)
            values[i] = rounded_to_float16(values[i]);
    } else if (precision == PRECISION_BFLOAT16) {
        for (; count - i >= BLOCK; i += BLOCK)
            for (size_t k = 0; k < BLOCK; k++)
                values[i + k] = rounded_to_bfloat16(values[i + k]);
        for (; i < count; i++)
            values[i] = rounded_to_bfloat16(values[i]);
    }
}

static void quantize_floats(float scale, float limit, float *values, size_t count)
{
    size_t i = 0;

    for (; count - i >= BLOCK; i += BLOCK)
        for (size_t k = 0; k < BLOCK; k++)
            values[i + k] = quantize_float(values[i + k], scale, limit);
    for (; i < count; i++)
        values[i] = quantize_float(values[i], scale, limit);
}

void precision_quantize(float scale, float *values, size_t count)
{
    quantize_floats(scale, 128, values, count);
}

/* ---- What is rounded ---- */

static bool value_is_float32(const struct network *network, uint32_t value)
{
    return value != VALUE_NONE && network_type(network, value) == DATA_FLOAT32;
}

static bool layer_has_float32(const struct network *network, const struct layer *layer)
{
    for (size_t i = 0; i < layer->inputs.count; i++)
        if (value_is_float32(network, layer->inputs.items[i]))
            return true;
    for (size_t i = 0; i < layer->outputs.count; i++)
        if (value_is_float32(network, layer->outputs.items[i]))
            return true;
    return false;
}

static bool network_value_is_constant(const struct network *network, uint32_t value)
{
    return value != VALUE_NONE && network->model->values.items[value].initializer != INITIALIZER_NONE;
}

static bool layer_has_int8_form(const struct network *network, const struct layer *layer)
{
    return (layer->kind == LAYER_CONVOLUTION || layer->kind == LAYER_DECONVOLUTION || layer->kind == LAYER_MATMUL) &&
           layer->inputs.count >= 2 && value_is_float32(network, layer->inputs.items[0]) &&
           value_is_float32(network, layer->inputs.items[1]) &&
           network_value_is_constant(network, layer->inputs.items[1]);
}

static bool layer_has_half_form(const struct network *network, const struct layer *layer)
{
    const struct model *model = network->model;

    for (size_t i = 0; i < layer->nodes.count; i++)
        if (!node_takes_half(model, &model->nodes.items[layer->nodes.items[i]], DATA_FLOAT16))
            return false;
    return true;
}

bool precision_eligible(const struct network *network, const struct layer *layer, enum precision precision)
{
    if (precision == PRECISION_FLOAT32)
        return layer_has_float32(network, layer);
    if (layer->moves_data || !layer_has_float32(network, layer))
        return false;
    if (precision == PRECISION_INT8)
        return layer_has_int8_form(network, layer);
    return precision == PRECISION_TF32 || layer_has_half_form(network, layer);
}

static const struct node *first_layer_node(const struct network *network, const struct layer *layer)
{
    return &network->model->nodes.items[layer->nodes.items[0]];
}

bool precision_narrows_input(const struct network *network, const struct layer *layer, size_t input,
                             enum precision precision)
{
    if (precision == PRECISION_FLOAT32 || precision == PRECISION_TF32 ||
        !value_is_float32(network, layer->inputs.items[input]))
        return false;
    if (precision == PRECISION_INT8)
        return input < 2;
    if (input == 0)
        return true;
    return !node_is(first_layer_node(network, layer), "Resize") &&
           !node_is(first_layer_node(network, layer), "Upsample");
}

/* ---- Constants ---- */

/* The dimension of a weight with the output channels. */
static size_t find_weight_channel_axis(const struct network *network, const struct layer *layer,
                                       const struct shape *shape)
{
    if (layer->kind == LAYER_CONVOLUTION)
        return 0; /* M x C/groups x kernel */
    if (layer->kind == LAYER_DECONVOLUTION)
        return 1; /* C x M/groups x kernel */
    const struct node *node = first_layer_node(network, layer);
    if (node_is(node, "Gemm") && node_attribute_integer(node->message, "transB", 0) != 0)
        return 0;
    return shape->rank - 1;
}

/* A weight as consecutive blocks of `inner` elements, which belong to channels 0, 1, ..., count - 1, 0, ... */
struct channels {
    size_t count, inner, blocks;
};

static struct channels weight_channels_of(const struct shape *shape, size_t axis)
{
    struct channels ret = {.count = (size_t)shape->dims[axis], .inner = 1, .blocks = 1};

    for (size_t i = 0; i < shape->rank; i++) {
        if (i > axis)
            ret.inner *= (size_t)shape->dims[i];
        else
            ret.blocks *= (size_t)shape->dims[i];
    }
    return ret;
}

static float add_largest_finite(const float *values, size_t count, float so_far)
{
    for (size_t i = 0; i < count; i++) {
        float magnitude = fabsf(values[i]);
        so_far = isfinite(magnitude) && magnitude > so_far ? magnitude : so_far;
    }
    return so_far;
}

static void quantize_channel(const struct channels *channels, size_t channel, float *values)
{
    float largest = 0;

    for (size_t block = channel; block < channels->blocks; block += channels->count)
        largest = add_largest_finite(values + block * channels->inner, channels->inner, largest);
    /* A subnormal scale cannot represent 127 distinct steps: such small values become 0. */
    float scale = fmaxf(largest / 127, 0x1p-126F);
    for (size_t block = channel; block < channels->blocks; block += channels->count)
        quantize_floats(scale, 127, values + block * channels->inner, channels->inner);
}

static void quantize_weight(const struct network *network, const struct layer *layer, struct tensor *weight)
{
    struct channels channels;

    if (weight->shape.rank == 0 || tensor_elements(weight) == 0)
        return;
    size_t axis = find_weight_channel_axis(network, layer, &weight->shape);
    if (weight->shape.rank == 1 || axis >= weight->shape.rank) /* a vector has one channel */
        channels = (struct channels){.count = 1, .inner = tensor_elements(weight), .blocks = 1};
    else
        channels = weight_channels_of(&weight->shape, axis);
    for (size_t i = 0; i < channels.count; i++)
        quantize_channel(&channels, i, tensor_writable(weight));
}

int precision_constant(const struct network *network, const struct layer *layer, size_t input, enum precision precision,
                       struct tensor *constant, struct error *err)
{
    struct tensor copy;

    if (constant->type != DATA_FLOAT32 || !precision_narrows_input(network, layer, input, precision) ||
        (precision == PRECISION_INT8 && input != 1))
        return 0;
    int rc = tensor_copy(constant, &copy, err);
    if (rc < 0)
        return rc;
    if (precision == PRECISION_INT8)
        quantize_weight(network, layer, &copy);
    else
        precision_round(precision, tensor_writable(&copy), tensor_elements(&copy));
    if (memcmp(copy.data, constant->data, constant->size) == 0) {
        tensor_release(&copy);
        return 0;
    }
    tensor_release(constant);
    *constant = copy;
    return 0;
}
