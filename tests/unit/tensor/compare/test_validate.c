/* Looking for NaN and infinities. */
#include <math.h>

#include "base/memory.h"
#include "support/tensor_fixture.h"
#include "tensor/compare/validate.h"

static void assert_found(struct tensor tensor, size_t nans, size_t first_nan, size_t infinities, size_t first_infinity)
{
    struct validation validation;

    tensor_validate(&tensor, &validation);
    assert_int_equal(validation.nans, nans);
    assert_int_equal(validation.infinities, infinities);
    assert_int_equal(validation.first_nan, first_nan);
    assert_int_equal(validation.first_infinity, first_infinity);
}

static void first_of_each_kind_is_located(void **state)
{
    static float numbers[5000];

    assert_found(VECTOR_OF(DATA_FLOAT32, numbers), 0, 0, 0, 0);
    numbers[1030] = -INFINITY;
    numbers[3000] = numbers[4999] = NAN;
    numbers[4000] = INFINITY;
    assert_found(VECTOR_OF(DATA_FLOAT32, numbers), 2, 3000, 2, 1030);
}

static void every_floating_type_is_looked_at(void **state)
{
    const double numbers[] = {1, NAN, INFINITY, NAN};

    assert_found(VECTOR_OF(DATA_FLOAT64, numbers), 2, 1, 1, 2);
    assert_found(tensor_of(DATA_FLOAT16, SHAPE(3), "\x00\x3c\x00\xfc\x01\x7e"), 1, 2, 1, 1);
    assert_found(tensor_of(DATA_BFLOAT16, SHAPE(3), "\x80\x3f\xc0\x7f\x80\x7f"), 1, 1, 1, 2);
    assert_found(tensor_of(DATA_FLOAT8E4M3FN, SHAPE(3), "\x7e\x7f\xff"), 2, 1, 0, 0);
    assert_found(tensor_of(DATA_FLOAT8E4M3FNUZ, SHAPE(2), "\x7f\x80"), 1, 1, 0, 0);
    assert_found(tensor_of(DATA_FLOAT8E5M2, SHAPE(3), "\x7c\x7b\x7d"), 1, 2, 1, 0);
}

static void complex_number_counts_by_either_part(void **state)
{
    const float numbers[] = {1, 2, 3, NAN, INFINITY, 4, NAN, INFINITY};
    const double wide[] = {1, 2, 3, INFINITY};

    assert_found(tensor_of(DATA_COMPLEX64, SHAPE(4), numbers), 2, 1, 2, 2);
    assert_found(tensor_of(DATA_COMPLEX128, SHAPE(2), wide), 0, 0, 1, 1);
}

static void other_types_have_none(void **state)
{
    const struct text texts[] = {TEXT("nan")};

    assert_found(VECTOR_OF(DATA_STRING, texts), 0, 0, 0, 0);
    assert_found(tensor_of(DATA_UINT16, SHAPE(1), "\x00\x7e"), 0, 0, 0, 0);
    assert_found(tensor_of(DATA_FLOAT4E2M1, SHAPE(2), "\xff"), 0, 0, 0, 0);
    assert_found(tensor_of(DATA_FLOAT32, SHAPE(0), ""), 0, 0, 0, 0);
}

static struct excess excess_of(enum data_type type, const void *value, float reference)
{
    const struct shape scalar = {0};
    struct tensor tensor, beside;
    struct excess excess;

    tensor_borrow(type, &scalar, value, tensor_bytes(type, 1), &tensor);
    tensor_borrow(DATA_FLOAT32, &scalar, &reference, 4, &beside);
    tensor_find_excess(&tensor, &beside, &excess);
    return excess;
}

static void what_a_reference_exceeds_is_the_widest_type_that_ends_below_it(void **state)
{
    const float infinity = INFINITY, one = 1;
    const uint16_t half_infinity = 0x7c00, bfloat_nan = 0x7fc0;

    assert_int_equal(excess_of(DATA_FLOAT32, &infinity, 65504).limited_type, DATA_UNDEFINED);
    assert_int_equal(excess_of(DATA_FLOAT32, &infinity, -65505).limited_type, DATA_FLOAT16);
    assert_int_equal(excess_of(DATA_FLOAT32, &infinity, 3.4e38F).limited_type, DATA_BFLOAT16);
    assert_int_equal(excess_of(DATA_FLOAT16, &half_infinity, 72489).limited_type, DATA_FLOAT16);
    assert_int_equal(excess_of(DATA_BFLOAT16, &bfloat_nan, 72489).limited_type, DATA_UNDEFINED);
    assert_int_equal(excess_of(DATA_BFLOAT16, &bfloat_nan, 72489).count, 1);
    assert_int_equal(excess_of(DATA_FLOAT32, &infinity, INFINITY).count, 0);
    assert_int_equal(excess_of(DATA_FLOAT32, &one, 72489).count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_of_each_kind_is_located),
        cmocka_unit_test(every_floating_type_is_looked_at),
        cmocka_unit_test(complex_number_counts_by_either_part),
        cmocka_unit_test(other_types_have_none),
        cmocka_unit_test(what_a_reference_exceeds_is_the_widest_type_that_ends_below_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
