/* engine/onednn/operators/elementwise.c: activations of one tensor, and sums, differences, products, quotients, minima
 * and maxima of two with numpy's broadcasting, by oneDNN.
 *
 * For NaN, oneDNN's vectorized Relu and Clip return a number, as maximum and minimum instructions do. Its maximum is
 * the second operand if either is NaN, but ONNX's is NaN. So it is only used for a tensor and a constant without NaN,
 * which comes first; likewise the minimum.
 */
#include "engine/onednn/onnx.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

/* ---- One tensor ---- */

static bool describe_activation(struct onednn_attempt *attempt)
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

/* For NaN, the vectorized exponential returns infinity, and the slow sigmoid 0. The vectorized logarithm of 1 is
 * -1.4e-6, and similarly inaccurate nearby; Softplus, which uses it, has an error of 2 % at -10. */
static bool accepts_activation(const struct onednn_attempt *attempt, const char *implementation)
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
    .describe = describe_activation,
    .accepts = accepts_activation,
};

/* ---- Two tensors ---- */

struct binary {
    enum onednn_algorithm algorithm;
    bool commutes;
    bool constant_first; /* see above */
};

static bool find_binary_operation(const struct onednn_attempt *attempt, struct binary *ret)
{
    static const struct {
        const char *op_type;
        struct binary binary;
    } operations[] = {
        {"Add", {ONEDNN_BINARY_ADD, true, false}}, {"Sub", {ONEDNN_BINARY_SUB, false, false}},
        {"Mul", {ONEDNN_BINARY_MUL, true, false}}, {"Div", {ONEDNN_BINARY_DIV, false, false}},
        {"Max", {ONEDNN_BINARY_MAX, true, true}},  {"Min", {ONEDNN_BINARY_MIN, true, true}},
    };

    for (size_t i = 0; i < ARRAY_LEN(operations); i++) {
        if (text_equal_string(onednn_operator(attempt), operations[i].op_type)) {
            *ret = operations[i].binary;
            return true;
        }
    }
    return false;
}

/* The shape that both broadcast to (ONNX, "Broadcasting in ONNX"). */
static bool broadcast_shapes(const struct shape *a, const struct shape *b, struct shape *ret)
{
    size_t rank = a->rank > b->rank ? a->rank : b->rank;

    ret->rank = rank;
    for (size_t i = 0; i < rank; i++) {
        int64_t of_a = i + a->rank >= rank ? a->dims[i + a->rank - rank] : 1;
        int64_t of_b = i + b->rank >= rank ? b->dims[i + b->rank - rank] : 1;

        if (of_a != of_b && of_a != 1 && of_b != 1)
            return false;
        ret->dims[i] = of_a == 1 ? of_b : of_a;
    }
    return true;
}

static bool operands_have_no_nan(const struct kernel_input *input)
{
    const char *values = input->constant;
    size_t count = shape_elements(&input->shape);

    if (!values || input->type != DATA_FLOAT32)
        return false;
    for (size_t i = 0; i < count; i++) {
        float value;

        memcpy(&value, values + i * sizeof(value), sizeof(value)); /* a model's data may be unaligned */
        if (isnan(value))
            return false;
    }
    return true;
}

/* The input with the shape of the result, whose layout is also used for the other one; 2: none. */
static size_t find_leading_input(const struct kernel_input *inputs, const struct shape *result)
{
    for (size_t i = 0; i < 2; i++)
        if (!inputs[i].constant && shape_equal(&inputs[i].shape, result))
            return i;
    return 2;
}

/* Uses the other operand, with leading dimensions added up to the result's rank. Constants and operands of equal rank
 * get the leader's layout (`of_leader`; NULL: none), others are row-major. */
