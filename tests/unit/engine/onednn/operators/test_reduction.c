/* What combines the elements of a tensor with each other: reductions, softmax, layer normalization; and
 * concatenation. By every tactic. */
#include "support/operator_test.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

/* ---- reductions ---- */

static const char *const reductions[] = {"ReduceMean", "ReduceSum", "ReduceProd",
                                         "ReduceL1",   "ReduceL2",  "ReduceSumSquare"};

static double add_to(const char *op_type, double sum, double x)
{
    if (strcmp(op_type, "ReduceProd") == 0)
        return sum * x;
    if (strcmp(op_type, "ReduceL1") == 0)
        return sum + fabs(x);
    return strcmp(op_type, "ReduceMean") == 0 || strcmp(op_type, "ReduceSum") == 0 ? sum + x : sum + x * x;
}

static double result_of(const char *op_type, double sum, size_t count)
{
    if (strcmp(op_type, "ReduceMean") == 0)
        return sum / (double)count;
    return strcmp(op_type, "ReduceL2") == 0 ? sqrt(sum) : sum;
}

struct reduction {
    struct shape shape;
    int64_t axes[4];
    size_t count;
    bool drops; /* keepdims = 0 */
};

static const struct reduction shapes[] = {
    {{4, {2, 13, 5, 7}}, {2, 3}, 2, false},
    {{4, {2, 13, 5, 7}}, {2, 3}, 2, true},
    {{4, {2, 32, 3, 4}}, {-1, -2}, 2, false},
    {{4, {2, 13, 5, 7}}, {1}, 1, false},
    {{4, {2, 13, 5, 7}}, {1}, 1, true},
    {{4, {2, 20, 5, 7}}, {0, 2}, 2, false},
    {{4, {2, 13, 2, 2}}, {0}, 0, false},
    {{4, {2, 13, 2, 2}}, {0}, 0, true},
    {{3, {4, 6, 24}}, {-1}, 1, false},
    {{3, {4, 6, 24}}, {2}, 1, true},
    {{2, {5, 9}}, {0}, 1, true},
    {{1, {17}}, {0}, 1, true},
    {{5, {1, 18, 2, 3, 4}}, {2, 3, 4}, 3, true},
    {{6, {2, 3, 2, 2, 3, 2}}, {5, 3}, 2, false},
};

static bool is_reduced(const struct reduction *reduction, size_t dimension)
{
    for (size_t i = 0; i < reduction->count; i++)
        if ((reduction->axes[i] + (int64_t)reduction->shape.rank) % (int64_t)reduction->shape.rank ==
            (int64_t)dimension)
            return true;
    return reduction->count == 0;
}

/* In operator set 18 the axes are an input. */
static void begin_reduction(struct operator_test *test, const struct reduction *reduction, const char *op_type,
                            int64_t opset)
{
    operator_begin(test, LAYER_REDUCTION, op_type, opset);
    operator_input(test, reduction->shape, 1.5f);
    if (reduction->count > 0 && opset >= 18)
        operator_integers(test, reduction->axes, reduction->count);
    else if (reduction->count > 0)
        operator_attribute(test, integers("axes", reduction->axes, reduction->count));
    if (reduction->drops)
        operator_attribute(test, INTEGER("keepdims", 0));
}

static void check_reduction(const struct reduction *reduction, const char *op_type, int64_t opset)
{
    struct operator_test test;
    struct shape kept = reduction->shape, result = {0}, position;
    double *expected;
    size_t count = 1;

    begin_reduction(&test, reduction, op_type, opset);
    for (size_t i = 0; i < kept.rank; i++) {
        if (is_reduced(reduction, i)) {
            count *= (size_t)kept.dims[i];
            kept.dims[i] = 1;
        } else {
            result.dims[result.rank++] = kept.dims[i];
        }
    }
    expected = doubles(&kept);
    for (size_t i = 0; i < shape_elements(&kept); i++)
        expected[i] = strcmp(op_type, "ReduceProd") == 0 ? 1 : 0;
    for (size_t at = 0; at < shape_elements(&reduction->shape); at++) {
        size_t index = 0;

        shape_position(&reduction->shape, at, &position);
        for (size_t i = 0; i < kept.rank; i++)
            index = index * (size_t)kept.dims[i] + (kept.dims[i] == 1 ? 0 : (size_t)position.dims[i]);
        expected[index] = add_to(op_type, expected[index], (double)((const float *)test.operands[0].values)[at]);
    }
    for (size_t i = 0; i < shape_elements(&kept); i++)
        expected[i] = result_of(op_type, expected[i], count);
    operator_check(&test, reduction->drops ? &result : &kept, expected, 4e-6);
}

