/* engine/onednn/operators/batch_normalization.c: batch normalization with given statistics, by oneDNN.
 *
 * Where these are constants it can be computed in two ways: as what it is, or ("scale") as a product and a sum for each
 * channel, which is several times as fast for row-major tensors.
 */
#include "engine/onednn/onnx.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

enum { VARIANT_NORMALIZATION, VARIANT_SCALE };

static const char *const variants[] = {
    [VARIANT_NORMALIZATION] = "", [VARIANT_SCALE] = "scale", [VARIANT_SCALE + 1] = NULL};

/* Inputs 1 to 4: scale, bias, mean, variance of each channel. */
static bool is_inference(const struct onednn_attempt *attempt)
{
    const struct kernel_input *inputs = attempt->request->inputs;
    size_t rank = inputs[0].shape.rank;

    if (!onednn_is_ordinary(attempt) || rank < 2 || rank > 5 || attempt->request->layer->inputs.count < 5)
        return false;
    for (size_t i = 1; i < 5; i++)
        if (!onednn_has_input(attempt, i) || inputs[i].type != DATA_FLOAT32 || inputs[i].shape.rank != 1 ||
            inputs[i].shape.dims[0] != inputs[0].shape.dims[1])
            return false;
    /* Before version 7, and with spatial = 0, the operator was another one. */
    return onednn_opset(attempt) >= 7 && onednn_integer(attempt, "training_mode", 0) == 0 &&
           onednn_integer(attempt, "spatial", 1) == 1;
}

static bool describe_normalization(struct onednn_attempt *attempt)
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

static double element(const struct kernel_input *input, size_t i)
{
    float value;

    memcpy(&value, (const char *)input->constant + i * sizeof(value), sizeof(value)); /* need not be aligned */
    return (double)value;
}

/* What each channel is multiplied with, or what is added then. */
static float *channel_values(const struct onednn_attempt *attempt, bool added)
{
    const struct kernel_input *inputs = attempt->request->inputs;
    size_t count = (size_t)inputs[0].shape.dims[1];
    double epsilon = (double)onednn_float(attempt, "epsilon", 1e-5f);
    float *values = memory_alloc(count * sizeof(*values));

    for (size_t i = 0; i < count; i++) {
        double factor = element(&inputs[1], i) / sqrt(element(&inputs[4], i) + epsilon);

        values[i] = (float)(added ? element(&inputs[2], i) - element(&inputs[3], i) * factor : factor);
    }
    return values;
}

/* A constant of one element for each channel, in the layout of `like`. */
static bool use_channels(struct onednn_attempt *attempt, int arg, float *values, const struct onednn_memory_desc *like,
                         struct onednn_memory_desc *ret)
{
    struct shape shape = {.rank = like->shape.rank};

    for (size_t i = 0; i < shape.rank; i++)
        shape.dims[i] = i == 1 ? like->shape.dims[1] : 1;
    return onednn_use_values(attempt, arg, shape.rank, shape.dims, values, true, ret) &&
           like->kind == ONEDNN_MEMORY_LAYOUT && onednn_memory_of(&like->layout, &shape, ret);
}

static bool describe_scale(struct onednn_attempt *attempt)
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
        !use_channels(attempt, ONEDNN_ARG_SRC_1, channel_values(attempt, false), source, &computation->second) ||
        !use_channels(attempt, onednn_next_operand(attempt), channel_values(attempt, true), source, &offsets) ||
        !onednn_use_output_like(attempt, ONEDNN_ARG_DST, &inputs[0].shape, 0, &computation->target))
        return false;
    onednn_append_binary(attempt, ONEDNN_BINARY_ADD, &offsets);
    return onednn_fuse(attempt);
}

static bool describe(struct onednn_attempt *attempt)
{
    return is_inference(attempt) &&
           (attempt->variant == VARIANT_SCALE ? describe_scale(attempt) : describe_normalization(attempt));
}

/* Of a batch of single pixels, the vectorized implementation of 2.6 adds the first channel's number to all channels. As
 * for the rest, see binary.c. */
static bool accepts(const struct onednn_attempt *attempt, const char *implementation)
{
    return attempt->variant != VARIANT_SCALE || strcmp(implementation, "ref:any") == 0 ||
           (onednn_fills_vectors(&attempt->output) && !onednn_is_one_pixel(&attempt->output_shape));
}

const struct onednn_operation onednn_batch_normalization = {
    .kind = LAYER_BATCH_NORMALIZATION,
    .layouts = ONEDNN_LAYOUTS_AS_IS | ONEDNN_LAYOUTS_PLAIN,
    .variants = variants,
    .describe = describe,
    .accepts = accepts,
};
