/* Parts of outputs with scales of their own, and integers that differ. */
#include "base/memory.h"
#include "support/tensor_fixture.h"
#include "tensor/compare/slices.h"

static void the_channel_with_the_largest_error_of_its_own_scale_is_found(void **state)
{
    /* pixels, and a score in the last column */
    const float reference[] = {640, 320, 0.9F, 600, 100, 0.5F}, other[] = {641, 320, 0.9F, 600, 100, 0.1F};
    struct tensor a = tensor_of(DATA_FLOAT32, SHAPE(2, 3), reference);
    struct tensor b = tensor_of(DATA_FLOAT32, SHAPE(2, 3), other);
    struct slice_error worst;

    slices_find_worst(&a, &b, 1e-7, &worst);
    assert_true(worst.found);
    assert_int_equal(worst.axis, 1);
    assert_int_equal(worst.index, 2);
    assert_float_equal(worst.scale, 0.9, 1e-6);
    assert_float_equal(worst.difference, 0.4, 1e-6);
    slices_find_worst(&a, &b, 0.01, &worst); /* noise */
    assert_true(!worst.found || worst.index != 2);
}

static void slices_of_one_scale_say_nothing(void **state)
{
    const float reference[] = {1, 2, 3, 4}, other[] = {2, 2, 3, 4};
    struct tensor a = tensor_of(DATA_FLOAT32, SHAPE(2, 2), reference);
    struct tensor b = tensor_of(DATA_FLOAT32, SHAPE(2, 2), other);
    struct tensor flat = tensor_of(DATA_FLOAT32, SHAPE(4), other);
    struct slice_error worst;

    slices_find_worst(&a, &b, 1e-7, &worst);
    assert_false(worst.found);
    slices_find_worst(&a, &flat, 1e-7, &worst);
    assert_false(worst.found);
}

static void integers_that_differ_are_counted(void **state)
{
    const int64_t reference[] = {1, 2, 3, 4}, other[] = {1, 0, 3, 5};
    struct tensor a = VECTOR_OF(DATA_INT64, reference), b = VECTOR_OF(DATA_INT64, other);

    assert_int_equal(count_changed_integers(&a, &b), 2);
    assert_int_equal(count_changed_integers(&a, &a), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_channel_with_the_largest_error_of_its_own_scale_is_found),
        cmocka_unit_test(slices_of_one_scale_say_nothing),
        cmocka_unit_test(integers_that_differ_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