static void every_reduction_is_computed_in_every_layout(void **state)
{
    REQUIRE_ONEDNN();
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
        for (size_t operation = 0; operation < ARRAY_LEN(reductions); operation++)
            check_reduction(&shapes[i], reductions[operation], i % 2 ? 13 : 18);
}

static void reductions_of_nothing_or_along_unknown_axes_have_no_tactics(void **state)
{
    struct operator_test test;

    REQUIRE_ONEDNN();
    begin_reduction(&test, &shapes[0], "ReduceSum", 18);
    test.operands[1].constant = false;
    operator_refuse(&test);

    begin_reduction(&test, &shapes[6], "ReduceSum", 18);
    operator_attribute(&test, INTEGER("noop_with_empty_axes", 1));
    operator_refuse(&test);

    begin_reduction(&test, &shapes[0], "ReduceLogSumExp", 18);
    operator_refuse(&test);

    begin_reduction(&test, &shapes[0], "ReduceMax", 18); /* of minus infinity, oneDNN makes a number */
    operator_refuse(&test);

    begin_reduction(&test, &(struct reduction){{3, {2, 3, 4}}, {3}, 1, false}, "ReduceSum", 18);
    operator_refuse(&test);

    begin_reduction(&test, &(struct reduction){{3, {2, 0, 4}}, {1}, 1, false}, "ReduceSum", 18);
    operator_refuse(&test);
}

/* ---- softmax ---- */

/* Along `count` elements, `stride` apart. */
static void softmax(const float *x, double *y, size_t count, size_t stride, bool logarithm)
{
    double largest = -INFINITY, sum = 0;

    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, (double)x[i * stride]);
    for (size_t i = 0; i < count; i++)
        sum += exp((double)x[i * stride] - largest);
    for (size_t i = 0; i < count; i++) {
        double power = (double)x[i * stride] - largest;

        y[i * stride] = logarithm ? power - log(sum) : exp(power) / sum;
    }
}

/* `axis` INT64_MIN: the default, which is 1 before operator set 13. */
static void check_softmax(const char *op_type, int64_t opset, struct shape shape, int64_t axis)
{
    struct operator_test test;
    double *expected = doubles(&shape);
    size_t counted, count = 1, inner = 1, all = shape_elements(&shape);

    operator_begin(&test, LAYER_SOFTMAX, op_type, opset);
    operator_input(&test, shape, 8);
    if (axis != INT64_MIN)
        operator_attribute(&test, INTEGER("axis", axis));
    else
        axis = opset < 13 ? 1 : -1;
    counted = (size_t)(axis < 0 ? axis + (int64_t)shape.rank : axis);
    for (size_t i = counted; i < shape.rank; i++)
        *(opset < 13 || i == counted ? &count : &inner) *= (size_t)shape.dims[i];
    for (size_t i = 0; i < all; i++)
        if (i / inner % count == 0)
            softmax((const float *)test.operands[0].values + i, expected + i, count, inner,
                    strcmp(op_type, "LogSoftmax") == 0);
    operator_check(&test, &shape, expected, 4e-6);
}

static void softmax_is_taken_along_one_axis(void **state)
{
    static const char *const operations[] = {"Softmax", "LogSoftmax"};

    REQUIRE_ONEDNN();
    for (size_t i = 0; i < ARRAY_LEN(operations); i++) {
        check_softmax(operations[i], 13, SHAPE(2, 13, 5, 7), INT64_MIN);
        check_softmax(operations[i], 13, SHAPE(2, 13, 5, 7), 1);
        check_softmax(operations[i], 13, SHAPE(2, 32, 4, 4), 1);
        check_softmax(operations[i], 13, SHAPE(2, 20, 5, 7), -2);
        check_softmax(operations[i], 13, SHAPE(3, 4, 6), 0);
        check_softmax(operations[i], 13, SHAPE(5, 37), 1);
        check_softmax(operations[i], 13, SHAPE(19), 0);
        check_softmax(operations[i], 13, SHAPE(1, 1000), -1);
    }
}

