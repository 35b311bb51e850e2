/* engine/onednn/operators/convolution.c: Conv and ConvTranspose. See engine/onednn/onednn.h. */
#include <string.h>

#include "engine/onednn/onednn.h"
#include "onnx/proto/node_attribute.h"

enum { INPUT, WEIGHTS, BIAS };

/* The shapes of one convolution. */
struct convolution {
    size_t rank; /* of the spatial dimensions */
    int64_t groups;
    const int64_t *input;  /* spatial sizes */
    const int64_t *kernel; /* likewise */
    int64_t batch, input_channels, output_channels;
    int64_t weights[ONEDNN_MAX_RANK], weight_strides[ONEDNN_MAX_RANK]; /* in oneDNN's view */
    size_t weights_rank;
};

/* Weights of a convolution are (outputs, inputs / groups, ...), of a transposed one (inputs, outputs / groups, ...).
 * For oneDNN both are ([groups,] outputs / groups, inputs / groups, ...). */
static void view_weights(struct convolution *ret, bool transposed, int64_t first, int64_t second)
{
    int64_t kernel_size = 1;
    size_t at = 0;

    for (size_t i = ret->rank; i-- > 0;) {
        ret->weights[ret->weights_rank - ret->rank + i] = ret->kernel[i];
        ret->weight_strides[ret->weights_rank - ret->rank + i] = kernel_size;
        kernel_size *= ret->kernel[i];
    }
    first /= ret->groups;
    if (ret->groups > 1) {
        ret->weights[at] = ret->groups;
        ret->weight_strides[at++] = first * second * kernel_size;
    }
    ret->weights[at] = transposed ? second : first;
    ret->weight_strides[at++] = transposed ? kernel_size : second * kernel_size;
    ret->weights[at] = transposed ? first : second;
    ret->weight_strides[at] = transposed ? second * kernel_size : kernel_size;
}

/* The attribute may be omitted, but must not contradict the weights. */
static bool kernel_is_as_said(const struct onednn_attempt *attempt, const struct convolution *convolution)
{
    int64_t said[ONEDNN_MAX_RANK];
    size_t count = node_attribute_integers(onednn_node(attempt), "kernel_shape", said, convolution->rank);

    return count == 0 ||
           (count == convolution->rank && memcmp(said, convolution->kernel, convolution->rank * sizeof(*said)) == 0);
}

static bool read_convolution_shapes(const struct onednn_attempt *attempt, bool transposed, struct convolution *ret)
{
    const struct shape *input = &attempt->request->inputs[INPUT].shape;
    const struct shape *weights = &attempt->request->inputs[WEIGHTS].shape;
    int64_t first, second;

    if (!onednn_has_input(attempt, INPUT) || !onednn_has_input(attempt, WEIGHTS) || input->rank < 3 ||
        input->rank > 5 || weights->rank != input->rank)
        return false;
    first = weights->dims[0];
    second = weights->dims[1];
    *ret = (struct convolution){.rank = input->rank - 2,
                                .groups = node_attribute_integer(onednn_node(attempt), "group", 1),
                                .input = input->dims + 2,
                                .kernel = weights->dims + 2,
                                .batch = input->dims[0],
                                .input_channels = input->dims[1]};
    if (ret->groups < 1 || ret->input_channels < 1 || first < 1 || second < 1 || first % ret->groups != 0 ||
        second > INT64_MAX / ret->groups)
        return false;
    ret->output_channels = transposed ? second * ret->groups : first;
    if (ret->input_channels != (transposed ? first : second * ret->groups) || !kernel_is_as_said(attempt, ret))
        return false;
    ret->weights_rank = input->rank + (ret->groups > 1 ? 1 : 0);
    view_weights(ret, transposed, first, second);
    return true;
}

/* Operands of fused operations follow the node's inputs, so the third input need not be the bias. */
static bool convolution_has_bias(const struct onednn_attempt *attempt)
{
    const struct model *model = attempt->request->network->model;

    return model->nodes.items[attempt->request->layer->nodes.items[0]].inputs.count > BIAS &&
           onednn_has_input(attempt, BIAS);
}

static bool use_convolution_bias(struct onednn_attempt *attempt, const struct convolution *convolution)
{
    const struct shape *shape = &attempt->request->inputs[BIAS].shape;
    struct onednn_view view = {.rank = 1, .dims = shape->dims};

    return shape->rank == 1 && shape->dims[0] == convolution->output_channels &&
           onednn_use_view(attempt, BIAS, ONEDNN_ARG_BIAS, &view, &attempt->computation.bias);
}

