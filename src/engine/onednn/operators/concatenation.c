/* engine/onednn/operators/concatenation.c: Concat, by oneDNN: all inputs in the layout of the first. */
#include "engine/onednn/onnx.h"

#include "base/memory.h"

/* All sizes except along the axis must be equal. */
static bool add_axis_size(struct shape *sum, const struct shape *shape, size_t axis)
{
    if (shape->rank != sum->rank || shape_elements(shape) == 0)
        return false;
    for (size_t i = 0; i < shape->rank; i++)
        if (i != axis && shape->dims[i] != sum->dims[i])
            return false;
    sum->dims[axis] += shape->dims[axis];
    return true;
}

static bool use_concatenated_tensors(struct onednn_attempt *attempt, size_t axis, struct onednn_memory_desc *sources,
                                     struct shape *ret_shape)
{
    const struct kernel_input *inputs = attempt->request->inputs;

    if (inputs[0].constant || !onednn_use_input(attempt, 0, ONEDNN_ARG_MULTIPLE_SRC, &sources[0]))
        return false;
    *ret_shape = inputs[0].shape;
    for (size_t i = 1; i < attempt->request->layer->inputs.count; i++)
        if (!onednn_has_input(attempt, i) || !add_axis_size(ret_shape, &inputs[i].shape, axis) ||
            !onednn_use_input_in(attempt, i, ONEDNN_ARG_MULTIPLE_SRC + (int)i, sources[0].layout.text, &sources[i]))
            return false;
    return true;
}

static bool describe_concatenation(struct onednn_attempt *attempt)
{
    struct onednn_computation *computation = &attempt->computation;
    size_t count = attempt->request->layer->inputs.count, axis;
    struct shape shape;

    if (!onednn_is_ordinary(attempt) || count > INT16_MAX ||
        !onednn_axis(onednn_integer(attempt, "axis", onednn_opset(attempt) < 4 ? 1 : INT64_MIN),
                     attempt->request->inputs[0].shape.rank, &axis))
        return false;
    computation->primitive = ONEDNN_CONCAT;
    computation->axis = (int)axis;
    computation->sources = memory_alloc_zero(count, sizeof(*computation->sources));
    computation->source_count = count;
    return use_concatenated_tensors(attempt, axis, computation->sources, &shape) &&
           onednn_use_output_like(attempt, ONEDNN_ARG_DST, &shape, 0, &computation->target);
}

const struct onednn_operation onednn_concatenation = {
    .kind = LAYER_CONCATENATION,
    .layouts = ONEDNN_LAYOUTS_AS_IS | ONEDNN_LAYOUTS_PLAIN,
    .describe = describe_concatenation,
};