static void softmax_of_nan_is_nan_and_of_minus_infinity_nothing(void **state)
{
    struct shape shape = SHAPE(4, 20);

    REQUIRE_ONEDNN();
    for (int logarithm = 0; logarithm < 2; logarithm++) {
        struct operator_test test;
        double *expected = doubles(&shape);
        float *x;

        operator_begin(&test, LAYER_SOFTMAX, logarithm ? "LogSoftmax" : "Softmax", 13);
        x = operator_input(&test, shape, 8);
        x[23] = NAN;
        x[41] = x[47] = -INFINITY;
        x[65] = INFINITY;
        for (size_t row = 0; row < 4; row++)
            softmax(x + row * 20, expected + row * 20, 20, 1, logarithm);
        for (size_t i = 20; i < 80; i++)
            if (i < 40 || i == 65)
                expected[i] = NAN;
        operator_check(&test, &shape, expected, 1e-5);
    }
}

static void old_softmax_is_taken_along_all_axes_from_one_on(void **state)
{
    REQUIRE_ONEDNN();
    check_softmax("Softmax", 11, SHAPE(2, 13, 5, 7), INT64_MIN);
    check_softmax("Softmax", 11, SHAPE(2, 13, 5, 7), 2);
    check_softmax("LogSoftmax", 9, SHAPE(2, 3, 4), 0);
    check_softmax("LogSoftmax", 11, SHAPE(2, 3, 4), -1);
}

/* ---- layer normalization ---- */

static void begin_layer_normalization(struct operator_test *test, struct shape shape, int64_t axis, bool constant,
                                      bool has_bias)
{
    struct shape normalized = {0};

    for (size_t i = (size_t)(axis < 0 ? axis + (int64_t)shape.rank : axis); i < shape.rank; i++)
        normalized.dims[normalized.rank++] = shape.dims[i];
    operator_begin(test, LAYER_LAYER_NORMALIZATION, "LayerNormalization", 17);
    operator_attribute(test, INTEGER("axis", axis));
    operator_attribute(test, FLOAT("epsilon", 1e-4f));
    operator_input(test, shape, 5);
    for (size_t i = 0; i < (has_bias ? 2 : 1); i++) {
        operator_input(test, normalized, 2);
        test->operands[i + 1].constant = constant;
    }
}

static void check_layer_normalization(struct shape shape, int64_t axis, bool constant, bool has_bias)
{
    struct operator_test test;
    double *expected = doubles(&shape);
    const float *x, *scale, *bias;
    size_t count;

    begin_layer_normalization(&test, shape, axis, constant, has_bias);
    count = shape_elements(&test.operands[1].shape);
    x = test.operands[0].values;
    scale = test.operands[1].values;
    bias = test.operands[2].values;
    for (size_t row = 0; row < shape_elements(&shape); row += count) {
        double mean = 0, variance = 0;

        for (size_t i = 0; i < count; i++)
            mean += (double)x[row + i] / (double)count;
        for (size_t i = 0; i < count; i++)
            variance += pow((double)x[row + i] - mean, 2) / (double)count;
        for (size_t i = 0; i < count; i++)
            expected[row + i] = ((double)x[row + i] - mean) / sqrt(variance + (double)1e-4f) * (double)scale[i] +
                                (has_bias ? (double)bias[i] : 0);
    }
    operator_check(&test, &shape, expected, 4e-6);
}

static void layers_are_normalized_over_the_last_dimensions(void **state)
{
    struct operator_test test;

    REQUIRE_ONEDNN();
    for (int constant = 0; constant < 2; constant++) {
        check_layer_normalization(SHAPE(2, 5, 48), -1, constant, true);
        check_layer_normalization(SHAPE(2, 5, 37), 2, constant, false);
        check_layer_normalization(SHAPE(2, 3, 4, 5), 1, constant, true);
        check_layer_normalization(SHAPE(3, 7), 0, constant, true);
        check_layer_normalization(SHAPE(29), -1, constant, true);
    }
    begin_layer_normalization(&test, SHAPE(2, 5, 48), -1, true, true);
    test.output_count = 2; /* the mean */
    operator_refuse(&test);
    begin_layer_normalization(&test, SHAPE(2, 5, 48), -1, true, true);
    test.operands[1].shape = SHAPE(1); /* a scale that broadcasts */
    operator_refuse(&test);
}

