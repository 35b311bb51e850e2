/* Reading elements of every type. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "support/tensor_fixture.h"
#include "tensor/values/elements.h"

static void types_are_sorted_by_arithmetic(void **state)
{
    assert_int_equal(elements_arithmetic(DATA_BOOL), ARITHMETIC_INTEGER);
    assert_int_equal(elements_arithmetic(DATA_UINT4), ARITHMETIC_INTEGER);
    assert_int_equal(elements_arithmetic(DATA_FLOAT8E5M2), ARITHMETIC_FLOAT32);
    assert_int_equal(elements_arithmetic(DATA_FLOAT64), ARITHMETIC_FLOAT64);
    assert_int_equal(elements_arithmetic(DATA_STRING), ARITHMETIC_NONE);
    assert_int_equal(elements_arithmetic(DATA_COMPLEX64), ARITHMETIC_NONE);
    assert_int_equal(elements_arithmetic(DATA_UNDEFINED), ARITHMETIC_NONE);
}

/* Three elements each, little-endian. The last two are read, from element 1 on. */
static const struct {
    enum data_type type;
    const char *bytes;
    double values[2];
} rows[] = {
    {DATA_BOOL, "\x00\x01\x00", {1, 0}},
    {DATA_BOOL, "\x00\x02\x00", {1, 0}}, /* anything but zero is true */
    {DATA_UINT8, "\x00\xff\x07", {255, 7}},
    {DATA_INT8, "\x00\xff\x80", {-1, -128}},
    {DATA_UINT16, "\x00\x00\xff\xff\x00\x01", {65535, 256}},
    {DATA_INT16, "\x00\x00\xff\xff\x00\x80", {-1, -32768}},
    {DATA_UINT32, "\x00\x00\x00\x00\xff\xff\xff\xff\x01\x00\x00\x00", {4294967295.0, 1}},
    {DATA_INT32, "\x00\x00\x00\x00\xff\xff\xff\xff\x00\x00\x00\x80", {-1, -2147483648.0}},
    {DATA_UINT64, "\0\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\2\0\0\0\0\0\0\0", {0x1p64, 2}},
    {DATA_INT64, "\0\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0\0\0\0\x80", {-1, -0x1p63}},
    {DATA_UINT4, "\xf0\x07", {15, 7}},
    {DATA_INT4, "\xf0\x08", {-1, -8}},
    {DATA_FLOAT4E2M1, "\xf0\x01", {-6, 0.5}},
    {DATA_FLOAT8E4M3FN, "\x00\x7e\xb8", {448, -1}},
    {DATA_FLOAT8E4M3FNUZ, "\x00\x7f\xc0", {240, -1}},
    {DATA_FLOAT8E5M2, "\x00\x7b\xfc", {57344, -INFINITY}},
    {DATA_FLOAT8E5M2FNUZ, "\x00\x7f\xc0", {57344, -1}},
    {DATA_FLOAT16, "\x00\x00\x00\x3c\xff\xfb", {1, -65504}},
    {DATA_BFLOAT16, "\x00\x00\x80\x3f\x80\xff", {1, -INFINITY}},
    {DATA_FLOAT32, "\x00\x00\x00\x00\x00\x00\x80\x3f\x00\x00\x20\xc0", {1, -2.5}},
    {DATA_FLOAT64, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\x04\xc0", {1, -2.5}},
};

static void every_type_is_read_as_float64(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct tensor tensor = tensor_of(rows[i].type, SHAPE(3), rows[i].bytes);
        double values[2];
        elements_to_float64(&tensor, 1, 2, values);
        if (values[0] != rows[i].values[0] || values[1] != rows[i].values[1])
            fail_msg("%s: %g, %g", data_type_name(rows[i].type), values[0], values[1]);
    }
}

static void small_floats_and_bool_are_read_as_float32(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct tensor tensor = tensor_of(rows[i].type, SHAPE(3), rows[i].bytes);
        float values[2];
        if (elements_arithmetic(rows[i].type) != ARITHMETIC_FLOAT32 && rows[i].type != DATA_BOOL)
            continue;
        elements_to_float32(&tensor, 1, 2, values);
        assert_true((double)values[0] == rows[i].values[0] && (double)values[1] == rows[i].values[1]);
    }
}

static void integers_are_extended_with_their_sign(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct tensor tensor = tensor_of(rows[i].type, SHAPE(3), rows[i].bytes);
        uint64_t values[2];
        if (elements_arithmetic(rows[i].type) != ARITHMETIC_INTEGER)
            continue;
        elements_to_integers(&tensor, 1, 2, values);
        for (int j = 0; j < 2; j++) {
            double value = data_type_is_signed(rows[i].type) ? (double)(int64_t)values[j] : (double)values[j];
            assert_true(value == rows[i].values[j]);
        }
    }
}

static void data_need_not_be_aligned(void **state)
{
    char bytes[1 + 4 * sizeof(double)];
    const double numbers[] = {1, -2, 3, 4.5};
    double values[4];

    memcpy(bytes + 1, numbers, sizeof(numbers));
    struct tensor tensor = tensor_of(DATA_FLOAT64, SHAPE(4), bytes + 1);
    elements_to_float64(&tensor, 0, 4, values);
    assert_memory_equal(values, numbers, sizeof(numbers));
}

static void long_runs_of_small_floats_are_read_whole(void **state)
{
    uint16_t bits[ELEMENTS_RUN];
    double values[ELEMENTS_RUN];

    for (size_t i = 0; i < ELEMENTS_RUN; i++)
        bits[i] = float32_to_float16((float)i);
    struct tensor tensor = VECTOR_OF(DATA_FLOAT16, bits);
    elements_to_float64(&tensor, 0, ELEMENTS_RUN, values);
    for (size_t i = 0; i < ELEMENTS_RUN; i++)
        assert_true(values[i] == (double)i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_sorted_by_arithmetic),
        cmocka_unit_test(every_type_is_read_as_float64),
        cmocka_unit_test(small_floats_and_bool_are_read_as_float32),
        cmocka_unit_test(integers_are_extended_with_their_sign),
        cmocka_unit_test(data_need_not_be_aligned),
        cmocka_unit_test(long_runs_of_small_floats_are_read_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
