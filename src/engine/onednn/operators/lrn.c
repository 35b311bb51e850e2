/* engine/onednn/operators/lrn.c: local response normalization across channels, by oneDNN. */
#include "engine/onednn/onnx.h"

static bool describe(struct onednn_attempt *attempt)
{
    const struct shape *shape = &attempt->request->inputs[0].shape;
    struct onednn_computation *computation = &attempt->computation;
    int64_t size = onednn_integer(attempt, "size", 0);

    /* Of an even size, ONNX's window reaches farther up than down; oneDNN's is as for the odd size below. */
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
    .describe = describe,
};
