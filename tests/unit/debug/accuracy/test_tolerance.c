/* test_tolerance.c: what is put down to rounding. */
#include "support/unit_test.h"

#include <math.h>

#include "debug/accuracy/hypotheses.h"
#include "support/made_model.h"

static struct rounding_paths paths_of(struct made_model *made)
{
    struct rounding_paths ret;
    struct model *model = made_open(made);

    rounding_paths_of(model, &ret);
    model_free(model);
    made_release(made);
    return ret;
}

static void depth_is_that_of_the_longest_path(void **state)
{
    struct rounding_paths paths;
    struct made_model made;

    made_init(&made, 13);
    made_input(&made, "x", MADE_SHAPE(1, 4));
    made_node(&made, "last", "Add", "c x", "y", NULL, 0); /* the file is not sorted */
    made_node(&made, "first", "Tanh", "x", "a", NULL, 0);
    made_node(&made, "side", "Tanh", "x", "b", NULL, 0);
    made_node(&made, "sum", "Add", "a b", "c", NULL, 0);
    made_output(&made, "y");
    paths = paths_of(&made);
    assert_int_equal(paths.depth, 3);
    assert_int_equal(paths.terms, 1);
}

static void terms_are_those_of_the_longest_sum_with_constant_weights(void **state)
{
    struct rounding_paths paths;
    struct made_model made;

    made_init(&made, 13);
    made_input(&made, "x", MADE_SHAPE(1, 2, 8, 8));
    made_constant(&made, "kernel", MADE_SHAPE(4, 2, 3, 3), -1, 1);
    made_constant(&made, "weight", MADE_SHAPE(6, 16), -1, 1);
    made_node(&made, "conv", "Conv", "x kernel", "a", NULL, 0);
    made_node(&made, "product", "MatMul", "a weight", "b", NULL, 0);
    made_node(&made, "square", "MatMul", "b b", "y", NULL, 0);
    made_output(&made, "y");
    paths = paths_of(&made);
    assert_int_equal(paths.terms, 2 * 3 * 3);
    assert_int_equal(paths.depth, 3);
}

static void tolerance_grows_with_roundoff_depth_and_terms_up_to_one(void **state)
{
    const struct rounding_paths small = {.depth = 1, .terms = 1}, deep = {.depth = 100, .terms = 1},
                                long_sum = {.depth = 1, .terms = 10000};

    assert_float_equal(rounding_tolerance(0x1p-24, &small), 16 * 0x1p-24, 1e-12);
    assert_float_equal(rounding_tolerance(0x1p-11, &small), 8 * (0x1p-11 + 0x1p-24), 1e-9);
    assert_float_equal(rounding_tolerance(0x1p-11, &deep), 80 * (0x1p-11 + 0x1p-24), 1e-8);
    assert_float_equal(rounding_tolerance(0x1p-24, &long_sum), 8 * 101 * 0x1p-24, 1e-10);
    assert_float_equal(rounding_tolerance(0x1p-4, &deep), 1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(depth_is_that_of_the_longest_path),
        cmocka_unit_test(terms_are_those_of_the_longest_sum_with_constant_weights),
        cmocka_unit_test(tolerance_grows_with_roundoff_depth_and_terms_up_to_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
