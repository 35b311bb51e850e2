/* Operations element by element: activations, arithmetic of two tensors, batch normalization. By every tactic. */
#include "support/operator_test.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

/* ---- activations ---- */

static double apply(enum activation activation, double x, double alpha, double beta)
{
    switch (activation) {
    case ACTIVATION_NONE:
        return x;
    case ACTIVATION_RELU:
        return x > 0 ? x : 0;
    case ACTIVATION_LEAKY_RELU:
        return x > 0 ? x : alpha * x;
    case ACTIVATION_CLIP:
        return x < alpha ? alpha : x > beta ? beta : x;
    case ACTIVATION_SIGMOID:
        return 1 / (1 + exp(-x));
    case ACTIVATION_TANH:
        return tanh(x);
    case ACTIVATION_ELU:
        return x > 0 ? x : alpha * (exp(x) - 1);
    case ACTIVATION_SWISH:
        return x / (1 + exp(-alpha * x));
    case ACTIVATION_HARD_SWISH:
        return x * fmax(0, fmin(1, x / 6 + 0.5));
    case ACTIVATION_GELU_ERF:
        return 0.5 * x * (1 + erf(x / sqrt(2)));
    case ACTIVATION_EXP:
        return exp(x);
    case ACTIVATION_LOG:
        return log(x);
    case ACTIVATION_ABS:
        return fabs(x);
    case ACTIVATION_SQRT:
        return sqrt(x);
    case ACTIVATION_SOFTPLUS:
        return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
    }
    return NAN;
}

static const struct {
    enum activation activation;
    float alpha, beta;
    bool positive; /* only defined there */
} activations[] = {
    {ACTIVATION_RELU, 0, 0, false},
    {ACTIVATION_LEAKY_RELU, 0.1f, 0, false},
    {ACTIVATION_LEAKY_RELU, -0.5f, 0, false},
    {ACTIVATION_CLIP, 0, 6, false},
    {ACTIVATION_CLIP, -1, INFINITY, false},
    {ACTIVATION_CLIP, -INFINITY, 1, false},
    {ACTIVATION_SIGMOID, 0, 0, false},
    {ACTIVATION_TANH, 0, 0, false},
    {ACTIVATION_ELU, 1, 0, false},
    {ACTIVATION_ELU, 0.3f, 0, false},
    {ACTIVATION_SWISH, 1, 0, false},
    {ACTIVATION_SWISH, 1.7f, 0, false},
    {ACTIVATION_HARD_SWISH, 0, 0, false},
    {ACTIVATION_GELU_ERF, 0, 0, false},
    {ACTIVATION_EXP, 0, 0, false},
    {ACTIVATION_LOG, 0, 0, true},
    {ACTIVATION_ABS, 0, 0, false},
    {ACTIVATION_SQRT, 0, 0, true},
    {ACTIVATION_SOFTPLUS, 0, 0, false},
};

static void begin_activation(struct operator_test *test, size_t i, struct shape shape)
{
    float *x;

    operator_begin(test, LAYER_ACTIVATION, "Relu", 13); /* the layer says what it is, not the node */
    test->activation = activations[i].activation;
    test->alpha = activations[i].alpha;
    test->beta = activations[i].beta;
    x = operator_input(test, shape, 9);
    for (size_t at = 0; activations[i].positive && at < shape_elements(&shape); at++)
        x[at] = fabsf(x[at]);
}

static void check_activation(size_t i, struct shape shape)
{
    struct operator_test test;
    double *expected = doubles(&shape);

    begin_activation(&test, i, shape);
    for (size_t at = 0; at < shape_elements(&shape); at++)
        expected[at] =
            apply(test.activation, ((const float *)test.operands[0].values)[at], (double)test.alpha, (double)test.beta);
    operator_check(&test, &shape, expected, 4e-6);
}

static void every_activation_is_computed_in_every_layout(void **state)
{
    REQUIRE_ONEDNN();
    for (size_t i = 0; i < ARRAY_LEN(activations); i++) {
        check_activation(i, SHAPE(2, 13, 5, 7));
        check_activation(i, SHAPE(37));
    }
}

static void tensors_of_any_rank_are_taken(void **state)
{
    REQUIRE_ONEDNN();
    check_activation(0, (struct shape){0});
    check_activation(0, SHAPE(3, 5));
    check_activation(6, SHAPE(2, 17, 3));
    check_activation(6, SHAPE(1, 3, 2, 3, 2));
    check_activation(6, SHAPE(2, 3, 2, 2, 2, 3, 2));
}

