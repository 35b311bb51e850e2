/* debug/kernels/bound.c: see bound.h. */
#include "debug/kernels/bound.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "onnx/model/graph_view.h"
#include "onnx/proto/node_attribute.h"
#include "tensor/values/elements.h"

/* The sum, the root, the quotient, the product with the scale, that with a weight, the mean's product and difference,
 * and the product with x; two more in kernel_bound_compare(). */
#define BATCH_NORMALIZATION_ROUNDINGS 8

static const char *const rounding_once[] = {"Abs",
                                            "Add",
                                            "And",
                                            "ArgMax",
                                            "ArgMin",
                                            "Cast",
                                            "Ceil",
                                            "Clip",
                                            "Concat",
                                            "ConstantOfShape",
                                            "Div",
                                            "Dropout",
                                            "Equal",
                                            "Expand",
                                            "Flatten",
                                            "Floor",
                                            "Gather",
                                            "GatherElements",
                                            "Greater",
                                            "Identity",
                                            "IsInf",
                                            "IsNaN",
                                            "LeakyRelu",
                                            "Less",
                                            "GreaterOrEqual",
                                            "LessOrEqual",
                                            "Max",
                                            "MaxPool",
                                            "Min",
                                            "Mul",
                                            "Neg",
                                            "Not",
                                            "Or",
                                            "PRelu",
                                            "Pad",
                                            "Reciprocal",
                                            "ReduceMax",
                                            "ReduceMin",
                                            "Relu",
                                            "Reshape",
                                            "Round",
                                            "ScatterElements",
                                            "Shape",
                                            "Sign",
                                            "Slice",
                                            "Split",
                                            "Sqrt",
                                            "Squeeze",
                                            "Sub",
                                            "Tile",
                                            "Transpose",
                                            "Unsqueeze",
                                            "Where",
                                            "Xor",
                                            "GlobalMaxPool",
                                            "DequantizeLinear"};

static bool is_among(const struct node *node, const char *const *names, size_t count)
{
    return text_is_one_of(node->op_type, names, count);
}

static size_t read_dimension(const struct shape *shape, size_t axis)
{
    return axis < shape->rank ? (size_t)shape->dims[axis] : 0;
}

/* Of a sum of products, 0 for other operators. */
static size_t terms_of_product(const struct node *node, const struct shape *first, const struct shape *second)
{
    if (second == NULL)
        return 0;
    if (text_equal_string(node->op_type, "MatMul"))
        return first->rank > 0 ? read_dimension(first, first->rank - 1) : 0;
    if (text_equal_string(node->op_type, "Gemm")) /* with the term of C */
        return read_dimension(first, node_attribute_integer(node->message, "transA", 0) != 0 ? 0 : 1) + 1;
    if (text_equal_string(node->op_type, "Conv") && read_dimension(second, 0) > 0) /* with the bias */
        return shape_elements(second) / read_dimension(second, 0) + 1;
    if (text_equal_string(node->op_type, "ConvTranspose") && read_dimension(second, 1) > 0)
        return shape_elements(second) / read_dimension(second, 1) + 1;
    return 0;
}

static size_t terms_of_reduction(const struct node *node, const struct shape *input, const struct shape *output)
{
    static const char *const reductions[] = {"ReduceSum",       "ReduceMean", "ReduceL1",
                                             "ReduceSumSquare", "ReduceL2",   "GlobalAveragePool"};

    if (is_among(node, reductions, ARRAY_LEN(reductions)) && shape_elements(output) > 0)
        return shape_elements(input) / shape_elements(output);
    /* At the most: a window is not larger than the image. */
    if (text_equal_string(node->op_type, "AveragePool") && read_dimension(input, 0) * read_dimension(input, 1) > 0)
        return shape_elements(input) / (read_dimension(input, 0) * read_dimension(input, 1));
    return 0;
}

/* Signs of scalars in front of a sum are not those of its terms. */
static bool has_negative_scale(const struct node *node)
{
    return text_equal_string(node->op_type, "Gemm") &&
           (node_attribute_float(node->message, "alpha", 1) < 0 || node_attribute_float(node->message, "beta", 1) < 0);
}

bool kernel_orders_elements(const struct node *node)
{
    static const char *const ordering[] = {"ArgMax", "ArgMin",    "Clip", "GlobalMaxPool", "LeakyRelu",
                                           "Max",    "MaxPool",   "Min",  "PRelu",         "ReduceMax",
                                           "Relu",   "ReduceMin", "Sign"};

    return is_among(node, ordering, ARRAY_LEN(ordering));
}

