/* engine/onednn/operators/resize.c: Resize and Upsample, by oneDNN.
 *
 * oneDNN uses the value at (i + 0.5) * input / output - 0.5: the nearest one, halves away from zero, or a linear
 * interpolation. ONNX has many more rules, some of which are equivalent for given sizes. So the positions of both are
 * computed, and there is a tactic only if they are equal.
 */
#include "engine/onednn/onnx.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "onnx/proto/node_attribute.h"

enum nearest { NEAREST_PREFER_FLOOR, NEAREST_PREFER_CEIL, NEAREST_FLOOR, NEAREST_CEIL };
enum coordinates {
    COORDINATES_HALF_PIXEL,
    COORDINATES_PYTORCH,
    COORDINATES_SYMMETRIC,
    COORDINATES_ASYMMETRIC,
    COORDINATES_CORNERS
};

struct resize {
    bool linear;
    bool old; /* without a coordinate transformation mode: Upsample, and Resize of operator set 10 */
    enum nearest nearest;
    enum coordinates coordinates;
    struct shape result;
    float scales[TENSOR_MAX_RANK];
};

static bool choose_word(struct text word, const char *const *words, int *ret)
{
    for (int i = 0; words[i]; i++) {
        if (text_equal_string(word, words[i])) {
            *ret = i;
            return true;
        }
    }
    return false;
}

