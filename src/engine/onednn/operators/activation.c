/* engine/onednn/operators/activation.c: element by element operations, by oneDNN.
 *
 * Of NaN, oneDNN's vectorized Relu and Clip make a number, as processors' maximum and minimum do.
 */
#include "engine/onednn/onnx.h"

#include <string.h>

static bool describe(struct onednn_attempt *attempt)
{
    const struct layer *layer = attempt->request->layer;
    struct onednn_computation *computation = &attempt->computation;
    struct onednn_eltwise eltwise;

    if (!onednn_is_ordinary(attempt) || !onednn_activation(layer->activation, layer->alpha, layer->beta, &eltwise))
        return false;
    computation->primitive = ONEDNN_ELTWISE;
    computation->algorithm = eltwise.algorithm;
    computation->alpha = eltwise.alpha;
    computation->beta = eltwise.beta;
    return onednn_use_input(attempt, 0, ONEDNN_ARG_SRC, &computation->source) &&
           onednn_use_output_like(attempt, ONEDNN_ARG_DST, &attempt->request->inputs[0].shape, 0, &computation->target);
}

/* Of NaN, the vectorized exponential makes infinity, and the slow sigmoid makes 0. The vectorized logarithm of 1 is
 * -1.4e-6, and not much better around it; Softplus, which is made of it, is off by 2 % at -10. */
static bool accepts(const struct onednn_attempt *attempt, const char *implementation)
{
    bool is_slow = strcmp(implementation, "ref:any") == 0;

    switch (attempt->request->layer->activation) {
    case ACTIVATION_EXP:
    case ACTIVATION_LOG:
    case ACTIVATION_SOFTPLUS:
        return is_slow;
    case ACTIVATION_SIGMOID:
        return !is_slow;
    default:
        return true;
    }
}

const struct onednn_operation onednn_activation_layer = {
    .kind = LAYER_ACTIVATION,
    .layouts = ONEDNN_LAYOUTS_AS_IS | ONEDNN_LAYOUTS_PLAIN,
    .describe = describe,
    .accepts = accepts,
};
