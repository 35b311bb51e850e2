/* backend/exact/elementwise.c: operators that compute each element by itself, with broadcasting. */
#include <math.h>
#include <stdlib.h>

#include "backend/exact/kernels.h"
#include "base/memory.h"
#include "onnx/proto/node_attribute.h"

#define MOST_PARAMETERS 2

/* ---- One input ---- */

/* `p` are attributes. Formulas are those of ONNX's operator specification, in forms that lose nothing in float64. */

static double compute_softplus(double x, const double *p)
{
    (void)p;
    return fmax(x, 0) + log1p(exp(-fabs(x)));
}

static double clamp_to_unit(double x)
{
    return fmin(1, fmax(0, x));
}

/* clang-format off */
#define UNARY(name, formula)                                                                                           \
    static double compute_##name(double x, const double *p)                                                            \
    {                                                                                                                  \
        (void)p;                                                                                                       \
        return formula;                                                                                                \
    }

UNARY(abs, fabs(x))
UNARY(negative, -x)
UNARY(exponential, exp(x))
UNARY(logarithm, log(x))
UNARY(square_root, sqrt(x))
UNARY(reciprocal, 1 / x)
UNARY(floor, floor(x))
UNARY(ceiling, ceil(x))
UNARY(rounded, nearbyint(x))
UNARY(sine, sin(x))
UNARY(cosine, cos(x))
UNARY(tangent, tan(x))
UNARY(arc_sine, asin(x))
UNARY(arc_cosine, acos(x))
UNARY(arc_tangent, atan(x))
UNARY(hyperbolic_sine, sinh(x))
UNARY(hyperbolic_cosine, cosh(x))
UNARY(hyperbolic_tangent, tanh(x))
UNARY(arsinh, asinh(x))
UNARY(arcosh, acosh(x))
UNARY(artanh, atanh(x))
UNARY(error_function, erf(x))
UNARY(sign, x != x ? x : (x > 0) - (x < 0))
UNARY(inverse, x == 0)
UNARY(is_nan, x != x)
UNARY(is_infinite, isinf(x) && (x > 0 ? p[1] != 0 : p[0] != 0))
UNARY(relu, x < 0 ? 0 : x)
UNARY(leaky_relu, x < 0 ? p[0] * x : x)
UNARY(thresholded_relu, x > p[0] ? x : 0)
UNARY(elu, x < 0 ? p[0] * expm1(x) : x)
UNARY(celu, fmax(0, x) + fmin(0, p[0] * expm1(x / p[0])))
UNARY(selu, x > 0 ? p[1] * x : p[1] * p[0] * expm1(x))
UNARY(hard_sigmoid, clamp_to_unit(p[0] * x + p[1]))
UNARY(hard_swish, x * clamp_to_unit(x / 6 + 0.5))
UNARY(sigmoid, exact_sigmoid(x))
UNARY(softsign, x / (1 + fabs(x)))
UNARY(mish, x * tanh(compute_softplus(x, p)))
UNARY(swish, x * exact_sigmoid(p[0] * x))
UNARY(gelu, 0.5 * x * erfc(-x * 0.70710678118654752440))
UNARY(tanh_gelu, 0.5 * x * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x))))
/* clang-format on */

struct unary_operator {
    const char *name;
    double (*compute)(double x, const double *p);
    const char *parameters[MOST_PARAMETERS];
    float defaults[MOST_PARAMETERS];
    bool is_boolean;
};