/* Run-time weights are row-major; constant ones are packed. */
static bool use_convolution_tensors(struct onednn_attempt *attempt, const struct convolution *convolution)
{
    struct onednn_computation *computation = &attempt->computation;
    struct onednn_view weights = {convolution->weights_rank, convolution->weights, convolution->weight_strides,
                                  .pack = true};
    struct shape target = {.rank = convolution->rank + 2, .dims = {convolution->batch, convolution->output_channels}};

    memcpy(target.dims + 2, computation->window.output, convolution->rank * sizeof(*target.dims));
    return onednn_use_input(attempt, INPUT, ONEDNN_ARG_SRC, &computation->source) &&
           onednn_use_view(attempt, WEIGHTS, ONEDNN_ARG_WEIGHTS, &weights, &computation->second) &&
           (!convolution_has_bias(attempt) || use_convolution_bias(attempt, convolution)) &&
           onednn_use_output(attempt, ONEDNN_ARG_DST, &target, &computation->target) && onednn_fuse(attempt);
}

static bool describe_convolution(struct onednn_attempt *attempt)
{
    static const enum onednn_algorithm algorithms[] = {ONEDNN_CONVOLUTION_DIRECT, ONEDNN_CONVOLUTION_WINOGRAD};
    struct onednn_window *window = &attempt->computation.window;
    struct convolution convolution;

    attempt->computation.primitive = ONEDNN_CONVOLUTION;
    attempt->computation.algorithm = algorithms[attempt->variant];
    return text_equal_string(onednn_operator(attempt), "Conv") &&
           read_convolution_shapes(attempt, false, &convolution) &&
           onednn_window(attempt, convolution.rank, convolution.input, convolution.kernel, window) &&
           use_convolution_tensors(attempt, &convolution);
}

/* Winograd needs no variant name: its implementations have distinct names. */
static const char *const convolution_variants[] = {"", "", NULL};

const struct onednn_operation onednn_convolution = {
    .kind = LAYER_CONVOLUTION,
    .layouts = ONEDNN_LAYOUTS_ANY | ONEDNN_LAYOUTS_PLAIN | ONEDNN_LAYOUTS_CHANNELS_LAST,
    .variants = convolution_variants,
    .describe = describe_convolution,
};

/* ---- transposed ---- */

/* The output size follows from the padding; output_shape and auto_pad, which determine the padding, are not supported
 * here. output_padding is expressed as less padding at the end. */
static bool transposed_window(const struct onednn_attempt *attempt, const struct convolution *convolution,
                              struct onednn_window *ret)
{
    static const int64_t largest = INT32_MAX;
    struct span node = onednn_node(attempt), message;
    int64_t extra[ONEDNN_MAX_RANK] = {0}, ones[ONEDNN_MAX_RANK];
    size_t extra_count;

    if (node_attribute_find(node, "output_shape", &message) ||
        !text_equal_string(node_attribute_text_or(node, "auto_pad", "NOTSET"), "NOTSET"))
        return false;
    for (size_t i = 0; i < convolution->rank; i++)
        ones[i] = largest; /* the window's check of the input does not apply */
    if (!onednn_window(attempt, convolution->rank, ones, convolution->kernel, ret))
        return false;
    extra_count = node_attribute_integers(node, "output_padding", extra, convolution->rank);
    if (extra_count != 0 && extra_count != convolution->rank)
        return false;
    for (size_t i = 0; i < convolution->rank; i++) {
        int64_t reach = (ret->kernel[i] - 1) * (ret->dilations[i] + 1) + 1;

        if (extra[i] < 0 || extra[i] > largest || convolution->input[i] < 1 || convolution->input[i] > largest)
            return false;
        ret->after[i] -= extra[i];
        ret->output[i] = (convolution->input[i] - 1) * ret->strides[i] + reach - ret->before[i] - ret->after[i];
        if (ret->output[i] < 1)
            return false;
    }
    return true;
}

static bool describe_deconvolution(struct onednn_attempt *attempt)
{
    static const enum onednn_algorithm algorithms[] = {ONEDNN_DECONVOLUTION_DIRECT, ONEDNN_DECONVOLUTION_WINOGRAD};
    struct convolution convolution;

    attempt->computation.primitive = ONEDNN_DECONVOLUTION;
    attempt->computation.algorithm = algorithms[attempt->variant];
    return text_equal_string(onednn_operator(attempt), "ConvTranspose") &&
           read_convolution_shapes(attempt, true, &convolution) &&
           transposed_window(attempt, &convolution, &attempt->computation.window) &&
           use_convolution_tensors(attempt, &convolution);
}

const struct onednn_operation onednn_deconvolution = {
    .kind = LAYER_DECONVOLUTION,
    .layouts = ONEDNN_LAYOUTS_ANY | ONEDNN_LAYOUTS_PLAIN | ONEDNN_LAYOUTS_CHANNELS_LAST,
    .variants = convolution_variants,
    .describe = describe_deconvolution,
};
