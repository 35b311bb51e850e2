/* Element types: names, sizes, and conversions of the small floating types. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "support/tensor_fixture.h"

static void every_type_has_a_name_that_parses_in_any_case(void **state)
{
    for (int type = DATA_UNDEFINED + 1; type < DATA_TYPE_COUNT; type++) {
        const char *name = data_type_name((enum data_type)type);
        char upper[32];
        size_t length = strlen(name);
        for (size_t i = 0; i <= length; i++)
            upper[i] = (char)(name[i] >= 'a' && name[i] <= 'z' ? name[i] - 'a' + 'A' : name[i]);
        assert_int_equal(data_type_parse(text_of(name)), type);
        assert_int_equal(data_type_parse(text_of(upper)), type);
    }
    assert_string_equal(data_type_name(DATA_FLOAT8E4M3FN), "float8e4m3fn");
}

static void unknown_types_are_undefined(void **state)
{
    assert_int_equal(data_type_parse(TEXT("float")), DATA_UNDEFINED);
    assert_int_equal(data_type_parse(TEXT("float320")), DATA_UNDEFINED);
    assert_int_equal(data_type_parse(TEXT("")), DATA_UNDEFINED);
    assert_string_equal(data_type_name((enum data_type)99), "undefined");
    assert_string_equal(data_type_name((enum data_type) - 1), "undefined");
    assert_int_equal(data_type_bits((enum data_type)99), 0);
}

static void types_know_their_size_and_kind(void **state)
{
    assert_int_equal(data_type_bits(DATA_INT4), 4);
    assert_int_equal(data_type_bits(DATA_BOOL), 8);
    assert_int_equal(data_type_bits(DATA_COMPLEX128), 128);
    assert_int_equal(data_type_bits(DATA_STRING), 0);
    assert_true(data_type_is_float(DATA_FLOAT4E2M1) && data_type_is_float(DATA_BFLOAT16));
    assert_false(data_type_is_float(DATA_COMPLEX64) || data_type_is_float(DATA_INT32));
    assert_true(data_type_is_integer(DATA_UINT4) && data_type_is_integer(DATA_INT64));
    assert_false(data_type_is_integer(DATA_BOOL));
    assert_true(data_type_is_signed(DATA_INT4));
    assert_false(data_type_is_signed(DATA_UINT8) || data_type_is_signed(DATA_FLOAT32));
}

static void every_float16_survives_a_round_trip(void **state)
{
    for (uint32_t bits = 0; bits <= UINT16_MAX; bits++) {
        float value = float16_to_float32((uint16_t)bits);
        uint16_t back = float32_to_float16(value);
        if (isnan(value))
            assert_true(isnan(float16_to_float32(back)));
        else
            assert_int_equal(back, bits);
        if (!isnan(value))
            assert_int_equal(float64_to_float16((double)value), bits);
    }
}

static void float16_has_the_values_of_ieee_754(void **state)
{
    assert_true(float16_to_float32(0x3c00) == 1);
    assert_true(float16_to_float32(0xc000) == -2);
    assert_true(float16_to_float32(0x7bff) == 65504);
    assert_true(float16_to_float32(0x0001) == 0x1p-24F);
    assert_true(float16_to_float32(0x8400) == -0x1p-14F);
    assert_true(float16_to_float32(0xfc00) == -INFINITY);
    assert_true(isnan(float16_to_float32(0x7e00)) && isnan(float16_to_float32(0x7c01)));
    assert_true(signbit(float16_to_float32(0x8000)));
}

static void float16_rounds_to_nearest_even(void **state)
{
    static const struct {
        float value;
        uint16_t bits;
    } rows[] = {
        {1 + 0x1p-11F, 0x3c00},    {1 + 3 * 0x1p-11F, 0x3c02},
        {1 + 0x1.8p-11F, 0x3c01},  {65519.996F, 0x7bff},
        {65520, 0x7c00},           {1e30F, 0x7c00},
        {-1e30F, 0xfc00},          {0x1p-25F, 0x0000},
        {0x1.000002p-25F, 0x0001}, {3 * 0x1p-25F, 0x0002},
        {0x1.ff8p-15F, 0x03ff},    {0x1.ffcp-15F, 0x0400},
        {-0x1p-14F, 0x8400},       {0x1p-149F, 0x0000},
        {-0.0F, 0x8000},           {2048 + 1 - 0x1p-12F, 0x6800},
        {4095.9F, 0x6c00},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(float32_to_float16(rows[i].value), rows[i].bits);
    assert_int_equal(float32_to_float16(NAN) & 0x7e00, 0x7e00);
}

static void float64_becomes_float16_with_one_rounding(void **state)
{
    /* Just above and below a tie of float16, by less than a float32 can tell. */
    assert_int_equal(float64_to_float16(1 + 0x1p-11 + 0x1p-40), 0x3c01);
    assert_int_equal(float64_to_float16(1 + 0x1p-11), 0x3c00);
    assert_int_equal(float64_to_float16(1 + 3 * 0x1p-11 - 0x1p-40), 0x3c01);
    assert_int_equal(float64_to_float16(-(1 + 0x1p-11 + 0x1p-40)), 0xbc01);
    assert_int_equal(float64_to_float16(0x1p-25 + 0x1p-70), 0x0001);
    assert_int_equal(float64_to_float16(1e300), 0x7c00);
    assert_int_equal(float64_to_float16(-1e300), 0xfc00);
    assert_int_equal(float64_to_float16(1e-300), 0);
    assert_int_equal(float64_to_float16(NAN) & 0x7e00, 0x7e00);
}