void kernel_bound_find(const struct node *node, const struct shape *inputs, size_t count, const struct shape *output,
                       enum data_type type, struct kernel_bound *ret)
{
    *ret = (struct kernel_bound){.why_not = "its operator has no bound"};
    if (count == 0 || has_negative_scale(node))
        return;
    ret->terms = terms_of_product(node, &inputs[0], count > 1 ? &inputs[1] : NULL);
    if (ret->terms == 0)
        ret->terms = terms_of_reduction(node, &inputs[0], output);
    if (ret->terms == 0 && (text_equal_string(node->op_type, "Sum") || text_equal_string(node->op_type, "Mean")))
        ret->terms = count;
    if (text_equal_string(node->op_type, "BatchNormalization"))
        ret->terms = BATCH_NORMALIZATION_ROUNDINGS;
    ret->is_known = ret->terms > 0 || is_among(node, rounding_once, ARRAY_LEN(rounding_once));
    if (ret->is_known && type == DATA_FLOAT64)
        *ret = (struct kernel_bound){.why_not = "it computes in float64, as the exact evaluation does"};
}

/* ---- Layers ---- */

/* Sums with signs that are not those of the terms, and operators that enlarge differences, are not among them. */
static bool may_be_inside(const struct node *node)
{
    static const char *const names[] = {"Add",
                                        "AveragePool",
                                        "BatchNormalization",
                                        "Clip",
                                        "Concat",
                                        "ConstantOfShape",
                                        "Conv",
                                        "ConvTranspose",
                                        "Dropout",
                                        "Expand",
                                        "Flatten",
                                        "Gather",
                                        "Gemm",
                                        "GlobalAveragePool",
                                        "GlobalMaxPool",
                                        "Identity",
                                        "MatMul",
                                        "MaxPool",
                                        "Mean",
                                        "Mul",
                                        "ReduceL1",
                                        "ReduceMean",
                                        "ReduceSum",
                                        "Relu",
                                        "Reshape",
                                        "Slice",
                                        "Squeeze",
                                        "Sub",
                                        "Sum",
                                        "Transpose",
                                        "Unsqueeze"};

    return is_among(node, names, ARRAY_LEN(names));
}

static const struct tensor *find_tensor(const struct model *model, const struct tensor_list *tensors, uint32_t value)
{
    const struct named_tensor *found =
        value != VALUE_NONE ? tensor_list_find(tensors, model->values.items[value].name) : NULL;

    return found != NULL ? &found->tensor : NULL;
}

struct shape *kernel_list_shapes(const struct model *model, const struct node *node, const struct tensor_list *tensors)
{
    struct shape *ret = memory_alloc_zero(node->inputs.count + 1, sizeof(*ret));

    for (size_t i = 0; i < node->inputs.count; i++) {
        uint32_t value = node_input(model, node, i);
        const struct tensor *tensor = find_tensor(model, tensors, value);
        struct value_type type;

        if (tensor != NULL) {
            ret[i] = tensor->shape;
        } else if (model_dense_initializer(model, value) != NULL) {
            graph_view_initializer_type(model_dense_initializer(model, value), &type);
            ret[i] = type.shape;
        }
    }
    return ret;
}

static bool are_of_type(const struct model *model, const struct node *node, const struct tensor_list *tensors,
                        enum data_type type)
{
    for (size_t i = 0; i < node->outputs.count; i++) {
        const struct tensor *made = find_tensor(model, tensors, node_output(model, node, i));

        if (node_output(model, node, i) != VALUE_NONE && (made == NULL || made->type != type))
            return false;
    }
    return true;
}

/* Adds the roundings of a node to those of what it reads, which nodes before it have made. */
static bool add_roundings(const struct subgraph *part, const struct node *node, const struct tensor_list *tensors,
                          enum data_type type, size_t *roundings, struct kernel_bound *ret)
{
    struct shape *shapes SCOPED_FREE = kernel_list_shapes(part->model, node, tensors);
    const struct tensor *made = find_tensor(part->model, tensors, node_output(part->model, node, 0));
    size_t sum;

    kernel_bound_find(node, shapes, node->inputs.count, &made->shape, type, ret);
    if (!ret->is_known)
        return false;
    ret->why_not = "its nodes are not in the order in which they compute";
    sum = ret->terms + 2;
    for (size_t i = 0; i < node->inputs.count; i++) {
        uint32_t value = node_input(part->model, node, i);
        const struct node *producer = model_producer(part->model, value);

        if (producer != NULL && bitset_has(&part->nodes, (size_t)(producer - part->model->nodes.items)) &&
            roundings[value] == 0)
            return false;
        sum += value != VALUE_NONE ? roundings[value] : 0;
    }
    for (size_t i = 0; i < node->outputs.count; i++)
        if (node_output(part->model, node, i) != VALUE_NONE)
            roundings[node_output(part->model, node, i)] = sum;
    return true;
}

