/* engine/onednn/operators/normalization.c: BatchNormalization, LayerNormalization, LRN, Softmax and LogSoftmax, by
 * oneDNN.
 */
#include "engine/onednn/onnx.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

/* ---- Batches, with given statistics ---- */

/* If the statistics are constants there are two variants: batch normalization, or ("scale") a product and a sum for
 * each channel, which is several times faster for row-major tensors. */
enum { VARIANT_NORMALIZATION, VARIANT_SCALE };

static const char *const batch_variants[] = {
    [VARIANT_NORMALIZATION] = "", [VARIANT_SCALE] = "scale", [VARIANT_SCALE + 1] = NULL};

/* Inputs 1 to 4: scale, bias, mean, variance of each channel. */
static bool normalization_is_inference(const struct onednn_attempt *attempt)
{
    const struct kernel_input *inputs = attempt->request->inputs;
    size_t rank = inputs[0].shape.rank;

    if (!onednn_is_ordinary(attempt) || rank < 2 || rank > 5 || attempt->request->layer->inputs.count < 5)
        return false;
    for (size_t i = 1; i < 5; i++)
        if (!onednn_has_input(attempt, i) || inputs[i].type != DATA_FLOAT32 || inputs[i].shape.rank != 1 ||
            inputs[i].shape.dims[0] != inputs[0].shape.dims[1])
            return false;
    /* Before version 7, and with spatial = 0, the operator had a different definition. */
    return onednn_opset(attempt) >= 7 && onednn_integer(attempt, "training_mode", 0) == 0 &&
           onednn_integer(attempt, "spatial", 1) == 1;
}

static bool describe_batch_as_is(struct onednn_attempt *attempt)
{
    static const int args[] = {ONEDNN_ARG_SRC, ONEDNN_ARG_SCALE, ONEDNN_ARG_SHIFT, ONEDNN_ARG_MEAN,
                               ONEDNN_ARG_VARIANCE};
    struct onednn_computation *computation = &attempt->computation;
    struct onednn_memory_desc parameter;

    computation->primitive = ONEDNN_BATCH_NORMALIZATION;
    computation->epsilon = onednn_float(attempt, "epsilon", 1e-5f);
    computation->has_scale = computation->has_shift = true;
    if (!onednn_use_input(attempt, 0, args[0], &computation->source))
        return false;
    for (size_t i = 1; i < ARRAY_LEN(args); i++)
        if (!onednn_use_input_in(attempt, i, args[i], "", &parameter))
            return false;
    return onednn_use_output_like(attempt, ONEDNN_ARG_DST, &attempt->request->inputs[0].shape, 0,
                                  &computation->target) &&
           onednn_fuse(attempt);
}

static double read_float_element(const struct kernel_input *input, size_t i)
{
    float value;

    memcpy(&value, (const char *)input->constant + i * sizeof(value), sizeof(value)); /* may be unaligned */
    return (double)value;
}

/* The factor of each channel, or its addend. */
static float *channel_values(const struct onednn_attempt *attempt, bool added)
{
    const struct kernel_input *inputs = attempt->request->inputs;
    size_t count = (size_t)inputs[0].shape.dims[1];
    double epsilon = (double)onednn_float(attempt, "epsilon", 1e-5f);
    float *values = memory_alloc(count * sizeof(*values));

    for (size_t i = 0; i < count; i++) {
        double factor = read_float_element(&inputs[1], i) / sqrt(read_float_element(&inputs[4], i) + epsilon);

        values[i] =
            (float)(added ? read_float_element(&inputs[2], i) - read_float_element(&inputs[3], i) * factor : factor);
    }
    return values;
}

/* Uses a constant with one element for each channel, in the layout of `like`. */
static bool use_channel_values(struct onednn_attempt *attempt, int arg, float *values,
                               const struct onednn_memory_desc *like, struct onednn_memory_desc *ret)
{
    struct shape shape = {.rank = like->shape.rank};
    struct onednn_view view = {.rank = shape.rank, .dims = shape.dims, .pack = true};

    for (size_t i = 0; i < shape.rank; i++)
        shape.dims[i] = i == 1 ? like->shape.dims[1] : 1;
    return onednn_use_values(attempt, arg, &view, values, ret) && like->kind == ONEDNN_MEMORY_LAYOUT &&
           onednn_memory_of(&like->layout, &shape, ret);
}