static const struct unary_operator unary_operators[] = {
    {"Abs", compute_abs, {0}, {0}, false},
    {"Neg", compute_negative, {0}, {0}, false},
    {"Exp", compute_exponential, {0}, {0}, false},
    {"Log", compute_logarithm, {0}, {0}, false},
    {"Sqrt", compute_square_root, {0}, {0}, false},
    {"Reciprocal", compute_reciprocal, {0}, {0}, false},
    {"Floor", compute_floor, {0}, {0}, false},
    {"Ceil", compute_ceiling, {0}, {0}, false},
    {"Round", compute_rounded, {0}, {0}, false},
    {"Sin", compute_sine, {0}, {0}, false},
    {"Cos", compute_cosine, {0}, {0}, false},
    {"Tan", compute_tangent, {0}, {0}, false},
    {"Asin", compute_arc_sine, {0}, {0}, false},
    {"Acos", compute_arc_cosine, {0}, {0}, false},
    {"Atan", compute_arc_tangent, {0}, {0}, false},
    {"Sinh", compute_hyperbolic_sine, {0}, {0}, false},
    {"Cosh", compute_hyperbolic_cosine, {0}, {0}, false},
    {"Tanh", compute_hyperbolic_tangent, {0}, {0}, false},
    {"Asinh", compute_arsinh, {0}, {0}, false},
    {"Acosh", compute_arcosh, {0}, {0}, false},
    {"Atanh", compute_artanh, {0}, {0}, false},
    {"Erf", compute_error_function, {0}, {0}, false},
    {"Sign", compute_sign, {0}, {0}, false},
    {"Not", compute_inverse, {0}, {0}, true},
    {"IsNaN", compute_is_nan, {0}, {0}, true},
    {"IsInf", compute_is_infinite, {"detect_negative", "detect_positive"}, {1, 1}, true},
    {"Relu", compute_relu, {0}, {0}, false},
    {"LeakyRelu", compute_leaky_relu, {"alpha"}, {0.01F}, false},
    {"ThresholdedRelu", compute_thresholded_relu, {"alpha"}, {1}, false},
    {"Elu", compute_elu, {"alpha"}, {1}, false},
    {"Celu", compute_celu, {"alpha"}, {1}, false},
    {"Selu", compute_selu, {"alpha", "gamma"}, {1.67326319217681884765625F, 1.05070102214813232421875F}, false},
    {"HardSigmoid", compute_hard_sigmoid, {"alpha", "beta"}, {0.2F, 0.5F}, false},
    {"HardSwish", compute_hard_swish, {0}, {0}, false},
    {"Sigmoid", compute_sigmoid, {0}, {0}, false},
    {"Softplus", compute_softplus, {0}, {0}, false},
    {"Softsign", compute_softsign, {0}, {0}, false},
    {"Mish", compute_mish, {0}, {0}, false},
    {"Swish", compute_swish, {"alpha"}, {1}, false},
    {"Gelu", compute_gelu, {0}, {0}, false},
};

static int compute_unary(struct exact_call *call, const struct unary_operator *operator, struct error * err)
{
    double (*compute)(double x, const double *p) = operator->compute;
    const struct exact_value *input = exact_input(call, 0);
    double p[MOST_PARAMETERS], *ret;
    int rc = exact_require_inputs(call, 1, err);

    if (rc == 0)
        rc = exact_allocate(call, 0, operator->is_boolean ? DATA_BOOL : input->type, exact_shape(input), &ret, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < MOST_PARAMETERS; i++)
        p[i] = operator->parameters[i] == NULL
                   ? 0
                   : (operator->is_boolean
                          ? (double)node_attribute_integer(call->node->message, operator->parameters[i], 1)
                          : (double)node_attribute_float(
                                call->node->message, operator->parameters[i], operator->defaults[i]));
    if (compute == compute_gelu && text_equal_string(exact_text_attribute(call, "approximate", "none"), "tanh"))
        compute = compute_tanh_gelu;
    for (size_t i = 0; i < exact_count(input); i++)
        ret[i] = compute(exact_items(input)[i], p);
    return 0;
}

/* ---- Two inputs and more ---- */

static double compute_power(double a, double b, bool is_integer)
{
    double ret = pow(a, b);

    return is_integer ? trunc(ret) : ret;
}

static double compute_quotient(double a, double b, bool is_integer)
{
    return is_integer ? trunc(a / b) : a / b;
}

/* clang-format off */
#define BINARY(name, formula)                                                                                          \
    static double compute_##name(double a, double b, bool is_integer)                                                  \
    {                                                                                                                  \
        (void)is_integer;                                                                                              \
        return formula;                                                                                                \
    }

