/* onnx/inputs/elementwise.c: operators that work on each element. See operators.h. */
#include "onnx/inputs/operators.h"
#include "onnx/proto/node_attribute.h"

/* The output has the shape of the first input. */
static void keep_shape(struct pass *pass, const struct node *node)
{
    const struct fact *from = pass_input(pass, node, 0);

    if (from->has_shape)
        pass_set_shape(pass, node, 0, from->dims, from->rank);
}

/* Whether a type holds all sizes, and other small whole numbers. */
static bool type_holds_sizes(enum data_type type)
{
    return type == DATA_INT64 || type == DATA_INT32 || type == DATA_FLOAT64 || type == DATA_FLOAT32;
}

/* The output has the elements of the first input, at most in another type. */
static void keep_elements(struct pass *pass, const struct node *node)
{
    struct fact from = *pass_input(pass, node, 0);
    struct fact *to;

    if (!from.has_shape)
        return;
    to = pass_set_shape(pass, node, 0, from.dims, from.rank);
    if (to == NULL)
        return;
    from.dims = to->dims;
    *to = from;
    if (node_is(node, "Cast")) {
        enum data_type type = (enum data_type)node_attribute_integer(node->message, "to", DATA_UNDEFINED);

        to->is_real = data_type_is_float(type);
        to->has_numbers &= !pass->proves || type_holds_sizes(type);
    }
}

static void normalize_along_axis(struct pass *pass, const struct node *node)
{
    const struct fact *from = pass_input(pass, node, 0);
    int64_t fallback = model_opset(pass->model) < 13 ? 1 : -1;
    size_t axis;

    if (from->has_shape && pass_axis(node_attribute_integer(node->message, "axis", fallback), from->rank, &axis))
        pass_mark(pass, from->dims[axis], ROLE_KEYS);
    keep_shape(pass, node);
}

/* ---- Two inputs ---- */

/* Whether a sum of sizes, of which none is negative, cannot be 0. */
static bool is_positive(struct dimension sum)
{
    for (size_t i = 0; i < sum.count; i++)
        if (sum.terms[i].factor < 0)
            return false;
    return sum.constant > 0;
}

/* Equal: 1 or 0, if the dimensions say so. Exporters compare sizes with -1. */
static struct dimension compare_equal(const struct pass *pass, struct dimension a, struct dimension b)
{
    struct dimension difference = dimension_add(pass->system, a, b, -1);

    if (!difference.known)
        return difference;
    if (difference.count == 0)
        return dimension_constant(difference.constant == 0);
    if (is_positive(difference) || is_positive(dimension_multiply(pass->system, difference, -1)))
        return dimension_constant(0);
    return dimension_unknown();
}

/* `truncates`: a quotient of integers is rounded towards 0. */
static struct dimension compute_number(const struct pass *pass, const struct node *node, struct dimension a,
                                       struct dimension b, bool truncates)
{
    int64_t one, other;
    bool is_one = dimension_is_constant(pass->system, a, &one);
    bool is_other = dimension_is_constant(pass->system, b, &other);

    if (node_is(node, "Add"))
        return dimension_add(pass->system, a, b, 1);
    if (node_is(node, "Sub"))
        return dimension_add(pass->system, a, b, -1);
    if (node_is(node, "Equal"))
        return compare_equal(pass, a, b);
    if (node_is(node, "Mul") && (is_one || is_other))
        return is_other ? dimension_multiply(pass->system, a, other) : dimension_multiply(pass->system, b, one);
    if (node_is(node, "Div") && truncates && is_one && is_other && one >= 0 && other > 0)
        return dimension_constant(one / other);
    if (node_is(node, "Div") && is_other)
        return dimension_divide(pass->system, a, other);
    if (node_is(node, "Mod") && is_one && is_other && one >= 0 && other > 0)
        return dimension_constant(one % other);
    if (node_is(node, "Max") && is_one && is_other)
        return dimension_constant(one > other ? one : other);
    if (node_is(node, "Min") && is_one && is_other)
        return dimension_constant(one < other ? one : other);
    return dimension_unknown();
}

