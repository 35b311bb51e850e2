/* engine/onednn/operators/reduction.c: ReduceMean, ReduceSum and the like, by oneDNN.
 *
 * Not ReduceMax and ReduceMin: oneDNN's start with the smallest and largest finite number, which is wrong for
 * infinities.
 */
#include "engine/onednn/onnx.h"

#include "base/memory.h"
#include "onnx/proto/node_attribute.h"

struct onednn_reduction {
    enum onednn_algorithm algorithm;
    float power; /* of norms */
};

static bool find_reduction_operation(const struct onednn_attempt *attempt, struct onednn_reduction *ret)
{
    static const struct {
        const char *op_type;
        struct onednn_reduction reduction;
    } operations[] = {
        {"ReduceMean", {ONEDNN_REDUCTION_MEAN, 0.0f}},
        {"ReduceSum", {ONEDNN_REDUCTION_SUM, 0.0f}},
        {"ReduceProd", {ONEDNN_REDUCTION_MUL, 0.0f}},
        {"ReduceL1", {ONEDNN_REDUCTION_NORM_LP_SUM, 1.0f}},
        {"ReduceL2", {ONEDNN_REDUCTION_NORM_LP_SUM, 2.0f}},
        {"ReduceSumSquare", {ONEDNN_REDUCTION_NORM_LP_POWER_P_SUM, 2.0f}},
    };

    for (size_t i = 0; i < ARRAY_LEN(operations); i++) {
        if (text_equal_string(onednn_operator(attempt), operations[i].op_type)) {
            *ret = operations[i].reduction;
            return true;
        }
    }
    return false;
}

/* The axes are an attribute in old operator sets, an input in new ones; no axes mean all of them, or an identity. */
static bool find_reduced_axes(const struct onednn_attempt *attempt, size_t rank, bool ret[TENSOR_MAX_RANK])
{
    int64_t axes[TENSOR_MAX_RANK];
    size_t count;

    if (onednn_has_input(attempt, 1)) {
        if (!onednn_constant_integers(attempt, 1, axes, &count))
            return false;
    } else {
        count = node_attribute_integers(onednn_node(attempt), "axes", axes, TENSOR_MAX_RANK);
        if (count > TENSOR_MAX_RANK)
            return false;
    }
    if (count > 0)
        return onednn_axes(axes, count, rank, ret);
    if (onednn_integer(attempt, "noop_with_empty_axes", 0) != 0)
        return false;
    for (size_t i = 0; i < rank; i++)
        ret[i] = true;
    return true;
}

static bool describe_reduction(struct onednn_attempt *attempt)
{
    const struct shape *shape = &attempt->request->inputs[0].shape;
    bool reduced[TENSOR_MAX_RANK], keeps = onednn_integer(attempt, "keepdims", 1) != 0;
    struct shape kept = *shape, result = {0};
    struct onednn_computation *computation = &attempt->computation;
    struct onednn_reduction reduction;

    if (!find_reduction_operation(attempt, &reduction) || !onednn_is_ordinary(attempt) ||
        !find_reduced_axes(attempt, shape->rank, reduced) ||
        !onednn_use_input(attempt, 0, ONEDNN_ARG_SRC, &computation->source))
        return false;
    for (size_t i = 0; i < shape->rank; i++) {
        if (reduced[i])
            kept.dims[i] = 1;
        else
            result.dims[result.rank++] = shape->dims[i];
    }
    computation->primitive = ONEDNN_REDUCTION;
    computation->algorithm = reduction.algorithm;
    computation->power = reduction.power;
    return keeps
               ? onednn_use_output_like(attempt, ONEDNN_ARG_DST, &kept, 0, &computation->target)
               : onednn_use_output_view(attempt, ONEDNN_ARG_DST, &result,
                                        &(struct onednn_view){kept.rank, kept.dims, NULL, false}, &computation->target);
}

const struct onednn_operation onednn_reduction = {
    .kind = LAYER_REDUCTION,
    .layouts = ONEDNN_LAYOUTS_AS_IS | ONEDNN_LAYOUTS_PLAIN,
    .describe = describe_reduction,
};
