/* backend/exact/elementwise.c: operators that compute each element by itself, with broadcasting. */
#include <math.h>
#include <stdlib.h>

#include "backend/exact/kernels.h"
#include "base/memory.h"
#include "onnx/proto/node_attribute.h"

#define MOST_PARAMETERS 2

/* ---- One input ---- */

/* `p` are attributes. Formulas are those of ONNX's operator specification, in forms that lose nothing in float64. */

static double clamp_to_unit(double x)
{
    return fmin(1, fmax(0, x));
}

/* The details of these operators. */
struct unary_details {
    double (*compute)(double x, const double *p);
    const char *parameters[MOST_PARAMETERS];
    float defaults[MOST_PARAMETERS];
    bool is_boolean;
};

/* clang-format off */
#define UNARY_OPERATORS(PLAIN, FULL) \
    PLAIN(abs, "Abs", fabs(x)) \
    PLAIN(negative, "Neg", -x) \
    PLAIN(exponential, "Exp", exp(x)) \
    PLAIN(logarithm, "Log", log(x)) \
    PLAIN(square_root, "Sqrt", sqrt(x)) \
    PLAIN(reciprocal, "Reciprocal", 1 / x) \
    PLAIN(floor, "Floor", floor(x)) \
    PLAIN(ceiling, "Ceil", ceil(x)) \
    PLAIN(rounded, "Round", nearbyint(x)) \
    PLAIN(sine, "Sin", sin(x)) \
    PLAIN(cosine, "Cos", cos(x)) \
    PLAIN(tangent, "Tan", tan(x)) \
    PLAIN(arc_sine, "Asin", asin(x)) \
    PLAIN(arc_cosine, "Acos", acos(x)) \
    PLAIN(arc_tangent, "Atan", atan(x)) \
    PLAIN(hyperbolic_sine, "Sinh", sinh(x)) \
    PLAIN(hyperbolic_cosine, "Cosh", cosh(x)) \
    PLAIN(hyperbolic_tangent, "Tanh", tanh(x)) \
    PLAIN(arsinh, "Asinh", asinh(x)) \
    PLAIN(arcosh, "Acosh", acosh(x)) \
    PLAIN(artanh, "Atanh", atanh(x)) \
    PLAIN(error_function, "Erf", erf(x)) \
    PLAIN(sign, "Sign", x != x ? x : (x > 0) - (x < 0)) \
    FULL(inverse, "Not", x == 0, .is_boolean = true) \
    FULL(is_nan, "IsNaN", x != x, .is_boolean = true) \
    FULL(is_infinite, "IsInf", isinf(x) && (x > 0 ? p[1] != 0 : p[0] != 0), \
         .is_boolean = true, .parameters = {"detect_negative", "detect_positive"}, .defaults = {1, 1}) \
    PLAIN(relu, "Relu", x < 0 ? 0 : x) \
    FULL(leaky_relu, "LeakyRelu", x < 0 ? p[0] * x : x, .parameters = {"alpha"}, .defaults = {0.01F}) \
    FULL(thresholded_relu, "ThresholdedRelu", x > p[0] ? x : 0, .parameters = {"alpha"}, .defaults = {1}) \
    FULL(elu, "Elu", x < 0 ? p[0] * expm1(x) : x, .parameters = {"alpha"}, .defaults = {1}) \
    FULL(celu, "Celu", fmax(0, x) + fmin(0, p[0] * expm1(x / p[0])), .parameters = {"alpha"}, .defaults = {1}) \
    FULL(selu, "Selu", x > 0 ? p[1] * x : p[1] * p[0] * expm1(x), \
         .parameters = {"alpha", "gamma"}, .defaults = {1.67326319217681884765625F, 1.05070102214813232421875F}) \
    FULL(hard_sigmoid, "HardSigmoid", clamp_to_unit(p[0] * x + p[1]), \
         .parameters = {"alpha", "beta"}, .defaults = {0.2F, 0.5F}) \
    PLAIN(hard_swish, "HardSwish", x * clamp_to_unit(x / 6 + 0.5)) \
    PLAIN(sigmoid, "Sigmoid", exact_sigmoid(x)) \
    PLAIN(softplus, "Softplus", fmax(x, 0) + log1p(exp(-fabs(x)))) \
    PLAIN(softsign, "Softsign", x / (1 + fabs(x))) \
    PLAIN(mish, "Mish", x * tanh(compute_softplus(x, p))) \
    FULL(swish, "Swish", x * exact_sigmoid(p[0] * x), .parameters = {"alpha"}, .defaults = {1}) \
    PLAIN(gelu, "Gelu", 0.5 * x * erfc(-x * 0.70710678118654752440))

#define UNARY_FUNCTION(function, name, formula)                                                                        \
    static double compute_##function(double x, const double *p)                                                        \
    {                                                                                                                  \
        (void)p;                                                                                                       \
        return formula;                                                                                                \
    }
#define UNARY_FUNCTION_OF(function, name, formula, ...) UNARY_FUNCTION(function, name, formula)
#define UNARY_ROW(function, name, formula) UNARY_ROW_OF(function, name, formula, .is_boolean = false)
#define UNARY_ROW_OF(function, name, formula, ...) \
    {name, 1, false, compute_unary, &(const struct unary_details){.compute = compute_##function, __VA_ARGS__}},
/* clang-format on */

UNARY_OPERATORS(UNARY_FUNCTION, UNARY_FUNCTION_OF)
UNARY_FUNCTION(tanh_gelu, , 0.5 * x * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x))))