/* Element i of a tensor that is broadcast to more elements: only of one, or of as many. */
static struct dimension number_at(const struct fact *fact, size_t i)
{
    return fact->numbers[fact->number_count == 1 ? 0 : i];
}

static bool are_numbers_aligned(const struct fact *a, const struct fact *b)
{
    return a->has_numbers && b->has_numbers &&
           (a->number_count == b->number_count || a->number_count == 1 || b->number_count == 1);
}

/* The largest integer of an operand; unknown if it has no bound, or several. */
static struct dimension largest_of(const struct pass *pass, const struct fact *fact)
{
    if (fact->limit_count == 1)
        return dimension_add(pass->system, fact->limits[0], dimension_constant(1), -1);
    if (fact->has_numbers && fact->number_count == 1)
        return fact->numbers[0];
    return dimension_unknown();
}

/* The bound of a sum, or of a product, of integers that are not negative. */
static void add_limit(struct pass *pass, const struct node *node, const struct fact *a, const struct fact *b,
                      struct fact *ret)
{
    struct dimension largest = dimension_unknown(), limit;

    if (a->limit_count == 0 && b->limit_count == 0)
        return;
    if (node_is(node, "Add") || node_is(node, "Mul"))
        largest = compute_number(pass, node, largest_of(pass, a), largest_of(pass, b), false);
    limit = dimension_add(pass->system, largest, dimension_constant(1), 1);
    ret->limits = pass_copy(pass, &limit, 1);
    ret->limit_count = limit.known;
}

static void combine_elements(struct pass *pass, const struct node *node)
{
    struct fact a = *pass_input(pass, node, 0), b = *pass_input(pass, node, 1);
    struct dimension dims[TENSOR_MAX_RANK];
    struct fact *to;
    size_t count;

    if (!a.has_shape || !b.has_shape)
        return;
    count = pass_broadcast_shapes(pass, &a, &b, 0, dims);
    to = pass_set_shape(pass, node, 0, dims, count);
    if (to == NULL)
        return;
    add_limit(pass, node, &a, &b, to);
    if (!are_numbers_aligned(&a, &b))
        return;
    count = a.number_count > b.number_count ? a.number_count : b.number_count;
    to->has_numbers = true;
    to->is_real = a.is_real || b.is_real;
    to->number_count = count;
    to->numbers = pass_copy(pass, NULL, count);
    for (size_t i = 0; i < count; i++)
        to->numbers[i] = compute_number(pass, node, number_at(&a, i), number_at(&b, i), !to->is_real);
}

/* Max, Min, Sum and Mean have any number of inputs. */
static void combine_all(struct pass *pass, const struct node *node)
{
    struct dimension dims[TENSOR_MAX_RANK];
    struct fact all = *pass_input(pass, node, 0);

    if (node->inputs.count == 2) {
        combine_elements(pass, node);
        return;
    }
    for (size_t i = 0; i < node->inputs.count; i++) {
        const struct fact *next = pass_input(pass, node, i);

        if (!next->has_shape)
            return;
        all.rank = pass_broadcast_shapes(pass, &all, next, 0, dims);
        all.dims = pass_copy(pass, dims, all.rank);
    }
    if (all.has_shape)
        pass_set_shape(pass, node, 0, all.dims, all.rank);
}

