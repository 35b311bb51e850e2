/* test_validation.c: NaN and infinities in results. */
#include <math.h>

#include "comparator/compare/validation.h"
#include "support/results_fixture.h"

static void good_outputs_pass(void **state)
{
    struct run_results results = {0};
    struct captured_log log;

    captured_log_init(&log);
    struct tensor_list *outputs = add_runner(&results, "A");
    ADD_FLOATS(outputs, "x", 1, -2);
    add_tensor(outputs, "words", DATA_STRING, SHAPE(1), (struct text[]){TEXT("nan")});
    assert_true(validation_runner(&results, 0, &log.log));
    assert_string_equal(
        log.text.data,
        "S A                                   | Validating output: x (check_inf=True, check_nan=True)\n"
        "F     PASSED | Output: x is valid\n"
        "S A                                   | Validating output: words (check_inf=True, check_nan=True)\n"
        "F     PASSED | Output: words is valid\n");
    run_results_release(&results);
    captured_log_release(&log);
}

static void bad_values_are_counted_and_located(void **state)
{
    const float values[] = {1, NAN, 2, -INFINITY, NAN, 3};
    struct run_results results = {0};
    struct captured_log log;

    captured_log_init(&log);
    add_tensor(add_runner(&results, "A"), "x", DATA_FLOAT32, SHAPE(2, 3), values);
    assert_false(validation_runner(&results, 0, &log.log));
    assert_string_equal(
        log.text.data, "S A                                   | Validating output: x (check_inf=True, check_nan=True)\n"
                       "E     NaN Detected | 2 of 6 values are NaN, the first one at (0, 1)\n"
                       "E     Inf Detected | 1 of 6 values are infinite, the first one at (1, 0)\n"
                       "E     FAILED | Errors detected in output: x\n");
    run_results_release(&results);
    captured_log_release(&log);
}

static void the_reference_is_shown_where_an_output_overflows(void **state)
{
    struct run_results results = {0};
    struct captured_log log;

    captured_log_init(&log);
    ADD_FLOATS(add_runner(&results, "A"), "x", 1, 72489, INFINITY);
    ADD_FLOATS(add_runner(&results, "B"), "x", 1, INFINITY, INFINITY);
    assert_false(validation_runner(&results, 0, &log.log));
    assert_false(validation_runner(&results, 1, &log.log));
    assert_logged(&log, "E     Inf Detected | 2 of 3 values are infinite, the first one at (1,)\n"
                        "E     1 of 3 values are infinite or NaN where the reference has numbers, the first one at "
                        "(1,): the reference has 72489 there; float16 ends at 65504\n");
    assert_logged(&log, "E     Inf Detected | 1 of 3 values are infinite, the first one at (2,)\n"
                        "E     FAILED | Errors detected in output: x\n");
    run_results_release(&results);
    captured_log_release(&log);
}

static void every_output_of_every_iteration_counts(void **state)
{
    struct run_results results = {0};
    struct captured_log log;

    captured_log_init(&log);
    struct tensor_list *outputs = add_runner(&results, "A");
    ADD_FLOATS(outputs, "x", 1);
    outputs = add_iteration(&results);
    ADD_FLOATS(outputs, "x", 1);
    ADD_FLOATS(outputs, "y", NAN);
    ADD_FLOATS(outputs, "z", NAN);
    ADD_FLOATS(add_runner(&results, "B"), "w", 1);
    assert_false(validation_runner(&results, 0, &log.log));
    assert_logged(&log, "S A | Iteration: 0\n");
    assert_logged(&log, "S A | Iteration: 1\nS     A                                   | Validating output: x");
    assert_logged(&log, "E A: errors in 2 outputs, first of all in: y\n");
    assert_true(validation_runner(&results, 1, &log.log));
    assert_logged(&log, "S B                                   | Validating output: w");
    assert_int_equal(log.log.depth, 0);
    run_results_release(&results);
    captured_log_release(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_outputs_pass),
        cmocka_unit_test(bad_values_are_counted_and_located),
        cmocka_unit_test(the_reference_is_shown_where_an_output_overflows),
        cmocka_unit_test(every_output_of_every_iteration_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