static int compute_unary(struct exact_call *call, struct error *err)
{
    const struct unary_details *details = call->details;
    double (*compute)(double x, const double *p) = details->compute;
    const struct exact_value *input = call->inputs[0];
    double p[MOST_PARAMETERS], *ret;
    int rc = exact_allocate(call, 0, details->is_boolean ? DATA_BOOL : input->type, exact_shape(input), &ret, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < MOST_PARAMETERS; i++)
        p[i] =
            details->parameters[i] == NULL
                ? 0
                : (details->is_boolean ? (double)node_attribute_integer(call->node->message, details->parameters[i], 1)
                                       : (double)node_attribute_float(call->node->message, details->parameters[i],
                                                                      details->defaults[i]));
    if (compute == compute_gelu && text_equal_string(exact_text_attribute(call, "approximate", "none"), "tanh"))
        compute = compute_tanh_gelu;
    for (size_t i = 0; i < exact_count(input); i++)
        ret[i] = compute(exact_items(input)[i], p);
    return 0;
}

/* ---- Two inputs and more ---- */

/* The details of these operators. */
struct binary_details {
    double (*compute)(double a, double b, bool is_integer);
    bool is_boolean;
};

/* clang-format off */
#define BINARY_OPERATORS(NUMBER, BOOLEAN) \
    NUMBER(sum, "Add", a + b) \
    NUMBER(difference, "Sub", a - b) \
    NUMBER(product, "Mul", a * b) \
    NUMBER(quotient, "Div", is_integer ? trunc(a / b) : a / b) \
    NUMBER(power, "Pow", is_integer ? trunc(pow(a, b)) : pow(a, b)) \
    NUMBER(least, "Min", a != a || b != b ? (double)NAN : fmin(a, b)) \
    NUMBER(greatest, "Max", a != a || b != b ? (double)NAN : fmax(a, b)) \
    NUMBER(parametric_relu, "PRelu", a < 0 ? a * b : a) \
    NUMBER(modulo, "Mod", a - floor(a / b) * b) \
    BOOLEAN(conjunction, "And", a != 0 && b != 0) \
    BOOLEAN(disjunction, "Or", a != 0 || b != 0) \
    BOOLEAN(exclusion, "Xor", (a != 0) != (b != 0)) \
    BOOLEAN(equality, "Equal", a == b) \
    BOOLEAN(is_greater, "Greater", a > b) \
    BOOLEAN(is_less, "Less", a < b) \
    BOOLEAN(is_not_less, "GreaterOrEqual", a >= b) \
    BOOLEAN(is_not_greater, "LessOrEqual", a <= b)

#define BINARY_FUNCTION(function, name, formula)                                                                       \
    static double compute_##function(double a, double b, bool is_integer)                                              \
    {                                                                                                                  \
        (void)is_integer;                                                                                              \
        return formula;                                                                                                \
    }
#define BINARY_ROW(function, name, formula) BINARY_ROW_OF(function, name, false)
#define BOOLEAN_ROW(function, name, formula) BINARY_ROW_OF(function, name, true)
#define BINARY_ROW_OF(function, name, is_boolean) \
    {name, EXACT_ALL_INPUTS, false, compute_binary, &(const struct binary_details){compute_##function, is_boolean}},
/* clang-format on */

BINARY_OPERATORS(BINARY_FUNCTION, BINARY_FUNCTION)
BINARY_FUNCTION(remainder, , fmod(a, b))

/* The shape of all inputs together. */
static int broadcast_inputs(const struct exact_call *call, struct shape *ret, struct error *err)
{
    *ret = (struct shape){0};
    for (size_t i = 0; i < call->input_count; i++)
        if (!exact_broadcast_shape(ret, exact_shape(call->inputs[i])))
            return exact_refuse_shapes(call, err);
    return 0;
}

static int compute_binary(struct exact_call *call, struct error *err)
{
    const struct binary_details *details = call->details;
    bool is_mean = node_is(call->node, "Mean"), is_integer;
    double (*compute)(double a, double b, bool is_integer) = details->compute, *ret;
    struct shape shape;
    size_t elements;
    int rc = broadcast_inputs(call, &shape, err);

    if (rc == 0)
        rc = exact_allocate(call, 0, details->is_boolean ? DATA_BOOL : call->inputs[0]->type, &shape, &ret, err);
    if (rc < 0)
        return rc;
    if (compute == compute_modulo && node_attribute_integer(call->node->message, "fmod", 0) != 0)
        compute = compute_remainder;
    if (compute == compute_difference && call->options->magnitudes)
        compute = compute_sum;
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
    struct shape shape;
    double *ret;
    int rc = broadcast_inputs(call, &shape, err);

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
    const struct exact_value *input = call->inputs[0];
    int rc = exact_allocate(call, 0, input->type, exact_shape(input), &ret, err);

    for (size_t i = 0; rc == 0 && i < exact_count(input); i++) {
        double x = exact_items(input)[i];

        ret[i] = x != x || call->options->magnitudes ? x : fmin(greatest, fmax(least, x));
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
    const struct exact_value *input = call->inputs[0];
    double *ret;
    int rc;

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

const struct exact_operator exact_elementwise_operators[] = {
    UNARY_OPERATORS(UNARY_ROW, UNARY_ROW_OF)           /* one input */
    BINARY_OPERATORS(BINARY_ROW, BOOLEAN_ROW)          /* two, or any number */
    BINARY_ROW(sum, "Sum", ) BINARY_ROW(sum, "Mean", ) /* the same */
    {"Where", 3, false, compute_where, NULL},
    {"Clip", 1, false, compute_clip, NULL},
    {"Cast", 1, false, compute_cast, NULL},
    {"CastLike", 1, false, compute_cast, NULL},
    {0},
};
