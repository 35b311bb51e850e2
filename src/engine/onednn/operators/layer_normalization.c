/* engine/onednn/operators/layer_normalization.c: layer normalization over the last dimensions, by oneDNN. */
#include "engine/onednn/onnx.h"

/* Scale or bias: one element for each that is normalized together. */
static bool use_parameter(struct onednn_attempt *attempt, size_t position, int arg, size_t axis, int64_t length)
{
    const struct shape *shape = &attempt->request->inputs[0].shape;
    const struct shape *own = &attempt->request->inputs[position].shape;
    struct onednn_memory_desc memory;

    if (own->rank != shape->rank - axis)
        return false; /* ONNX lets it broadcast, oneDNN does not */
    for (size_t i = 0; i < own->rank; i++)
        if (own->dims[i] != shape->dims[axis + i])
            return false;
    return onednn_use_view(attempt, position, arg, 1, &length, NULL, false, &memory);
}

static bool describe(struct onednn_attempt *attempt)
{
    const struct shape *shape = &attempt->request->inputs[0].shape;
    struct onednn_computation *computation = &attempt->computation;
    int64_t dims[2];
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
    return onednn_use_view(attempt, 0, ONEDNN_ARG_SRC, 2, dims, NULL, false, &computation->source) &&
           onednn_has_input(attempt, 1) && use_parameter(attempt, 1, ONEDNN_ARG_SCALE, axis, dims[1]) &&
           (!computation->has_shift || use_parameter(attempt, 2, ONEDNN_ARG_SHIFT, axis, dims[1])) &&
           onednn_use_output_view(attempt, ONEDNN_ARG_DST, shape, 2, dims, &computation->target);
}

const struct onednn_operation onednn_layer_normalization = {
    .kind = LAYER_LAYER_NORMALIZATION,
    .layouts = ONEDNN_LAYOUTS_PLAIN,
    .describe = describe,
};