void kernel_bound_find_layer(const struct subgraph *part, const struct tensor_list *tensors, enum data_type type,
                             struct kernel_bound *ret)
{
    size_t *roundings SCOPED_FREE = memory_alloc_zero(part->model->values.count, sizeof(*roundings)), most = 0;

    BITSET_EACH (i, &part->nodes) {
        const struct node *node = &part->model->nodes.items[i];

        *ret = (struct kernel_bound){.why_not = "an operator has no bound within a fused layer"};
        if (!may_be_inside(node))
            return;
        if (node_output(part->model, node, 0) == VALUE_NONE || !are_of_type(part->model, node, tensors, type)) {
            ret->why_not = "a tensor inside is of another type";
            return;
        }
        if (!add_roundings(part, node, tensors, type, roundings, ret)) {
            ret->is_known = false;
            return;
        }
    }
    for (size_t i = 0; i < part->outputs.count; i++)
        if (roundings[part->outputs.items[i]] > most)
            most = roundings[part->outputs.items[i]];
    *ret = (struct kernel_bound){.is_known = true, .terms = most};
}

/* ---- Comparison ---- */

/* Unit roundoff, largest and smallest normal number, and what is lost below the latter. Integers are exact. */
struct type_limits {
    double roundoff, largest, lost;
};

static struct type_limits limits_of(enum data_type type)
{
    switch (type) {
    case DATA_FLOAT16:
        return (struct type_limits){0x1p-11, 65504, 0x1p-24};
    case DATA_BFLOAT16:
        return (struct type_limits){0x1p-8, 0x1.fep127, 0x1p-126};
    case DATA_FLOAT32:
        return (struct type_limits){0x1p-24, 0x1.fffffep127, 0x1p-126};
    default:
        return (struct type_limits){0, (double)INFINITY, 0};
    }
}

/* Whether a value is one of the integer type: others are not, where a result overflows or is rounded, and then ONNX
 * does not define which integer it becomes. */
static bool is_of_integer_type(enum data_type type, double value)
{
    int bits = (int)data_type_bits(type) - (data_type_is_signed(type) ? 1 : 0);

    return value == trunc(value) && value < ldexp(1, bits) &&
           value >= (data_type_is_signed(type) ? -ldexp(1, bits) : 0);
}

/* The error of an element in units of its bound. NAN: it has none, because partial sums may be beyond the range of the
 * type. What infinities and NaN give does not depend on the order of a sum. */
static double excess_of(double exact, double got, double bound, double sum, double largest)
{
    double error = fabs(got - exact);

    if (got == exact || (isnan(got) && isnan(exact)))
        return 0;
    if (isfinite(exact) && sum > largest)
        return NAN;
    if (isinf(got) && fabs(exact) + bound > largest && (got > 0) == (exact > 0))
        return 0;
    if (!isfinite(error) || bound == 0)
        return (double)INFINITY;
    return error / bound;
}

struct kernel_comparison kernel_bound_compare(const struct kernel_bound *bound, const struct tensor *exact,
                                              const struct tensor *magnitudes, enum data_type type,
                                              const struct tensor *got)
{
    const struct type_limits limits = limits_of(type);
    const double *items = exact->data, *sums = magnitudes != NULL ? magnitudes->data : exact->data;
    double steps = ((double)bound->terms + 2) * limits.roundoff, gamma = steps / (1 - steps), scale = 0, worst = 0;
    struct kernel_comparison ret = {0};
    double run[ELEMENTS_RUN];
    size_t bounded = 0; /* elements */

    if (!shape_equal(&exact->shape, &got->shape) || elements_arithmetic(got->type) == ARITHMETIC_NONE)
        return (struct kernel_comparison){.excess = (double)INFINITY, .error = (double)INFINITY};
    for (size_t first = 0; steps < 1 && first < tensor_elements(got); first += ELEMENTS_RUN) {
        size_t count = elements_in_run(tensor_elements(got), first);

        elements_to_float64(got, first, count, run);
        for (size_t i = 0; i < count; i++) {
            double sum = fabs(sums[first + i]), value = items[first + i], excess;

            if (isfinite(value))
                scale = fmax(scale, fabs(value));
            excess = excess_of(value, run[i], gamma * sum + ((double)bound->terms + 1) * limits.lost,
                               bound->terms > 0 ? sum : 0, limits.largest);
            if (data_type_is_integer(type) && !is_of_integer_type(type, value))
                excess = NAN;
            bounded += isnan(excess) ? 0 : 1;
            if (!(excess > ret.excess))
                continue;
            ret.excess = excess;
            ret.element = first + i;
            worst = fabs(run[i] - value);
        }
    }
    if (bounded == 0)
        ret.excess = NAN;
    ret.error = worst / (scale > 0 ? scale : 1);
    return ret;
}
