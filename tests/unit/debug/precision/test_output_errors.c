/* The largest error of outputs: where it is, and what is no number. */
#include "support/unit_test.h"

#include <math.h>

#include "debug/precision/output_errors.h"

static void add(struct tensor_list *list, const char *name, const float *values)
{
    struct tensor tensor;

    tensor_borrow(DATA_FLOAT32, &(struct shape){.rank = 1, .dims = {2}}, values, 2 * sizeof(*values), &tensor);
    tensor_list_add(list, text_of(name), &tensor);
}

static struct output_error error_of(const float *a, const float *b)
{
    static const float expected_a[] = {100, -200}, expected_b[] = {0, 0.5F};
    struct tensor_list outputs = {0}, expected = {0};
    struct output_error ret = {0};

    add(&expected, "a", expected_a);
    add(&expected, "b", expected_b);
    if (b != NULL)
        add(&outputs, "b", b);
    add(&outputs, "a", a);
    output_error_add(&ret, &outputs, &expected);
    tensor_list_release(&outputs);
    tensor_list_release(&expected);
    return ret;
}

static void assert_error(struct output_error error, const char *output, double absolute, double relative)
{
    assert_string_equal(error.output, output);
    assert_true(error.absolute == absolute);
    assert_true(error.relative == relative);
    output_error_release(&error);
}

static void outputs_are_paired_by_name_and_the_largest_error_counts(void **state)
{
    assert_error(error_of((float[]){101, -200}, (float[]){0, 0.25F}), "a", 1, 1 / 200.0);
    assert_error(error_of((float[]){100, -200}, (float[]){0.5F, 0.5F}), "b", 0.5, 1);
    assert_error(error_of((float[]){100, -200}, (float[]){0, 0.5F}), "a", 0, 0);
}

static void what_is_no_number_or_missing_is_infinitely_far_off(void **state)
{
    assert_error(error_of((float[]){NAN, 0}, (float[]){0, 0.5F}), "a", INFINITY, INFINITY);
    assert_error(error_of((float[]){0, 0}, (float[]){0, -INFINITY}), "b", INFINITY, INFINITY);
    assert_error(error_of((float[]){0, 0}, NULL), "b", INFINITY, INFINITY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_are_paired_by_name_and_the_largest_error_counts),
        cmocka_unit_test(what_is_no_number_or_missing_is_infinitely_far_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
