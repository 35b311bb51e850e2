/* engine/onednn_lrn.c: local response normalization across channels, by oneDNN. */
#include "engine/onednn_onnx.h"

static bool describe(struct onednn_attempt *attempt)
{
    const struct shape *shape = &attempt->request->inputs[0].shape;
    int64_t size = onednn_integer(attempt, "size", 0);
    struct onednn_memory_desc source, target;

    /* Of an even size, ONNX's window reaches farther up than down; oneDNN's is as for the odd size below. */
    return onednn_is_ordinary(attempt) && shape->rank >= 2 && shape->rank <= 5 && size >= 1 && size % 2 == 1 &&
           onednn_use_input(attempt, 0, ONEDNN_ARG_SRC, &source) &&
           onednn_use_output_like(attempt, ONEDNN_ARG_DST, shape, 0, &target) &&
           attempt->onednn->lrn_forward_desc_init(&attempt->op, ONEDNN_FORWARD_INFERENCE, ONEDNN_LRN_ACROSS_CHANNELS,
                                                  &source, size, onednn_float(attempt, "alpha", 1e-4f),
                                                  onednn_float(attempt, "beta", 0.75f),
                                                  onednn_float(attempt, "bias", 1.0f)) == ONEDNN_SUCCESS;
}

const struct onednn_operation onednn_lrn = {
    .kind = LAYER_LRN,
    .layouts = ONEDNN_LAYOUTS_AS_IS | ONEDNN_LAYOUTS_PLAIN,
    .describe = describe,
};