static bool use_following_input(struct onednn_attempt *attempt, size_t position, int arg, size_t rank,
                                const struct onednn_memory_desc *of_leader, struct onednn_memory_desc *ret)
{
    const struct kernel_input *input = &attempt->request->inputs[position];
    struct shape aligned = {.rank = rank};
    struct onednn_view view = {.rank = rank, .dims = aligned.dims, .pack = of_leader != NULL};
    size_t missing = rank - input->shape.rank;

    for (size_t i = 0; i < rank; i++)
        aligned.dims[i] = i < missing ? 1 : input->shape.dims[i - missing];
    if (!of_leader)
        return onednn_use_view(attempt, position, arg, &view, ret);
    if (of_leader->kind != ONEDNN_MEMORY_LAYOUT)
        return false;
    if (missing == 0)
        return onednn_use_input_in(attempt, position, arg, of_leader->layout.text, ret);
    return onednn_use_view(attempt, position, arg, &view, ret) &&
           (!input->constant || onednn_memory_of(&of_leader->layout, &aligned, ret));
}

/* `first`: the input that comes first for oneDNN. */
static bool use_binary_tensors(struct onednn_attempt *attempt, size_t first, struct shape *result)
{
    size_t leader = find_leading_input(attempt->request->inputs, result), rank = result->rank;
    struct onednn_computation *computation = &attempt->computation;
    struct onednn_memory_desc *sources[2];

    sources[first] = &computation->source;
    sources[1 - first] = &computation->second;

    if (leader < 2) {
        size_t other = 1 - leader;
        int arg = other == first ? ONEDNN_ARG_SRC : ONEDNN_ARG_SRC_1;

        return onednn_use_input(attempt, leader, other == first ? ONEDNN_ARG_SRC_1 : ONEDNN_ARG_SRC, sources[leader]) &&
               use_following_input(attempt, other, arg, sources[leader]->shape.rank, sources[leader], sources[other]) &&
               onednn_use_output_like(attempt, ONEDNN_ARG_DST, result, leader, &computation->target);
    }
    return use_following_input(attempt, first, ONEDNN_ARG_SRC, rank, NULL, sources[first]) &&
           use_following_input(attempt, 1 - first, ONEDNN_ARG_SRC_1, rank, NULL, sources[1 - first]) &&
           onednn_use_output_view(attempt, ONEDNN_ARG_DST, result,
                                  &(struct onednn_view){rank, result->dims, NULL, false}, &computation->target);
}

static bool describe_binary(struct onednn_attempt *attempt)
{
    const struct kernel_input *inputs = attempt->request->inputs;
    size_t first = 0;
    struct binary binary;
    struct shape result;

    if (!find_binary_operation(attempt, &binary) || !onednn_is_ordinary(attempt) || !onednn_has_input(attempt, 1) ||
        !broadcast_shapes(&inputs[0].shape, &inputs[1].shape, &result) || shape_elements(&result) == 0)
        return false;
    if (binary.constant_first) {
        if (!operands_have_no_nan(&inputs[0]) && !operands_have_no_nan(&inputs[1]))
            return false;
        first = operands_have_no_nan(&inputs[0]) ? 0 : 1;
    } else if (binary.commutes && find_leading_input(inputs, &result) == 1) {
        first = 1; /* oneDNN is fast if the second operand is smaller */
    }
    attempt->computation.primitive = ONEDNN_BINARY;
    attempt->computation.algorithm = binary.algorithm;
    return use_binary_tensors(attempt, first, &result) && onednn_fuse(attempt);
}

/* With a post-op, the vectorized implementation of 2.6 is wrong for channel blocks that do not fill a register: it
 * returns zeros in the last channels, or, for blocks of 8 channels and registers of 16 floats, skips elements and
 * writes beyond the tensor. */
static bool accepts_binary(const struct onednn_attempt *attempt, const char *implementation)
{
    return attempt->request->layer->fused.count == 0 || strcmp(implementation, "ref:any") == 0 ||
           onednn_fills_vectors(&attempt->output);
}

const struct onednn_operation onednn_binary = {
    .kind = LAYER_BINARY,
    .layouts = ONEDNN_LAYOUTS_AS_IS | ONEDNN_LAYOUTS_PLAIN,
    .describe = describe_binary,
    .accepts = accepts_binary,
};
