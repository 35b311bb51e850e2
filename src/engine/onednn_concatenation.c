/* engine/onednn_concatenation.c: Concat, by oneDNN: all inputs in the layout of the first. */
#include "engine/onednn_onnx.h"

#include <stdlib.h>

#include "base/memory.h"

/* All sizes but that along the axis have to be the same. */
static bool add_size(struct shape *sum, const struct shape *shape, size_t axis)
{
    if (shape->rank != sum->rank || shape_elements(shape) == 0)
        return false;
    for (size_t i = 0; i < shape->rank; i++)
        if (i != axis && shape->dims[i] != sum->dims[i])
            return false;
    sum->dims[axis] += shape->dims[axis];
    return true;
}

static bool use_sources(struct onednn_attempt *attempt, size_t axis, struct onednn_memory_desc *sources,
                        struct shape *ret_shape)
{
    const struct kernel_input *inputs = attempt->request->inputs;
    struct layout layout;

    if (inputs[0].constant || !onednn_use_input(attempt, 0, ONEDNN_ARG_MULTIPLE_SRC, &sources[0]) ||
        !onednn_layout_of(&sources[0], &layout))
        return false;
    *ret_shape = inputs[0].shape;
    for (size_t i = 1; i < attempt->request->layer->inputs.count; i++)
        if (!onednn_has_input(attempt, i) || !add_size(ret_shape, &inputs[i].shape, axis) ||
            !onednn_use_input_in(attempt, i, ONEDNN_ARG_MULTIPLE_SRC + (int)i, layout.text, &sources[i]))
            return false;
    return true;
}

static bool describe(struct onednn_attempt *attempt)
{
    const struct onednn *onednn = attempt->onednn;
    size_t count = attempt->request->layer->inputs.count, axis;
    struct onednn_memory_desc *sources, target;
    struct shape shape;
    bool ok;

    if (!onednn_is_ordinary(attempt) || count > INT16_MAX ||
        !onednn_axis(onednn_integer(attempt, "axis", onednn_opset(attempt) < 4 ? 1 : INT64_MIN),
                     attempt->request->inputs[0].shape.rank, &axis))
        return false;
    sources = memory_alloc_zero(count, sizeof(*sources));
    ok = use_sources(attempt, axis, sources, &shape) &&
         onednn_use_output_like(attempt, ONEDNN_ARG_DST, &shape, 0, &target) &&
         onednn->concat_primitive_desc_create(&attempt->descriptor, &target, (int)count, (int)axis, sources,
                                              attempt->attributes, onednn->engine) == ONEDNN_SUCCESS;
    free(sources);
    return ok;
}

const struct onednn_operation onednn_concatenation = {
    .kind = LAYER_CONCATENATION,
    .layouts = ONEDNN_LAYOUTS_AS_IS | ONEDNN_LAYOUTS_PLAIN,
    .describe = describe,
};
