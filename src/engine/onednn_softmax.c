/* engine/onednn_softmax.c: Softmax and LogSoftmax, by oneDNN. */
#include "engine/onednn_onnx.h"

#include <string.h>

static bool describe(struct onednn_attempt *attempt)
{
    const struct shape *shape = &attempt->request->inputs[0].shape;
    int algorithm = text_equal_string(onednn_operator(attempt), "Softmax")      ? ONEDNN_SOFTMAX_ACCURATE
                    : text_equal_string(onednn_operator(attempt), "LogSoftmax") ? ONEDNN_SOFTMAX_LOG
                                                                                : 0;
    bool flattens = onednn_opset(attempt) < 13;
    struct onednn_memory_desc source, target;
    size_t axis;

    if (!algorithm || !onednn_is_ordinary(attempt) ||
        !onednn_axis(onednn_integer(attempt, "axis", flattens ? 1 : -1), shape->rank, &axis))
        return false;
    if (flattens) { /* to a matrix whose rows are all dimensions from the axis on */
        int64_t dims[2] = {onednn_product(shape, 0, axis), onednn_product(shape, axis, shape->rank)};

        if (!onednn_use_view(attempt, 0, ONEDNN_ARG_SRC, 2, dims, NULL, false, &source) ||
            !onednn_use_output_view(attempt, ONEDNN_ARG_DST, shape, 2, dims, &target))
            return false;
        axis = 1;
    } else if (!onednn_use_input(attempt, 0, ONEDNN_ARG_SRC, &source) ||
               !onednn_use_output_like(attempt, ONEDNN_ARG_DST, shape, 0, &target)) {
        return false;
    }
    return attempt->onednn->softmax_v2_forward_desc_init(&attempt->op, ONEDNN_FORWARD_INFERENCE, algorithm, &source,
                                                         &target, (int)axis) == ONEDNN_SUCCESS;
}

/* The vectorized implementations make numbers of NaN and of infinity. */
static bool accepts(const struct onednn_attempt *attempt, const char *implementation)
{
    (void)attempt;
    return strcmp(implementation, "ref:any") == 0;
}

const struct onednn_operation onednn_softmax = {
    .kind = LAYER_SOFTMAX,
    .layouts = ONEDNN_LAYOUTS_AS_IS | ONEDNN_LAYOUTS_PLAIN,
    .describe = describe,
    .accepts = accepts,
};