/* From -14 to -8 the result is smaller than 4e-4. */
static void a_softplus_far_below_zero_keeps_its_digits(void **state)
{
    struct operator_test test;
    struct shape shape = SHAPE(61);
    double *expected = doubles(&shape);
    float *x;

    REQUIRE_ONEDNN();
    operator_begin(&test, LAYER_ACTIVATION, "Softplus", 13);
    test.activation = ACTIVATION_SOFTPLUS;
    x = operator_input(&test, shape, 9);
    for (size_t i = 0; i < shape_elements(&shape); i++) {
        x[i] = -14.0f + (float)i / 10.0f;
        expected[i] = apply(ACTIVATION_SOFTPLUS, (double)x[i], 0, 0);
    }
    operator_check(&test, &shape, expected, 1e-9);
}

/* A maximum with NaN is another matter: Relu and Clip. */
static void nan_stays_nan(void **state)
{
    struct shape shape = SHAPE(1, 20, 2, 2);

    REQUIRE_ONEDNN();
    for (size_t i = 0; i < ARRAY_LEN(activations); i++) {
        struct operator_test test;
        double *expected = doubles(&shape);
        float *x;

        if (activations[i].activation == ACTIVATION_RELU || activations[i].activation == ACTIVATION_CLIP) {
            free(expected);
            continue;
        }
        begin_activation(&test, i, shape);
        x = test.operands[0].values;
        x[3] = x[40] = NAN;
        for (size_t at = 0; at < shape_elements(&shape); at++)
            expected[at] = isnan(x[at]) ? (double)NAN
                                        : apply(test.activation, (double)x[at], (double)test.alpha, (double)test.beta);
        operator_check(&test, &shape, expected, 4e-6);
    }
}

static void other_types_and_empty_tensors_have_no_tactics(void **state)
{
    struct operator_test test;

    REQUIRE_ONEDNN();
    begin_activation(&test, 0, SHAPE(2, 3));
    test.operands[0].type = DATA_INT32;
    operator_refuse(&test);
    begin_activation(&test, 0, SHAPE(2, 0, 3, 3));
    operator_refuse(&test);
}

/* ---- two tensors ---- */

static double combine(const char *op_type, double a, double b)
{
    switch (op_type[0]) {
    case 'A':
        return a + b;
    case 'S':
        return a - b;
    case 'D':
        return a / b;
    default:
        return op_type[1] == 'u'      ? a * b
               : isnan(a) || isnan(b) ? (double)NAN
               : op_type[1] == 'a'    ? fmax(a, b)
                                      : fmin(a, b);
    }
}

/* The element of an operand that meets element `at` of the result. */
static double met(const struct operand *operand, const struct shape *result, size_t at)
{
    struct shape position;
    size_t index = 0, missing = result->rank - operand->shape.rank;

    shape_position(result, at, &position);
    for (size_t i = 0; i < operand->shape.rank; i++)
        index = index * (size_t)operand->shape.dims[i] +
                (operand->shape.dims[i] == 1 ? 0 : (size_t)position.dims[i + missing]);
    return ((const float *)operand->values)[index];
}

static double *binary_expected(const struct operator_test *test, const struct shape *result)
{
    double *expected = doubles(result);

    for (size_t at = 0; at < shape_elements(result); at++)
        expected[at] = apply(
            test->fused,
            combine(test->op_type, met(&test->operands[0], result, at), met(&test->operands[1], result, at)), 0, 0);
    return expected;
}

static const struct {
    struct shape a, b, result;
} broadcasts[] = {
    {{4, {2, 13, 3, 5}}, {4, {2, 13, 3, 5}}, {4, {2, 13, 3, 5}}},
    {{4, {2, 32, 3, 5}}, {4, {2, 32, 3, 5}}, {4, {2, 32, 3, 5}}},
    {{4, {2, 13, 3, 5}}, {4, {1, 13, 1, 1}}, {4, {2, 13, 3, 5}}},
    {{4, {2, 13, 3, 5}}, {4, {2, 13, 1, 1}}, {4, {2, 13, 3, 5}}},
    {{4, {2, 20, 3, 5}}, {3, {20, 1, 1}}, {4, {2, 20, 3, 5}}},
    {{4, {2, 13, 3, 5}}, {1, {5}}, {4, {2, 13, 3, 5}}},
    {{4, {2, 13, 3, 5}}, {0, {0}}, {4, {2, 13, 3, 5}}},
    {{3, {20, 1, 1}}, {4, {2, 20, 3, 5}}, {4, {2, 20, 3, 5}}},
    {{4, {2, 13, 3, 5}}, {4, {1, 1, 3, 5}}, {4, {2, 13, 3, 5}}},
    {{4, {2, 13, 3, 5}}, {4, {2, 1, 3, 5}}, {4, {2, 13, 3, 5}}},
    {{2, {3, 1}}, {2, {1, 4}}, {2, {3, 4}}},
    {{4, {2, 1, 3, 1}}, {3, {7, 1, 5}}, {4, {2, 7, 3, 5}}},
    {{3, {4, 7, 24}}, {1, {24}}, {3, {4, 7, 24}}},
    {{0, {0}}, {0, {0}}, {0, {0}}},
    {{5, {1, 18, 2, 3, 2}}, {5, {1, 18, 1, 1, 1}}, {5, {1, 18, 2, 3, 2}}},
};