static void bfloat16_rounds_to_nearest_even(void **state)
{
    assert_true(bfloat16_to_float32(0x3f80) == 1);
    assert_true(bfloat16_to_float32(0xff80) == -INFINITY);
    assert_int_equal(float32_to_bfloat16(1 + 0x1p-8F), 0x3f80);
    assert_int_equal(float32_to_bfloat16(1 + 3 * 0x1p-8F), 0x3f82);
    assert_int_equal(float32_to_bfloat16(1 + 0x1.1p-8F), 0x3f81);
    assert_int_equal(float32_to_bfloat16(3.4e38F), 0x7f80);
    assert_int_equal(float32_to_bfloat16(-INFINITY), 0xff80);
    assert_true(isnan(bfloat16_to_float32(float32_to_bfloat16(NAN))));
}

/* Limits as in ONNX, "Float stored in 8 bits". */
static void float8_has_the_values_of_onnx(void **state)
{
    static const struct {
        enum data_type type;
        uint8_t bits;
        float value;
    } rows[] = {
        {DATA_FLOAT8E4M3FN, 0x38, 1},       {DATA_FLOAT8E4M3FN, 0x7e, 448},
        {DATA_FLOAT8E4M3FN, 0x01, 0x1p-9F}, {DATA_FLOAT8E4M3FN, 0x08, 0x1p-6F},
        {DATA_FLOAT8E4M3FN, 0xb9, -1.125F}, {DATA_FLOAT8E4M3FNUZ, 0x40, 1},
        {DATA_FLOAT8E4M3FNUZ, 0x7f, 240},   {DATA_FLOAT8E4M3FNUZ, 0x01, 0x1p-10F},
        {DATA_FLOAT8E5M2, 0x3c, 1},         {DATA_FLOAT8E5M2, 0x7b, 57344},
        {DATA_FLOAT8E5M2, 0x01, 0x1p-16F},  {DATA_FLOAT8E5M2, 0x7c, INFINITY},
        {DATA_FLOAT8E5M2, 0xfc, -INFINITY}, {DATA_FLOAT8E5M2FNUZ, 0x40, 1},
        {DATA_FLOAT8E5M2FNUZ, 0x7f, 57344}, {DATA_FLOAT8E5M2FNUZ, 0x01, 0x1p-17F},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_true(float8_to_float32(rows[i].type, rows[i].bits) == rows[i].value);
    assert_true(isnan(float8_to_float32(DATA_FLOAT8E4M3FN, 0x7f)) && isnan(float8_to_float32(DATA_FLOAT8E4M3FN, 0xff)));
    assert_true(isnan(float8_to_float32(DATA_FLOAT8E5M2, 0x7d)) && isnan(float8_to_float32(DATA_FLOAT8E5M2, 0xff)));
    assert_true(isnan(float8_to_float32(DATA_FLOAT8E4M3FNUZ, 0x80)));
    assert_true(isnan(float8_to_float32(DATA_FLOAT8E5M2FNUZ, 0x80)));
}

static void float4_has_sixteen_values(void **state)
{
    static const float values[] = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6};

    for (uint8_t bits = 0; bits < 16; bits++)
        assert_true(float4_to_float32(bits) == (bits & 8 ? -values[bits & 7] : values[bits]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_has_a_name_that_parses_in_any_case),
        cmocka_unit_test(unknown_types_are_undefined),
        cmocka_unit_test(types_know_their_size_and_kind),
        cmocka_unit_test(every_float16_survives_a_round_trip),
        cmocka_unit_test(float16_has_the_values_of_ieee_754),
        cmocka_unit_test(float16_rounds_to_nearest_even),
        cmocka_unit_test(float64_becomes_float16_with_one_rounding),
        cmocka_unit_test(bfloat16_rounds_to_nearest_even),
        cmocka_unit_test(float8_has_the_values_of_onnx),
        cmocka_unit_test(float4_has_sixteen_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