static void select_elements(struct pass *pass, const struct node *node)
{
    struct fact which = *pass_input(pass, node, 0), a = *pass_input(pass, node, 1), b = *pass_input(pass, node, 2);
    struct dimension dims[TENSOR_MAX_RANK];
    struct fact all = which, *to;
    size_t count;

    if (!which.has_shape || !a.has_shape || !b.has_shape)
        return;
    all.rank = pass_broadcast_shapes(pass, &a, &b, 0, dims);
    all.dims = pass_copy(pass, dims, all.rank);
    count = pass_broadcast_shapes(pass, &all, &which, 0, dims);
    to = pass_set_shape(pass, node, 0, dims, count);
    if (to == NULL || !which.has_numbers || !are_numbers_aligned(&a, &b) || !are_numbers_aligned(&which, &a))
        return;
    count = a.number_count > b.number_count ? a.number_count : b.number_count;
    count = which.number_count > count ? which.number_count : count;
    to->has_numbers = true;
    to->number_count = count;
    to->numbers = pass_copy(pass, NULL, count);
    for (size_t i = 0; i < count; i++) {
        int64_t is_first;

        if (dimension_is_constant(pass->system, number_at(&which, i), &is_first))
            to->numbers[i] = is_first != 0 ? number_at(&a, i) : number_at(&b, i);
    }
}

const struct known_operator elementwise_operators[] = {
    {"Abs", keep_shape},
    {"Acos", keep_shape},
    {"Acosh", keep_shape},
    {"Add", combine_elements},
    {"And", combine_elements},
    {"Asin", keep_shape},
    {"Asinh", keep_shape},
    {"Atan", keep_shape},
    {"Atanh", keep_shape},
    {"BatchNormalization", keep_shape},
    {"BitwiseAnd", combine_elements},
    {"BitwiseNot", keep_shape},
    {"BitwiseOr", combine_elements},
    {"BitwiseXor", combine_elements},
    {"Cast", keep_elements},
    {"CastLike", keep_elements},
    {"Ceil", keep_elements},
    {"Celu", keep_shape},
    {"Clip", keep_shape},
    {"Cos", keep_shape},
    {"Cosh", keep_shape},
    {"CumSum", keep_shape},
    {"DequantizeLinear", keep_shape},
    {"Div", combine_elements},
    {"Dropout", keep_shape},
    {"Elu", keep_shape},
    {"Equal", combine_elements},
    {"Erf", keep_shape},
    {"Exp", keep_shape},
    {"Floor", keep_elements},
    {"Gelu", keep_shape},
    {"Greater", combine_elements},
    {"GreaterOrEqual", combine_elements},
    {"GroupNormalization", keep_shape},
    {"HardSigmoid", keep_shape},
    {"HardSwish", keep_shape},
    {"Hardmax", normalize_along_axis},
    {"Identity", keep_elements},
    {"InstanceNormalization", keep_shape},
    {"IsInf", keep_shape},
    {"IsNaN", keep_shape},
    {"LRN", keep_shape},
    {"LeakyRelu", keep_shape},
    {"Less", combine_elements},
    {"LessOrEqual", combine_elements},
    {"Log", keep_shape},
    {"LogSoftmax", normalize_along_axis},
    {"LpNormalization", keep_shape},
    {"Max", combine_all},
    {"Mean", combine_all},
    {"MeanVarianceNormalization", keep_shape},
    {"Min", combine_all},
    {"Mish", keep_shape},
    {"Mod", combine_elements},
    {"Mul", combine_elements},
    {"Neg", keep_shape},
    {"Not", keep_shape},
    {"Or", combine_elements},
    {"PRelu", keep_shape},
    {"Pow", combine_elements},
    {"QuantizeLinear", keep_shape},
    {"Reciprocal", keep_shape},
    {"Relu", keep_shape},
    {"Round", keep_elements},
    {"Selu", keep_shape},
    {"Shrink", keep_shape},
    {"Sigmoid", keep_shape},
    {"Sign", keep_shape},
    {"Sin", keep_shape},
    {"Sinh", keep_shape},
    {"Softmax", normalize_along_axis},
    {"Softplus", keep_shape},
    {"Softsign", keep_shape},
    {"Sqrt", keep_shape},
    {"Sub", combine_elements},
    {"Sum", combine_all},
    {"Swish", keep_shape},
    {"Tan", keep_shape},
    {"Tanh", keep_shape},
    {"ThresholdedRelu", keep_shape},
    {"Trilu", keep_shape},
    {"Where", select_elements},
    {"Xor", combine_elements},
    {0},
};