/* ---- concatenation ---- */

static const struct {
    struct shape parts[3];
    size_t count;
    int64_t axis;
    struct shape result;
} concatenations[] = {
    {{{4, {2, 13, 3, 5}}, {4, {2, 20, 3, 5}}}, 2, 1, {4, {2, 33, 3, 5}}},
    {{{4, {2, 16, 3, 5}}, {4, {2, 32, 3, 5}}, {4, {2, 16, 3, 5}}}, 3, 1, {4, {2, 64, 3, 5}}},
    {{{4, {2, 16, 3, 5}}, {4, {2, 7, 3, 5}}}, 2, -3, {4, {2, 23, 3, 5}}},
    {{{4, {2, 13, 3, 5}}, {4, {2, 13, 4, 5}}}, 2, 2, {4, {2, 13, 7, 5}}},
    {{{4, {1, 13, 3, 5}}, {4, {3, 13, 3, 5}}}, 2, 0, {4, {4, 13, 3, 5}}},
    {{{2, {3, 4}}, {2, {3, 1}}, {2, {3, 2}}}, 3, -1, {2, {3, 7}}},
    {{{1, {3}}, {1, {4}}}, 2, 0, {1, {7}}},
    {{{3, {2, 5, 6}}}, 1, 1, {3, {2, 5, 6}}},
    {{{5, {1, 16, 2, 2, 3}}, {5, {1, 16, 2, 2, 3}}}, 2, 1, {5, {1, 32, 2, 2, 3}}},
};

static void begin_concatenation(struct operator_test *test, size_t i)
{
    operator_begin(test, LAYER_CONCATENATION, "Concat", 13);
    operator_attribute(test, INTEGER("axis", concatenations[i].axis));
    for (size_t part = 0; part < concatenations[i].count; part++)
        operator_input(test, concatenations[i].parts[part], 3);
}

static void check_concatenation(size_t i, bool constant)
{
    struct operator_test test;
    const struct shape *result = &concatenations[i].result;
    double *expected = doubles(result);
    size_t rank = result->rank, axis = (size_t)(concatenations[i].axis + (int64_t)rank) % rank, outer = 1, at = 0;

    begin_concatenation(&test, i);
    if (constant && concatenations[i].count > 1)
        test.operands[1].constant = true;
    for (size_t dimension = 0; dimension < axis; dimension++)
        outer *= (size_t)result->dims[dimension];
    for (size_t row = 0; row < outer; row++) {
        for (size_t part = 0; part < concatenations[i].count; part++) {
            const struct operand *operand = &test.operands[part];
            size_t length = shape_elements(&operand->shape) / outer;

            for (size_t element = 0; element < length; element++)
                expected[at++] = (double)((const float *)operand->values)[row * length + element];
        }
    }
    operator_check(&test, result, expected, 0);
}

static void tensors_are_put_side_by_side(void **state)
{
    struct operator_test test;

    REQUIRE_ONEDNN();
    for (size_t i = 0; i < ARRAY_LEN(concatenations); i++)
        for (int constant = 0; constant < 2; constant++)
            check_concatenation(i, constant != 0);

    begin_concatenation(&test, 0);
    test.operands[0].type = test.operands[1].type = DATA_INT32;
    operator_refuse(&test);
    begin_concatenation(&test, 0);
    test.operands[1].shape.dims[2] = 1;
    operator_refuse(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_reduction_is_computed_in_every_layout),
        cmocka_unit_test(reductions_of_nothing_or_along_unknown_axes_have_no_tactics),
        cmocka_unit_test(softmax_is_taken_along_one_axis),
        cmocka_unit_test(softmax_of_nan_is_nan_and_of_minus_infinity_nothing),
        cmocka_unit_test(old_softmax_is_taken_along_all_axes_from_one_on),
        cmocka_unit_test(layers_are_normalized_over_the_last_dimensions),
        cmocka_unit_test(tensors_are_put_side_by_side),
    };

    return cmocka_run_group_tests(tests, open_onednn, close_onednn);
}
