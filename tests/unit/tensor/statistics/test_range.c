/* What the numbers of a tensor range over. */
#include <math.h>

#include "support/tensor_fixture.h"
#include "tensor/statistics/range.h"

static struct value_range range_of(struct tensor tensor)
{
    struct value_range range;

    range_compute(&tensor, &range);
    assert_true(range.largest_magnitude == range_largest_magnitude(&tensor));
    return range;
}

static void nan_and_infinities_are_counted_and_left_out(void **state)
{
    static float numbers[2000];
    struct value_range range;

    numbers[3] = NAN;
    numbers[1500] = -INFINITY;
    numbers[1998] = -5;
    numbers[1999] = 1;
    range = range_of(VECTOR_OF(DATA_FLOAT32, numbers));
    assert_int_equal(range.elements, 2000);
    assert_int_equal(range.nans, 1);
    assert_int_equal(range.infinities, 1);
    assert_int_equal(range.finite, 1998);
    assert_int_equal(range.zeros, 1996);
    assert_true(range.minimum == -5 && range.maximum == 1 && fabs(range.mean + 4.0 / 1998) < 1e-15);
    assert_true(range.largest_magnitude == 5 && range.smallest_magnitude == 1);
}

static void subnormal_numbers_are_no_zeros(void **state)
{
    const float numbers[] = {0, -0x1p-149F, 2};
    struct value_range range = range_of(VECTOR_OF(DATA_FLOAT32, numbers));

    assert_int_equal(range.zeros, 1);
    assert_true(range.smallest_magnitude == 0x1p-149 && range.minimum == -0x1p-149);
}

static void integers_have_a_range_too(void **state)
{
    const int8_t numbers[] = {-128, 4};
    struct value_range range = range_of(VECTOR_OF(DATA_INT8, numbers));

    assert_true(range.minimum == -128 && range.maximum == 4 && range.largest_magnitude == 128 && range.mean == -62);
}

static void nothing_finite_has_no_range(void **state)
{
    const double numbers[] = {NAN, INFINITY};
    struct value_range range = range_of(VECTOR_OF(DATA_FLOAT64, numbers));

    assert_int_equal(range.finite, 0);
    assert_true(range.largest_magnitude == 0 && range.smallest_magnitude == 0 && range.mean == 0);
    assert_int_equal(range_of(tensor_of(DATA_FLOAT32, SHAPE(0), "")).elements, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nan_and_infinities_are_counted_and_left_out),
        cmocka_unit_test(subnormal_numbers_are_no_zeros),
        cmocka_unit_test(integers_have_a_range_too),
        cmocka_unit_test(nothing_finite_has_no_range),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