static bool describe_batch_as_scale(struct onednn_attempt *attempt)
{
    const struct kernel_input *inputs = attempt->request->inputs;
    struct onednn_computation *computation = &attempt->computation;
    struct onednn_memory_desc *source = &computation->source, offsets;

    for (size_t i = 1; i < 5; i++)
        if (!inputs[i].constant)
            return false;
    computation->primitive = ONEDNN_BINARY;
    computation->algorithm = ONEDNN_BINARY_MUL;
    if (!onednn_use_input(attempt, 0, ONEDNN_ARG_SRC, source) ||
        !use_channel_values(attempt, ONEDNN_ARG_SRC_1, channel_values(attempt, false), source, &computation->second) ||
        !use_channel_values(attempt, onednn_next_operand(attempt), channel_values(attempt, true), source, &offsets) ||
        !onednn_use_output_like(attempt, ONEDNN_ARG_DST, &inputs[0].shape, 0, &computation->target))
        return false;
    onednn_append_binary(attempt, ONEDNN_BINARY_ADD, &offsets);
    return onednn_fuse(attempt);
}

static bool describe_batch(struct onednn_attempt *attempt)
{
    return normalization_is_inference(attempt) &&
           (attempt->variant == VARIANT_SCALE ? describe_batch_as_scale(attempt) : describe_batch_as_is(attempt));
}

/* For single pixels, the vectorized implementation of 2.6 adds the first channel's number to all channels. See also
 * elementwise.c. */
static bool accepts_batch(const struct onednn_attempt *attempt, const char *implementation)
{
    return attempt->variant != VARIANT_SCALE || strcmp(implementation, "ref:any") == 0 ||
           (onednn_fills_vectors(&attempt->output) && !onednn_is_one_pixel(&attempt->output_shape));
}

const struct onednn_operation onednn_batch_normalization = {
    .kind = LAYER_BATCH_NORMALIZATION,
    .layouts = ONEDNN_LAYOUTS_AS_IS | ONEDNN_LAYOUTS_PLAIN,
    .variants = batch_variants,
    .describe = describe_batch,
    .accepts = accepts_batch,
};

/* ---- Over the last dimensions ---- */

/* Scale or bias: one element for each position of the normalized dimensions. */
static bool use_parameter(struct onednn_attempt *attempt, size_t position, int arg, size_t axis, int64_t length)
{
    const struct shape *shape = &attempt->request->inputs[0].shape;
    const struct shape *own = &attempt->request->inputs[position].shape;
    struct onednn_memory_desc memory;

    if (own->rank != shape->rank - axis)
        return false; /* ONNX allows broadcasting here, oneDNN does not */
    for (size_t i = 0; i < own->rank; i++)
        if (own->dims[i] != shape->dims[axis + i])
            return false;
    return onednn_use_view(attempt, position, arg, &(struct onednn_view){1, &length, NULL, false}, &memory);
}

static bool describe_layer(struct onednn_attempt *attempt)
{
    const struct shape *shape = &attempt->request->inputs[0].shape;
    struct onednn_computation *computation = &attempt->computation;
    int64_t dims[2];
    struct onednn_view rows = {.rank = 2, .dims = dims};
    size_t axis;

    if (!onednn_is_ordinary(attempt) || !onednn_axis(onednn_integer(attempt, "axis", -1), shape->rank, &axis) ||
        onednn_integer(attempt, "stash_type", DATA_FLOAT32) != DATA_FLOAT32)
        return false;
    computation->primitive = ONEDNN_LAYER_NORMALIZATION;
    computation->epsilon = onednn_float(attempt, "epsilon", 1e-5f);
    computation->has_scale = true;
    computation->has_shift = onednn_has_input(attempt, 2);
    dims[0] = onednn_product(shape, 0, axis);
    dims[1] = onednn_product(shape, axis, shape->rank);
    return onednn_use_view(attempt, 0, ONEDNN_ARG_SRC, &rows, &computation->source) && onednn_has_input(attempt, 1) &&
           use_parameter(attempt, 1, ONEDNN_ARG_SCALE, axis, dims[1]) &&
           (!computation->has_shift || use_parameter(attempt, 2, ONEDNN_ARG_SHIFT, axis, dims[1])) &&
           onednn_use_output_view(attempt, ONEDNN_ARG_DST, shape, &rows, &computation->target);
}

