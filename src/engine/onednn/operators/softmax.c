/* engine/onednn/operators/softmax.c: Softmax and LogSoftmax, by oneDNN. */
#include "engine/onednn/onnx.h"

#include <string.h>

static bool describe(struct onednn_attempt *attempt)
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
    if (flattens) { /* to a matrix whose rows are all dimensions from the axis on */
        int64_t dims[2] = {onednn_product(shape, 0, axis), onednn_product(shape, axis, shape->rank)};

        computation->axis = 1;
        return onednn_use_view(attempt, 0, ONEDNN_ARG_SRC, 2, dims, NULL, false, &computation->source) &&
               onednn_use_output_view(attempt, ONEDNN_ARG_DST, shape, 2, dims, &computation->target);
    }
    computation->axis = (int)axis;
    return onednn_use_input(attempt, 0, ONEDNN_ARG_SRC, &computation->source) &&
           onednn_use_output_like(attempt, ONEDNN_ARG_DST, shape, 0, &computation->target);
}

/* The vectorized implementations make numbers of NaN and of infinity. The other one of 2.6 takes the stride of the
 * dimension before the axis for the distance of its rows, which that of a single channel is not when it lies last. */
static bool accepts(const struct onednn_attempt *attempt, const char *implementation)
{
    const struct onednn_memory_desc *source = &attempt->computation.source;
    bool one_channel = source->shape.rank > 2 && source->shape.dims[1] == 1;

    return strcmp(implementation, "ref:any") == 0 &&
           (!one_channel || source->kind != ONEDNN_MEMORY_LAYOUT || layout_is_row_major(&source->layout));
}

const struct onednn_operation onednn_softmax = {
    .kind = LAYER_SOFTMAX,
    .layouts = ONEDNN_LAYOUTS_AS_IS | ONEDNN_LAYOUTS_PLAIN,
    .describe = describe,
    .accepts = accepts,
};
