/* test_cast.c: values in another element type. */
#include <math.h>

#include "base/memory.h"
#include "comparator/data/cast.h"
#include "support/results_fixture.h"

static struct tensor cast(const struct tensor *from, enum data_type type, size_t expected_clips)
{
    struct tensor ret;
    size_t clipped;

    assert_int_equal(tensor_cast(from, type, &ret, &clipped, NULL), 0);
    assert_int_equal(clipped, expected_clips);
    assert_int_equal(ret.type, type);
    assert_true(shape_equal(&ret.shape, &from->shape));
    return ret;
}

static void floats_are_cut_off_and_bounded_as_integers(void **state)
{
    const float values[] = {1.9f, -1.9f, 127.9f, 128, -128.9f, -129, NAN, INFINITY, 1e30f};
    const int8_t expected[] = {1, -1, 127, 127, -128, -128, 0, 127, 127};
    struct tensor from = VECTOR_OF(DATA_FLOAT32, values);
    struct tensor to = cast(&from, DATA_INT8, 5);

    assert_memory_equal(to.data, expected, sizeof(expected));
    tensor_release(&to);
}

static void large_integers_stay_exact(void **state)
{
    const int64_t values[] = {INT64_MIN, INT64_MAX, -1, (1LL << 53) + 1};
    const uint64_t expected[] = {0, INT64_MAX, 0, (1ULL << 53) + 1};
    const uint64_t unsigned_values[] = {UINT64_MAX, 5};
    const int64_t unsigned_expected[] = {INT64_MAX, 5};
    struct tensor from = VECTOR_OF(DATA_INT64, values), unsigned_from = VECTOR_OF(DATA_UINT64, unsigned_values);
    struct tensor to = cast(&from, DATA_UINT64, 2), unsigned_to = cast(&unsigned_from, DATA_INT64, 1);

    assert_memory_equal(to.data, expected, sizeof(expected));
    assert_memory_equal(unsigned_to.data, unsigned_expected, sizeof(unsigned_expected));
    tensor_release(&to);
    tensor_release(&unsigned_to);
}

static void the_least_integer_of_a_type_fits_it(void **state)
{
    const double values[] = {-0x1p63, 0x1p63, 0x1p64};
    const int64_t expected[] = {INT64_MIN, INT64_MAX, INT64_MAX};
    struct tensor from = VECTOR_OF(DATA_FLOAT64, values);
    struct tensor to = cast(&from, DATA_INT64, 2);

    assert_memory_equal(to.data, expected, sizeof(expected));
    tensor_release(&to);
}

static void small_floats_are_rounded_and_overflow_is_counted(void **state)
{
    const double values[] = {1.0009765625, 65504, 65520, INFINITY};
    const uint16_t halves[] = {0x3c01, 0x7bff, 0x7c00, 0x7c00};
    const uint16_t brains[] = {0x3f80, 0x4780, 0x4780, 0x7f80};
    struct tensor from = VECTOR_OF(DATA_FLOAT64, values);
    struct tensor half = cast(&from, DATA_FLOAT16, 1), brain = cast(&from, DATA_BFLOAT16, 0);

    assert_memory_equal(half.data, halves, sizeof(halves));
    assert_memory_equal(brain.data, brains, sizeof(brains));
    tensor_release(&half);
    tensor_release(&brain);
}

static void bool_is_true_for_all_but_zero(void **state)
{
    const float values[] = {0, -0.0f, 0.1f, NAN};
    const uint8_t expected[] = {0, 0, 1, 1};
    struct tensor from = VECTOR_OF(DATA_FLOAT32, values);
    struct tensor to = cast(&from, DATA_BOOL, 0);

    assert_memory_equal(to.data, expected, sizeof(expected));
    tensor_release(&to);
}

