/* test_bound.c: how far the outputs of one node may be from the exact ones. */
#include "support/made_model.h"
#include "support/unit_test.h"

#include <math.h>

#include "debug/kernels/bound.h"

static const struct shape matrix = {2, {4, 8}}, square = {2, {8, 8}};

static struct kernel_bound bound_of(const char *op_type, enum data_type type)
{
    const struct node node = {.op_type = text_of(op_type)};
    const struct shape inputs[] = {matrix, square};
    struct kernel_bound ret;

    kernel_bound_find(&node, inputs, 2, &matrix, type, &ret);
    return ret;
}

static void operators_have_the_bound_of_their_sums(void **state)
{
    (void)state;
    assert_int_equal(bound_of("MatMul", DATA_FLOAT32).terms, 8);
    assert_int_equal(bound_of("Gemm", DATA_FLOAT32).terms, 9);
    assert_int_equal(bound_of("Conv", DATA_FLOAT32).terms, 9);
    assert_true(bound_of("Add", DATA_FLOAT32).is_known);
    assert_int_equal(bound_of("Add", DATA_FLOAT32).terms, 0);
    assert_false(bound_of("Softmax", DATA_FLOAT32).is_known);
    assert_non_null(bound_of("Softmax", DATA_FLOAT32).why_not);
    assert_false(bound_of("MatMul", DATA_FLOAT64).is_known);
}

/* What is known of a layer: MatMul of four terms, Add, `last`. */
static struct kernel_bound bound_of_layer(const char *last, enum data_type type)
{
    static float numbers[16];
    const struct shape four = {2, {4, 4}};
    struct tensor_list tensors = {0};
    struct kernel_bound ret;
    struct made_model made;
    struct subgraph part;
    struct model *model;

    made_init(&made, 13);
    made_input(&made, "x", MADE_SHAPE(4, 4));
    made_input(&made, "w", MADE_SHAPE(4, 4));
    made_node(&made, "product", "MatMul", "x w", "a", NULL, 0);
    made_node(&made, "sum", "Add", "a x", "b", NULL, 0);
    made_node(&made, "last", last, "b", "y", NULL, 0);
    made_output(&made, "y");
    model = made_open(&made);
    for (const char *name = "xwaby"; *name != '\0'; name++) {
        struct tensor tensor;

        tensor_borrow(*name == 'b' ? type : DATA_FLOAT32, &four, numbers, sizeof(numbers), &tensor);
        tensor_list_add(&tensors, (struct text){name, 1}, &tensor);
    }
    subgraph_init_whole(&part, model);
    kernel_bound_find_layer(&part, &tensors, DATA_FLOAT32, &ret);
    tensor_list_release(&tensors);
    subgraph_release(&part);
    model_free(model);
    made_release(&made);
    return ret;
}

static void a_layer_has_the_roundings_of_all_its_nodes(void **state)
{
    (void)state;
    assert_true(bound_of_layer("Relu", DATA_FLOAT32).is_known);
    assert_int_equal(bound_of_layer("Relu", DATA_FLOAT32).terms, 4 + 2 + 2 + 2);
    assert_false(bound_of_layer("Softmax", DATA_FLOAT32).is_known);
    assert_false(bound_of_layer("Neg", DATA_FLOAT32).is_known); /* magnitudes would be negative */
    assert_false(bound_of_layer("Relu", DATA_INT32).is_known);
}

/* The excess of one element. */
static double excess_of(size_t terms, double exact, double sum, float got)
{
    const struct kernel_bound bound = {.is_known = true, .terms = terms};
    const struct shape one = {1, {1}};
    struct tensor tensors[3];

    tensor_borrow(DATA_FLOAT64, &one, &exact, sizeof(exact), &tensors[0]);
    tensor_borrow(DATA_FLOAT64, &one, &sum, sizeof(sum), &tensors[1]);
    tensor_borrow(DATA_FLOAT32, &one, &got, sizeof(got), &tensors[2]);
    return kernel_bound_compare(&bound, &tensors[0], terms > 0 ? &tensors[1] : NULL, DATA_FLOAT32, &tensors[2]).excess;
}

static void an_error_of_rounding_is_within_the_bound(void **state)
{
    const float above = nextafterf(1, 2), far = 1 + 8 * (above - 1);

    (void)state;
    assert_true(excess_of(0, 1, 1, 1) == 0);
    assert_true(excess_of(0, 1, 1, above) <= 1);
    assert_true(excess_of(0, 1, 1, far) > 1);
    assert_true(excess_of(30, 1, 1, far) <= 1);       /* a sum of 30 terms */
    assert_true(excess_of(1, 1e-3, 100, 2e-3F) > 1);  /* cancellation allows more, */
    assert_true(excess_of(1, 1e-6, 100, 2e-6F) <= 1); /* as much as the terms are large */
    assert_true(excess_of(0, 1e-40, 0, 0) <= 1);      /* below the normal range */
}