static void begin_binary(struct operator_test *test, const char *op_type, size_t i, int constant)
{
    operator_begin(test, LAYER_BINARY, op_type, 14);
    operator_input(test, broadcasts[i].a, 4);
    operator_input(test, broadcasts[i].b, 4);
    test->operands[0].constant = constant == 0;
    test->operands[1].constant = constant == 1;
}

static void check_binary(const char *op_type, size_t i, int constant, enum activation fused)
{
    struct operator_test test;

    begin_binary(&test, op_type, i, constant);
    test.fused = fused;
    operator_check(&test, &broadcasts[i].result, binary_expected(&test, &broadcasts[i].result), 1e-6);
}

static void arithmetic_broadcasts_as_numpy_does(void **state)
{
    static const char *const operations[] = {"Add", "Sub", "Mul", "Div"};

    REQUIRE_ONEDNN();
    for (size_t i = 0; i < ARRAY_LEN(broadcasts); i++)
        for (size_t operation = 0; operation < ARRAY_LEN(operations); operation++)
            for (int constant = -1; constant < 2; constant++)
                check_binary(operations[operation], i, constant, ACTIVATION_NONE);
}

static void fused_activation_comes_after_arithmetic(void **state)
{
    REQUIRE_ONEDNN();
    for (size_t i = 0; i < 8; i++) {
        check_binary("Add", i, -1, ACTIVATION_RELU);
        check_binary("Sub", i, 1, ACTIVATION_SIGMOID);
    }
}

/* On a processor with AVX-512, half a register. */
static void sums_of_eight_channels_have_their_activation(void **state)
{
    struct shape shape = SHAPE(1, 8, 2, 1);
    struct operator_test test;

    REQUIRE_ONEDNN();
    operator_begin(&test, LAYER_BINARY, "Add", 14);
    operator_input(&test, shape, 4);
    operator_input(&test, shape, 4);
    test.fused = ACTIVATION_RELU;
    operator_check(&test, &shape, binary_expected(&test, &shape), 1e-6);
}

static void maximum_is_left_to_others_unless_a_constant_has_no_nan(void **state)
{
    static const char *const operations[] = {"Max", "Min"};

    REQUIRE_ONEDNN();
    for (size_t operation = 0; operation < ARRAY_LEN(operations); operation++) {
        for (size_t i = 0; i < ARRAY_LEN(broadcasts); i++) {
            for (int constant = 0; constant < 2; constant++) {
                struct operator_test test;

                begin_binary(&test, operations[operation], i, constant);
                ((float *)test.operands[1 - constant].values)[0] = NAN;
                operator_check(&test, &broadcasts[i].result, binary_expected(&test, &broadcasts[i].result), 0);
                begin_binary(&test, operations[operation], i, constant);
                ((float *)test.operands[constant].values)[0] = NAN;
                operator_refuse(&test);
            }
        }
    }
}

static void shapes_that_do_not_broadcast_and_integers_have_no_tactics(void **state)
{
    struct operator_test test;

    REQUIRE_ONEDNN();
    operator_begin(&test, LAYER_BINARY, "Add", 14);
    operator_input(&test, SHAPE(2, 3), 1);
    operator_input(&test, SHAPE(2, 4), 1);
    operator_refuse(&test);
    begin_binary(&test, "Div", 0, -1);
    test.operands[0].type = test.operands[1].type = DATA_INT32;
    operator_refuse(&test);
    operator_begin(&test, LAYER_BINARY, "Add", 14);
    operator_input(&test, SHAPE(0, 4), 1);
    operator_input(&test, SHAPE(1, 4), 1);
    operator_refuse(&test);
}

/* ---- batch normalization ---- */

static void begin_normalization(struct operator_test *test, struct shape shape, bool constant)
{
    static const float ranges[] = {2, 3, 1, 1};

    operator_begin(test, LAYER_BATCH_NORMALIZATION, "BatchNormalization", 15);
    operator_attribute(test, FLOAT("epsilon", 1e-3f));
    operator_input(test, shape, 5);
    for (size_t i = 0; i < 4; i++) {
        operator_input(test, SHAPE(shape.dims[1]), ranges[i]);
        test->operands[i + 1].constant = constant;
    }
    for (int64_t i = 0; i < shape.dims[1]; i++) { /* variances */
        float *variance = (float *)test->operands[4].values + i;

        *variance = fabsf(*variance) + 0.1f;
    }
}