static void every_value_of_a_small_type_comes_back(void **state)
{
    static const enum data_type types[] = {DATA_FLOAT8E4M3FN, DATA_FLOAT8E4M3FNUZ, DATA_FLOAT8E5M2, DATA_FLOAT8E5M2FNUZ,
                                           DATA_FLOAT4E2M1,   DATA_INT4,           DATA_UINT4};

    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        uint8_t codes[256];
        size_t count = data_type_bits(types[i]) == 4 ? 16 : 256;

        for (size_t code = 0; code < count; code++)
            codes[code] = (uint8_t)code;
        if (count == 16)
            for (size_t k = 0; k < 8; k++)
                codes[k] = (uint8_t)(2 * k | (2 * k + 1) << 4);
        struct tensor from = tensor_of(types[i], SHAPE((int64_t)count), codes), wide, back;
        size_t clipped;
        assert_int_equal(tensor_cast(&from, DATA_FLOAT32, &wide, &clipped, NULL), 0);
        assert_int_equal(tensor_cast(&wide, types[i], &back, &clipped, NULL), 0);
        for (size_t k = 0; k < count; k++) {
            float value = ((const float *)wide.data)[k];
            if (count == 256 && isfinite(value))
                assert_int_equal(((const uint8_t *)back.data)[k], k);
        }
        if (count == 16)
            assert_memory_equal(back.data, codes, 8);
        tensor_release(&wide);
        tensor_release(&back);
    }
}

static void small_types_round_to_the_nearest_value_and_stop_at_the_largest(void **state)
{
    const float values[] = {0.3f, 0.25f, 0.75f, -5, 100, -INFINITY, NAN};
    const uint8_t expected[] = {0x01, 0xE2, 0xF7}; /* of float4: 0.5, 0; 1, -4; 6, -6; the low half first */
    struct tensor from = VECTOR_OF(DATA_FLOAT32, values);
    struct tensor to = cast(&from, DATA_FLOAT4E2M1, 3);

    assert_memory_equal(to.data, expected, sizeof(expected));
    assert_int_equal(((const uint8_t *)to.data)[3] & 15, 0);
    tensor_release(&to);
}

static void runs_of_elements_join_without_gaps(void **state)
{
    int32_t values[3000];

    for (int i = 0; i < 3000; i++)
        values[i] = i - 1500;
    struct tensor from = VECTOR_OF(DATA_INT32, values);
    struct tensor to = cast(&from, DATA_FLOAT32, 0);
    for (int i = 0; i < 3000; i++)
        assert_true(((const float *)to.data)[i] == (float)(i - 1500));
    tensor_release(&to);
}

static void what_is_no_number_is_refused(void **state)
{
    const struct text words[] = {TEXT("a")};
    const float values[] = {1};
    struct tensor strings = VECTOR_OF(DATA_STRING, words), numbers = VECTOR_OF(DATA_FLOAT32, values), ret;
    struct error error;
    size_t clipped;

    assert_int_equal(tensor_cast(&strings, DATA_FLOAT32, &ret, &clipped, &error), ERR_UNSUPPORTED);
    assert_message_contains(&error, "string cannot be converted to float32");
    assert_int_equal(tensor_cast(&numbers, DATA_STRING, &ret, &clipped, NULL), ERR_UNSUPPORTED);
    assert_int_equal(tensor_cast(&numbers, DATA_COMPLEX64, &ret, &clipped, NULL), ERR_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_are_cut_off_and_bounded_as_integers),
        cmocka_unit_test(large_integers_stay_exact),
        cmocka_unit_test(the_least_integer_of_a_type_fits_it),
        cmocka_unit_test(small_floats_are_rounded_and_overflow_is_counted),
        cmocka_unit_test(bool_is_true_for_all_but_zero),
        cmocka_unit_test(every_value_of_a_small_type_comes_back),
        cmocka_unit_test(small_types_round_to_the_nearest_value_and_stop_at_the_largest),
        cmocka_unit_test(runs_of_elements_join_without_gaps),
        cmocka_unit_test(what_is_no_number_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