static void infinities_are_those_of_the_exact_value(void **state)
{
    (void)state;
    assert_true(excess_of(0, (double)INFINITY, 0, INFINITY) == 0);
    assert_true(excess_of(0, 1e39, 0, INFINITY) == 0); /* beyond the range of float32 */
    assert_true(isinf(excess_of(0, 1e39, 0, -INFINITY)));
    assert_true(isinf(excess_of(0, 1, 1, NAN)));
    assert_true(excess_of(0, (double)NAN, 0, NAN) == 0);
    assert_true(isinf(excess_of(0, (double)INFINITY, 0, 3))); /* a finite value in place of an infinity */
    assert_true(isinf(excess_of(2, (double)INFINITY, (double)INFINITY, 3)));
    assert_true(excess_of(2, (double)INFINITY, (double)INFINITY, INFINITY) == 0);
}

static void nothing_bounds_sums_that_are_too_long_or_too_large(void **state)
{
    (void)state;
    assert_true(isnan(excess_of((size_t)1 << 24, 1, 1, 1)));
    assert_true(isnan(excess_of(2, 1, 1e40, 2)));
}

/* The excess of an element of a declared type, which the runner returned as float32. */
static double excess_in(enum data_type type, double exact, float got)
{
    const struct kernel_bound bound = {.is_known = true};
    const struct shape one = {1, {1}};
    struct tensor tensors[2];

    tensor_borrow(DATA_FLOAT64, &one, &exact, sizeof(exact), &tensors[0]);
    tensor_borrow(DATA_FLOAT32, &one, &got, sizeof(got), &tensors[1]);
    return kernel_bound_compare(&bound, &tensors[0], NULL, type, &tensors[1]).excess;
}

static void the_bound_is_that_of_the_declared_type(void **state)
{
    (void)state;
    assert_true(excess_in(DATA_FLOAT32, 1, 1.0005F) > 1);
    assert_true(excess_in(DATA_FLOAT16, 1, 1.0005F) <= 1);
    assert_true(excess_in(DATA_FLOAT16, 1, 1.005F) > 1);
    assert_true(excess_in(DATA_BFLOAT16, 1, 1.005F) <= 1);
    assert_true(excess_in(DATA_FLOAT16, 1e5, INFINITY) == 0);
    assert_true(isinf(excess_in(DATA_BFLOAT16, 1e5, INFINITY)));
}

static void integers_that_overflow_or_are_rounded_have_no_bound(void **state)
{
    (void)state;
    assert_true(excess_in(DATA_INT8, -128, -128) == 0);
    assert_true(isinf(excess_in(DATA_INT8, 127, 126)));
    assert_true(isnan(excess_in(DATA_INT8, 128, -128)));
    assert_true(isnan(excess_in(DATA_UINT8, -1, 255)));
    assert_true(isnan(excess_in(DATA_INT32, 2.5, 2)));
    assert_true(isnan(excess_in(DATA_INT32, (double)NAN, 0)));
    assert_true(isinf(excess_in(DATA_BOOL, 1, 0)));
}

static void an_empty_output_has_no_bound(void **state)
{
    const struct kernel_bound bound = {.is_known = true};
    const struct shape empty = {1, {0}};
    struct tensor exact, got;

    (void)state;
    tensor_borrow(DATA_FLOAT64, &empty, "", 0, &exact);
    tensor_borrow(DATA_FLOAT32, &empty, "", 0, &got);
    assert_true(isnan(kernel_bound_compare(&bound, &exact, NULL, DATA_FLOAT32, &got).excess));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_have_the_bound_of_their_sums),
        cmocka_unit_test(a_layer_has_the_roundings_of_all_its_nodes),
        cmocka_unit_test(an_error_of_rounding_is_within_the_bound),
        cmocka_unit_test(infinities_are_those_of_the_exact_value),
        cmocka_unit_test(nothing_bounds_sums_that_are_too_long_or_too_large),
        cmocka_unit_test(the_bound_is_that_of_the_declared_type),
        cmocka_unit_test(integers_that_overflow_or_are_rounded_have_no_bound),
        cmocka_unit_test(an_empty_output_has_no_bound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