static bool read_resize_rules(const struct onednn_attempt *attempt, struct resize *ret)
{
    static const char *const nearest[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", NULL};
    static const char *const coordinates[] = {"half_pixel", "pytorch_half_pixel", "half_pixel_symmetric",
                                              "asymmetric", "align_corners",      NULL};
    static const char *const modes[] = {"nearest", "linear", NULL};
    int mode, rounding, rule;

    if (!choose_word(onednn_string(attempt, "mode", "nearest"), modes, &mode) ||
        !choose_word(onednn_string(attempt, "nearest_mode", "round_prefer_floor"), nearest, &rounding) ||
        !choose_word(onednn_string(attempt, "coordinate_transformation_mode", "half_pixel"), coordinates, &rule) ||
        onednn_integer(attempt, "antialias", 0) != 0 || onednn_integer(attempt, "exclude_outside", 0) != 0 ||
        !text_equal_string(onednn_string(attempt, "keep_aspect_ratio_policy", "stretch"), "stretch"))
        return false;
    ret->linear = mode == 1;
    ret->nearest = (enum nearest)rounding;
    ret->coordinates = (enum coordinates)rule;
    ret->old = onednn_opset(attempt) < 11;
    if (ret->old)
        ret->coordinates = COORDINATES_ASYMMETRIC;
    return true;
}

/* In the first version of Upsample the scales are an attribute. */
static bool attribute_scales(const struct onednn_attempt *attempt, float *ret, size_t *ret_count)
{
    struct attribute attribute;
    struct attribute_walk walk;
    float scale;

    if (!node_attribute_read(onednn_node(attempt), "scales", &attribute))
        return false;
    walk = attribute_walk(&attribute);
    for (*ret_count = 0; *ret_count < TENSOR_MAX_RANK && attribute_next_float(&walk, &scale);)
        ret[(*ret_count)++] = scale;
    return true;
}

static bool given_scales(const struct onednn_attempt *attempt, float *ret, size_t *ret_count)
{
    size_t position = onednn_opset(attempt) < 11 ? 1 : 2;
    const struct kernel_input *input = &attempt->request->inputs[position];

    if (!onednn_has_input(attempt, position))
        return attribute_scales(attempt, ret, ret_count);
    *ret_count = shape_elements(&input->shape);
    if (!input->constant || input->type != DATA_FLOAT32 || *ret_count > TENSOR_MAX_RANK)
        return false;
    memcpy(ret, input->constant, *ret_count * sizeof(*ret));
    return *ret_count > 0;
}

/* The dimensions of sizes and scales, in order: all, or given by an attribute. */
static bool resized_axes(const struct onednn_attempt *attempt, size_t rank, size_t count, size_t ret[TENSOR_MAX_RANK])
{
    int64_t axes[TENSOR_MAX_RANK];
    bool seen[TENSOR_MAX_RANK];
    size_t given = node_attribute_integers(onednn_node(attempt), "axes", axes, TENSOR_MAX_RANK);

    if (given == 0) {
        for (size_t i = 0; i < rank; i++)
            ret[i] = i;
        return count == rank;
    }
    if (given != count || given > rank || !onednn_axes(axes, given, rank, seen))
        return false;
    for (size_t i = 0; i < given; i++)
        onednn_axis(axes[i], rank, &ret[i]);
    return true;
}

static bool read_resized_sizes(const struct onednn_attempt *attempt, struct resize *resize)
{
    const struct shape *shape = &attempt->request->inputs[0].shape;
    int64_t sizes[TENSOR_MAX_RANK];
    float scales[TENSOR_MAX_RANK];
    size_t axes[TENSOR_MAX_RANK], count = 0;
    bool by_size = onednn_constant_integers(attempt, 3, sizes, &count) && count > 0;

    if ((!by_size && !given_scales(attempt, scales, &count)) || !resized_axes(attempt, shape->rank, count, axes))
        return false;
    resize->result = *shape;
    for (size_t i = 0; i < shape->rank; i++)
        resize->scales[i] = 1.0f;
    for (size_t i = 0; i < count; i++) {
        int64_t input = shape->dims[axes[i]];
        float scale = by_size ? (float)sizes[i] / (float)input : scales[i];
        float size = by_size ? (float)sizes[i] : floorf((float)input * scale);

        if (!(scale > 0.0f) || !(size >= 1.0f) || size > (float)INT32_MAX)
            return false;
        resize->scales[axes[i]] = scale;
        resize->result.dims[axes[i]] = by_size ? sizes[i] : (int64_t)size;
    }
    return true;
}

static double round_position(double value, bool to_float)
{
    return to_float ? (double)(float)value : value;
}

/* The input position of output element `at` in ONNX, computed in float, as runtimes do, or exactly. */
static double onnx_position(const struct resize *resize, size_t axis, int64_t at, int64_t input, bool in_float)
{
    int64_t output = resize->result.dims[axis];
    double scale = (double)resize->scales[axis], x = (double)at;
    double half_pixel = round_position(round_position((x + 0.5) / scale, in_float) - 0.5, in_float);

    switch (resize->coordinates) {
    case COORDINATES_HALF_PIXEL:
        return half_pixel;
    case COORDINATES_PYTORCH:
        return output > 1 ? half_pixel : 0.0;
    case COORDINATES_SYMMETRIC: {
        double adjustment = (double)output / (scale * (double)input);

        return round_position((double)input / 2.0 * (1.0 - adjustment) + half_pixel, in_float);
    }
    case COORDINATES_ASYMMETRIC:
        return round_position(x / scale, in_float);
    case COORDINATES_CORNERS:
        return output > 1 ? round_position(x * (double)(input - 1) / (double)(output - 1), in_float) : 0.0;
    }
    return NAN;
}

static double onnx_nearest(const struct resize *resize, size_t axis, double position)
{
    if (resize->old)
        return resize->scales[axis] < 1.0f ? ceil(position) : floor(position);
    switch (resize->nearest) {
    case NEAREST_PREFER_FLOOR:
        return ceil(position - 0.5);
    case NEAREST_PREFER_CEIL:
        return floor(position + 0.5);
    case NEAREST_FLOOR:
        return floor(position);
    case NEAREST_CEIL:
        return ceil(position);
    }
    return NAN;
}

/* As oneDNN computes it, in float. */
static float onednn_position(int64_t at, int64_t output, int64_t input)
{
    return ((float)at + 0.5f) * (float)input / (float)output - 0.5f;
}

static double clamp_position(double position, int64_t input)
{
    return fmin(fmax(position, 0.0), (double)(input - 1));
}

static bool positions_agree(const struct resize *resize, size_t axis, int64_t input)
{
    double doubt = 4.0 * (double)FLT_EPSILON * (double)input;

    for (int64_t at = 0; at < resize->result.dims[axis]; at++) {
        double ours = (double)onednn_position(at, resize->result.dims[axis], input);

        for (int in_float = 0; in_float < 2; in_float++) {
            double theirs = onnx_position(resize, axis, at, input, in_float != 0);
            bool same = resize->linear ? fabs(clamp_position(ours, input) - clamp_position(theirs, input)) <= doubt
                                       : clamp_position(round(ours), input) ==
                                             clamp_position(onnx_nearest(resize, axis, theirs), input);

            if (!same)
                return false;
        }
    }
    return true;
}

static bool describe_resize(struct onednn_attempt *attempt)
{
    const struct shape *shape = &attempt->request->inputs[0].shape;
    struct onednn_computation *computation = &attempt->computation;
    struct resize resize;

    if (!onednn_is_ordinary(attempt) || shape->rank < 3 || shape->rank > 5 || !read_resize_rules(attempt, &resize) ||
        !read_resized_sizes(attempt, &resize))
        return false;
    for (size_t i = 0; i < shape->rank; i++)
        if (i < 2 ? resize.result.dims[i] != shape->dims[i] || resize.scales[i] != 1.0f
                  : !positions_agree(&resize, i, shape->dims[i]))
            return false;
    computation->primitive = ONEDNN_RESAMPLING;
    computation->algorithm = resize.linear ? ONEDNN_RESAMPLING_LINEAR : ONEDNN_RESAMPLING_NEAREST;
    return onednn_use_input(attempt, 0, ONEDNN_ARG_SRC, &computation->source) &&
           onednn_use_output_like(attempt, ONEDNN_ARG_DST, &resize.result, 0, &computation->target);
}

/* The slow implementation does not clear the padding of the last block of channels. */
static bool accepts_resize(const struct onednn_attempt *attempt, const char *implementation)
{
    return strcmp(implementation, "ref:any") != 0 || !onednn_is_padded(&attempt->output);
}

const struct onednn_operation onednn_resize = {
    .kind = LAYER_RESIZE,
    .layouts = ONEDNN_LAYOUTS_AS_IS | ONEDNN_LAYOUTS_PLAIN,
    .describe = describe_resize,
    .accepts = accepts_resize,
};