static void check_normalization(struct shape shape, bool constant, enum activation fused)
{
    struct operator_test test;
    double *expected = doubles(&shape);
    const float *values[5];
    size_t inner = 1;

    begin_normalization(&test, shape, constant);
    test.fused = fused;
    test.fused_alpha = 0.25f;
    test.fused_beta = 0.75f;
    for (size_t i = 0; i < 5; i++)
        values[i] = test.operands[i].values;
    for (size_t i = 2; i < shape.rank; i++)
        inner *= (size_t)shape.dims[i];
    for (size_t at = 0; at < shape_elements(&shape); at++) {
        size_t channel = at / inner % (size_t)shape.dims[1];
        double deviation = sqrt((double)values[4][channel] + (double)1e-3f);

        expected[at] =
            apply(fused,
                  ((double)values[0][at] - (double)values[3][channel]) / deviation * (double)values[1][channel] +
                      (double)values[2][channel],
                  (double)0.25f, (double)0.75f);
    }
    operator_check(&test, &shape, expected, 1e-5);
}

static void batch_normalization_uses_the_given_statistics(void **state)
{
    REQUIRE_ONEDNN();
    for (int constant = 0; constant < 2; constant++) {
        check_normalization(SHAPE(2, 13, 5, 7), constant, ACTIVATION_NONE);
        check_normalization(SHAPE(1, 64, 4, 4), constant, ACTIVATION_NONE);
        check_normalization(SHAPE(3, 24), constant, ACTIVATION_NONE);
        check_normalization(SHAPE(2, 19, 9), constant, ACTIVATION_NONE);
        check_normalization(SHAPE(1, 16, 2, 3, 4), constant, ACTIVATION_NONE);
    }
}

/* Whose channels lie side by side, as those of a matrix do. */
static void batches_of_single_pixels_are_normalized(void **state)
{
    REQUIRE_ONEDNN();
    for (int64_t batch = 1; batch <= 5; batch++) {
        check_normalization(SHAPE(batch, 16, 1, 1), true, ACTIVATION_NONE);
        check_normalization(SHAPE(batch, 17, 1), true, ACTIVATION_RELU);
    }
}

static void batch_normalization_has_its_relu_inside(void **state)
{
    REQUIRE_ONEDNN();
    check_normalization(SHAPE(2, 13, 5, 7), true, ACTIVATION_RELU);
    check_normalization(SHAPE(1, 64, 4, 4), true, ACTIVATION_RELU);
    check_normalization(SHAPE(2, 48, 3, 3), false, ACTIVATION_RELU);
}

static void batch_normalization_has_other_activations_inside(void **state)
{
    static const enum activation fusable[] = {ACTIVATION_LEAKY_RELU, ACTIVATION_CLIP,    ACTIVATION_SIGMOID,
                                              ACTIVATION_TANH,       ACTIVATION_ELU,     ACTIVATION_HARD_SWISH,
                                              ACTIVATION_SWISH,      ACTIVATION_GELU_ERF};

    REQUIRE_ONEDNN();
    for (size_t i = 0; i < ARRAY_LEN(fusable); i++) {
        check_normalization(SHAPE(2, 13, 5, 7), true, fusable[i]);
        check_normalization(SHAPE(1, 32, 4, 4), true, fusable[i]);
    }
}

static void batch_normalization_that_trains_has_no_tactics(void **state)
{
    struct operator_test test;

    REQUIRE_ONEDNN();
    begin_normalization(&test, SHAPE(2, 3, 4, 4), true);
    operator_attribute(&test, INTEGER("training_mode", 1));
    operator_refuse(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_activation_is_computed_in_every_layout),
        cmocka_unit_test(tensors_of_any_rank_are_taken),
        cmocka_unit_test(a_softplus_far_below_zero_keeps_its_digits),
        cmocka_unit_test(nan_stays_nan),
        cmocka_unit_test(other_types_and_empty_tensors_have_no_tactics),
        cmocka_unit_test(arithmetic_broadcasts_as_numpy_does),
        cmocka_unit_test(fused_activation_comes_after_arithmetic),
        cmocka_unit_test(sums_of_eight_channels_have_their_activation),
        cmocka_unit_test(maximum_is_left_to_others_unless_a_constant_has_no_nan),
        cmocka_unit_test(shapes_that_do_not_broadcast_and_integers_have_no_tactics),
        cmocka_unit_test(batch_normalization_uses_the_given_statistics),
        cmocka_unit_test(batches_of_single_pixels_are_normalized),
        cmocka_unit_test(batch_normalization_has_its_relu_inside),
        cmocka_unit_test(batch_normalization_has_other_activations_inside),
        cmocka_unit_test(batch_normalization_that_trains_has_no_tactics),
    };

    return cmocka_run_group_tests(tests, open_onednn, close_onednn);
}