BINARY(sum, a + b)
BINARY(difference, a - b)
BINARY(product, a * b)
BINARY(least, a != a || b != b ? (double)NAN : fmin(a, b))
BINARY(greatest, a != a || b != b ? (double)NAN : fmax(a, b))
BINARY(parametric_relu, a < 0 ? a * b : a)
BINARY(modulo, a - floor(a / b) * b)
BINARY(remainder, fmod(a, b))
BINARY(conjunction, a != 0 && b != 0)
BINARY(disjunction, a != 0 || b != 0)
BINARY(exclusion, (a != 0) != (b != 0))
BINARY(equality, a == b)
BINARY(is_greater, a > b)
BINARY(is_less, a < b)
BINARY(is_not_less, a >= b)
BINARY(is_not_greater, a <= b)
/* clang-format on */

static const struct binary_operator {
    const char *name;
    double (*compute)(double a, double b, bool is_integer);
    bool is_boolean;
} binary_operators[] = {
    {"Add", compute_sum, false},
    {"Sub", compute_difference, false},
    {"Mul", compute_product, false},
    {"Div", compute_quotient, false},
    {"Pow", compute_power, false},
    {"Min", compute_least, false},
    {"Max", compute_greatest, false},
    {"Sum", compute_sum, false},
    {"Mean", compute_sum, false},
    {"PRelu", compute_parametric_relu, false},
    {"Mod", compute_modulo, false},
    {"And", compute_conjunction, true},
    {"Or", compute_disjunction, true},
    {"Xor", compute_exclusion, true},
    {"Equal", compute_equality, true},
    {"Greater", compute_is_greater, true},
    {"Less", compute_is_less, true},
    {"GreaterOrEqual", compute_is_not_less, true},
    {"LessOrEqual", compute_is_not_greater, true},
};

/* The shape of all inputs together. */
static int broadcast_inputs(const struct exact_call *call, struct shape *ret, struct error *err)
{
    *ret = (struct shape){0};
    for (size_t i = 0; i < call->input_count; i++)
        if (!exact_broadcast_shape(ret, exact_shape(call->inputs[i])))
            return exact_refuse_shapes(call, err);
    return 0;
}

static int compute_binary(struct exact_call *call, const struct binary_operator *operator, struct error * err)
{
    bool is_mean = operator->name[0] == 'M' && operator->compute == compute_sum, is_integer;
    double (*compute)(double a, double b, bool is_integer) = operator->compute, *ret;
    int rc = exact_require_inputs(call, call->input_count, err);
    struct shape shape;
    size_t elements;

    if (rc == 0)
        rc = call->input_count == 0 ? exact_refuse_shapes(call, err) : broadcast_inputs(call, &shape, err);
    if (rc == 0)
        rc = exact_allocate(call, 0, operator->is_boolean ? DATA_BOOL : call->inputs[0]->type, &shape, &ret, err);
    if (rc < 0)
        return rc;
    if (compute == compute_modulo && node_attribute_integer(call->node->message, "fmod", 0) != 0)
        compute = compute_remainder;
    is_integer = !data_type_is_float(call->inputs[0]->type);
    elements = shape_elements(&shape);
    for (size_t k = 0; k < call->input_count; k++) {
        size_t *from SCOPED_FREE = exact_broadcast_indices(exact_shape(call->inputs[k]), &shape);
        const double *items = exact_items(call->inputs[k]);

        if (from == NULL)
            return tensor_refuse_size(DATA_FLOAT64, &shape, elements * sizeof(*from), err);
        for (size_t i = 0; i < elements; i++)
            ret[i] = k == 0 ? items[from[i]] : exact_round(call->options, compute(ret[i], items[from[i]], is_integer));
    }
    for (size_t i = 0; is_mean && i < elements; i++)
        ret[i] /= (double)call->input_count;
    return 0;
}

