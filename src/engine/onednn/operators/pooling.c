/* engine/onednn/operators/pooling.c: MaxPool, AveragePool and their global forms, by oneDNN.
 *
 * The maximum of values with NaN depends on the position in the window, as in ONNX Runtime; the maximum of only minus
 * infinity is the smallest finite number, as in ONNX Runtime's global pooling.
 */
#include "engine/onednn/onnx.h"

#include "onnx/proto/node_attribute.h"

#define MAX_SPATIAL 3

static enum onednn_algorithm find_pooling_algorithm(const struct onednn_attempt *attempt, bool *ret_global)
{
    struct text op = onednn_operator(attempt);

    *ret_global = text_equal_string(op, "GlobalMaxPool") || text_equal_string(op, "GlobalAveragePool");
    if (text_equal_string(op, "GlobalMaxPool") || text_equal_string(op, "MaxPool"))
        return ONEDNN_POOLING_MAX;
    if (text_equal_string(op, "GlobalAveragePool"))
        return ONEDNN_POOLING_AVG_INCLUDE_PADDING; /* no padding */
    if (text_equal_string(op, "AveragePool"))
        return onednn_integer(attempt, "count_include_pad", 0) ? ONEDNN_POOLING_AVG_INCLUDE_PADDING
                                                               : ONEDNN_POOLING_AVG_EXCLUDE_PADDING;
    return ONEDNN_NO_ALGORITHM;
}

static void set_global_window(size_t rank, const int64_t *input, struct onednn_window *ret)
{
    *ret = (struct onednn_window){0};
    for (size_t i = 0; i < rank; i++) {
        ret->kernel[i] = input[i];
        ret->strides[i] = ret->output[i] = 1;
    }
}

/* The extent of a window along one axis, including dilation. */
static int64_t window_reach(const struct onednn_window *window, size_t axis)
{
    return (window->kernel[axis] - 1) * (window->dilations[axis] + 1) + 1;
}

/* ceil_mode: one more window if input would be left over, unless it would start in the trailing padding (ONNX,
 * AveragePool and MaxPool). The part beyond the padding is additional padding for oneDNN; then `ret_beyond` is set. */
static void round_up(const struct onednn_attempt *attempt, size_t rank, const int64_t *input,
                     struct onednn_window *window, bool *ret_beyond)
{
    struct text padding = onednn_string(attempt, "auto_pad", "NOTSET");

    if (text_equal_string(padding, "SAME_UPPER") || text_equal_string(padding, "SAME_LOWER"))
        return; /* sizes are determined by the attribute */
    for (size_t i = 0; i < rank; i++) {
        int64_t left = input[i] + window->before[i] + window->after[i] - window_reach(window, i);
        int64_t windows = left < 0 ? 0 : (left + window->strides[i] - 1) / window->strides[i] + 1;

        if (windows > 0 && (windows - 1) * window->strides[i] >= input[i] + window->before[i])
            windows--;
        if (windows <= window->output[i])
            continue;
        window->output[i] = windows;
        window->after[i] = (windows - 1) * window->strides[i] + window_reach(window, i) - input[i] - window->before[i];
        *ret_beyond = true;
    }
}

/* Whether all windows contain an input element: other results are undefined. */
static bool windows_hold_input(const struct onednn_window *window, size_t rank, const int64_t *input)
{
    for (size_t i = 0; i < rank; i++) {
        for (int64_t at = 0; at < window->output[i]; at++) {
            int64_t position = at * window->strides[i] - window->before[i], step = window->dilations[i] + 1;
            int64_t skipped = position < 0 ? (step - 1 - position) / step : 0;

            if (skipped >= window->kernel[i] || position + skipped * step >= input[i])
                return false;
        }
    }
    return true;
}

static bool find_pooling_window(const struct onednn_attempt *attempt, bool global, enum onednn_algorithm algorithm,
                                struct onednn_window *ret)
{
    const struct shape *shape = &attempt->request->inputs[0].shape;
    const int64_t *input = shape->dims + 2;
    size_t rank = shape->rank - 2;
    int64_t kernel[MAX_SPATIAL];
    bool beyond = false;

    if (global) {
        set_global_window(rank, input, ret);
        return true;
    }
    if (node_attribute_integers(onednn_node(attempt), "kernel_shape", kernel, rank) != rank ||
        !onednn_window(attempt, rank, input, kernel, ret))
        return false;
    if (onednn_integer(attempt, "ceil_mode", 0))
        round_up(attempt, rank, input, ret, &beyond);
    /* oneDNN would count elements beyond the padding, ONNX does not. */
    if (beyond && algorithm == ONEDNN_POOLING_AVG_INCLUDE_PADDING)
        return false;
    return windows_hold_input(ret, rank, input);
}

static bool describe_pooling(struct onednn_attempt *attempt)
{
    const struct shape *shape = &attempt->request->inputs[0].shape;
    struct onednn_computation *computation = &attempt->computation;
    bool global;
    enum onednn_algorithm algorithm = find_pooling_algorithm(attempt, &global);
    struct shape pooled = *shape;

    if (!algorithm || !onednn_is_ordinary(attempt) || shape->rank < 3 || shape->rank > 2 + MAX_SPATIAL ||
        !find_pooling_window(attempt, global, algorithm, &computation->window))
        return false;
    computation->primitive = ONEDNN_POOLING;
    computation->algorithm = algorithm;
    for (size_t i = 2; i < shape->rank; i++)
        pooled.dims[i] = computation->window.output[i - 2];
    return onednn_use_input(attempt, 0, ONEDNN_ARG_SRC, &computation->source) &&
           onednn_use_output_like(attempt, ONEDNN_ARG_DST, &pooled, 0, &computation->target);
}

const struct onednn_operation onednn_pooling = {
    .kind = LAYER_POOLING,
    .layouts = ONEDNN_LAYOUTS_AS_IS | ONEDNN_LAYOUTS_PLAIN,
    .describe = describe_pooling,
};