const struct onednn_operation onednn_layer_normalization = {
    .kind = LAYER_LAYER_NORMALIZATION,
    .layouts = ONEDNN_LAYOUTS_PLAIN,
    .describe = describe_layer,
};

/* ---- Across channels ---- */

static bool describe_lrn(struct onednn_attempt *attempt)
{
    const struct shape *shape = &attempt->request->inputs[0].shape;
    struct onednn_computation *computation = &attempt->computation;
    int64_t size = onednn_integer(attempt, "size", 0);

    /* For an even size, ONNX's window extends farther up than down; oneDNN uses the next smaller odd size. */
    if (!onednn_is_ordinary(attempt) || shape->rank < 2 || shape->rank > 5 || size < 1 || size % 2 != 1)
        return false;
    computation->primitive = ONEDNN_LRN;
    computation->algorithm = ONEDNN_LRN_ACROSS_CHANNELS;
    computation->size = size;
    computation->alpha = onednn_float(attempt, "alpha", 1e-4f);
    computation->beta = onednn_float(attempt, "beta", 0.75f);
    computation->k = onednn_float(attempt, "bias", 1.0f);
    return onednn_use_input(attempt, 0, ONEDNN_ARG_SRC, &computation->source) &&
           onednn_use_output_like(attempt, ONEDNN_ARG_DST, shape, 0, &computation->target);
}

const struct onednn_operation onednn_lrn = {
    .kind = LAYER_LRN,
    .layouts = ONEDNN_LAYOUTS_AS_IS | ONEDNN_LAYOUTS_PLAIN,
    .describe = describe_lrn,
};

/* ---- Softmax ---- */

static bool describe_softmax(struct onednn_attempt *attempt)
{
    const struct shape *shape = &attempt->request->inputs[0].shape;
    bool flattens = onednn_opset(attempt) < 13;
    struct onednn_computation *computation = &attempt->computation;
    size_t axis;

    computation->primitive = ONEDNN_SOFTMAX;
    computation->algorithm = text_equal_string(onednn_operator(attempt), "Softmax")      ? ONEDNN_SOFTMAX_ACCURATE
                             : text_equal_string(onednn_operator(attempt), "LogSoftmax") ? ONEDNN_SOFTMAX_LOG
                                                                                         : ONEDNN_NO_ALGORITHM;
    if (!computation->algorithm || !onednn_is_ordinary(attempt) ||
        !onednn_axis(onednn_integer(attempt, "axis", flattens ? 1 : -1), shape->rank, &axis))
        return false;
    if (flattens) { /* to a matrix whose rows contain all dimensions from the axis on */
        int64_t dims[2] = {onednn_product(shape, 0, axis), onednn_product(shape, axis, shape->rank)};
        struct onednn_view rows = {.rank = 2, .dims = dims};

        computation->axis = 1;
        return onednn_use_view(attempt, 0, ONEDNN_ARG_SRC, &rows, &computation->source) &&
               onednn_use_output_view(attempt, ONEDNN_ARG_DST, shape, &rows, &computation->target);
    }
    computation->axis = (int)axis;
    return onednn_use_input(attempt, 0, ONEDNN_ARG_SRC, &computation->source) &&
           onednn_use_output_like(attempt, ONEDNN_ARG_DST, shape, 0, &computation->target);
}

/* The vectorized implementations return numbers for NaN and infinity. The other one of 2.6 uses the stride of the
 * dimension before the axis as row distance, which is wrong for a single channel in channels-last layouts. */
static bool accepts_softmax(const struct onednn_attempt *attempt, const char *implementation)
{
    const struct onednn_memory_desc *source = &attempt->computation.source;
    bool one_channel = source->shape.rank > 2 && source->shape.dims[1] == 1;

    return strcmp(implementation, "ref:any") == 0 &&
           (!one_channel || source->kind != ONEDNN_MEMORY_LAYOUT || layout_is_row_major(&source->layout));
}

const struct onednn_operation onednn_softmax = {
    .kind = LAYER_SOFTMAX,
    .layouts = ONEDNN_LAYOUTS_AS_IS | ONEDNN_LAYOUTS_PLAIN,
    .describe = describe_softmax,
    .accepts = accepts_softmax,
};