static int compute_where(struct exact_call *call, struct error *err)
{
    int rc = exact_require_inputs(call, 3, err);
    struct shape shape;
    double *ret;

    if (rc == 0)
        rc = broadcast_inputs(call, &shape, err);
    if (rc == 0)
        rc = exact_allocate(call, 0, call->inputs[1]->type, &shape, &ret, err);
    if (rc < 0)
        return rc;
    for (size_t k = 1; k <= 2; k++) {
        size_t *from SCOPED_FREE = exact_broadcast_indices(exact_shape(call->inputs[k]), &shape);
        size_t *chosen SCOPED_FREE = exact_broadcast_indices(exact_shape(call->inputs[0]), &shape);

        if (from == NULL || chosen == NULL)
            return tensor_refuse_size(DATA_FLOAT64, &shape, shape_elements(&shape) * sizeof(*from), err);
        for (size_t i = 0; i < shape_elements(&shape); i++)
            if ((exact_items(call->inputs[0])[chosen[i]] != 0) == (k == 1))
                ret[i] = exact_items(call->inputs[k])[from[i]];
    }
    return 0;
}

/* The limit of an operator's attribute (up to version 6), or input. */
static double read_limit(const struct exact_call *call, size_t input, const char *name, double otherwise)
{
    const struct exact_value *value = exact_input(call, input);

    if (value != NULL && exact_count(value) == 1)
        return exact_items(value)[0];
    return (double)node_attribute_float(call->node->message, name, (float)otherwise);
}

static int compute_clip(struct exact_call *call, struct error *err)
{
    double least = read_limit(call, 1, "min", (double)-INFINITY), *ret;
    double greatest = read_limit(call, 2, "max", (double)INFINITY);
    const struct exact_value *input = exact_input(call, 0);
    int rc = exact_require_inputs(call, 1, err);

    if (rc == 0)
        rc = exact_allocate(call, 0, input->type, exact_shape(input), &ret, err);
    for (size_t i = 0; rc == 0 && i < exact_count(input); i++) {
        double x = exact_items(input)[i];

        ret[i] = x != x ? x : fmin(greatest, fmax(least, x));
    }
    return rc;
}

static double cast_element(enum data_type from, enum data_type to, double x)
{
    const struct exact_options half = {.type = to};

    if (to == DATA_BOOL)
        return x != 0;
    if (to == DATA_FLOAT16 || to == DATA_BFLOAT16)
        return exact_round(&half, x);
    return data_type_is_float(from) && !data_type_is_float(to) ? trunc(x) : x;
}

static int compute_cast(struct exact_call *call, struct error *err)
{
    enum data_type to = (enum data_type)node_attribute_integer(call->node->message, "to", 0);
    const struct exact_value *input = exact_input(call, 0);
    int rc = exact_require_inputs(call, 1, err);
    double *ret;

    if (rc < 0)
        return rc;
    if (node_is(call->node, "CastLike"))
        to = call->input_count > 1 && call->inputs[1] != NULL ? call->inputs[1]->type : DATA_UNDEFINED;
    if (to != DATA_BOOL && to != DATA_FLOAT16 && to != DATA_BFLOAT16 && to != DATA_FLOAT32 && to != DATA_FLOAT64 &&
        to != DATA_INT32 && to != DATA_INT64)
        return exact_refuse(call, err, "a cast to that type is not computed in float64");
    rc = exact_allocate(call, 0, to, exact_shape(input), &ret, err);
    for (size_t i = 0; rc == 0 && i < exact_count(input); i++)
        ret[i] = cast_element(input->type, to, exact_items(input)[i]);
    return rc;
}

int exact_compute_elementwise(struct exact_call *call, struct error *err)
{
    for (size_t i = 0; i < ARRAY_LEN(unary_operators); i++)
        if (node_is(call->node, unary_operators[i].name))
            return compute_unary(call, &unary_operators[i], err);
    for (size_t i = 0; i < ARRAY_LEN(binary_operators); i++)
        if (node_is(call->node, binary_operators[i].name))
            return compute_binary(call, &binary_operators[i], err);
    if (node_is(call->node, "Where"))
        return compute_where(call, err);
    if (node_is(call->node, "Clip"))
        return compute_clip(call, err);
    if (node_is(call->node, "Cast") || node_is(call->node, "CastLike"))
        return compute_cast(call, err);
    return EXACT_NOT_MINE;
}
