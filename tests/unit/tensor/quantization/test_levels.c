/* Which numbers quantized types have, and what becomes of others. */
#include <math.h>

#include "support/tensor_fixture.h"
#include "tensor/quantization/levels.h"

static float quantized(enum data_type type, float quotient, int64_t zero_point, bool *clipped)
{
    struct levels levels;

    assert_true(levels_init(&levels, type));
    return levels_value(&levels, levels_find(&levels, quotient, zero_point, clipped), zero_point);
}

static void assert_quantized(enum data_type type, float quotient, int64_t zero_point, float expected, bool clips)
{
    bool clipped;

    assert_true(quantized(type, quotient, zero_point, &clipped) == expected);
    assert_int_equal(clipped, clips);
}

static void halves_go_to_the_even_integer(void **state)
{
    assert_quantized(DATA_INT8, 0.5F, 0, 0, false);
    assert_quantized(DATA_INT8, 1.5F, 0, 2, false);
    assert_quantized(DATA_INT8, -2.5F, 0, -2, false);
    assert_quantized(DATA_UINT8, 2.5F, 3, 2, false); /* before the zero point is added */
}

static void what_is_out_of_range_is_clipped(void **state)
{
    assert_quantized(DATA_INT8, 127.4F, 0, 127, false);
    assert_quantized(DATA_INT8, 127.6F, 0, 127, true);
    assert_quantized(DATA_INT8, -129, 0, -128, true);
    assert_quantized(DATA_UINT8, -1, 0, 0, true);
    assert_quantized(DATA_UINT8, 128, 128, 127, true);
    assert_quantized(DATA_INT4, 7.6F, 0, 7, true);
    assert_quantized(DATA_UINT4, 15, 0, 15, false);
    assert_quantized(DATA_UINT16, 70000, 0, 65535, true);
    assert_quantized(DATA_INT32, 3e9F, 0, 2147483647.0F, true);
    assert_quantized(DATA_INT8, INFINITY, 0, 127, true);
    assert_quantized(DATA_INT8, -INFINITY, 100, -228, true);
}

/* Values of ONNX, "Float stored in 8 bits". */
static void small_floats_take_the_nearest_of_their_numbers(void **state)
{
    assert_quantized(DATA_FLOAT8E4M3FN, 448, 0, 448, false);
    assert_quantized(DATA_FLOAT8E4M3FN, 463, 0, 448, false);
    assert_quantized(DATA_FLOAT8E4M3FN, 464, 0, 448, false); /* halfway to 480, were there one: 448 is even */
    assert_quantized(DATA_FLOAT8E4M3FN, 465, 0, 448, true);
    assert_quantized(DATA_FLOAT8E4M3FN, -1000, 0, -448, true);
    assert_quantized(DATA_FLOAT8E4M3FN, 17, 0, 16, false); /* halfway to 18: the even one */
    assert_quantized(DATA_FLOAT8E4M3FN, 19, 0, 20, false);
    assert_quantized(DATA_FLOAT8E4M3FN, 0x1p-10F, 0, 0, false);
    assert_quantized(DATA_FLOAT8E5M2, 57344, 0, 57344, false);
    assert_quantized(DATA_FLOAT8E5M2, -61440, 0, -57344, true); /* halfway to 65536, which is even */
    assert_quantized(DATA_FLOAT8E5M2FNUZ, -57344, 0, -57344, false);
    assert_quantized(DATA_FLOAT8E4M3FNUZ, 300, 0, 240, true);
    assert_quantized(DATA_FLOAT4E2M1, 2.4F, 0, 2, false);
    assert_quantized(DATA_FLOAT4E2M1, -5.5F, 0, -6, false);
    assert_quantized(DATA_FLOAT4E2M1, 7, 0, 6, true);
}

static void what_is_no_number_becomes_zero(void **state)
{
    assert_quantized(DATA_INT8, NAN, 0, 0, false);
    assert_quantized(DATA_UINT8, NAN, 128, 0, false);
    assert_quantized(DATA_INT32, NAN, -7, 0, false);
    assert_quantized(DATA_FLOAT8E4M3FN, NAN, 0, 0, false);
}

static void types_have_as_many_levels_as_numbers(void **state)
{
    static const struct {
        enum data_type type;
        size_t count;
    } types[] = {{DATA_INT8, 256},           {DATA_UINT4, 16},       {DATA_INT16, 65536},
                 {DATA_FLOAT8E4M3FN, 253},   {DATA_FLOAT8E5M2, 247}, {DATA_FLOAT8E4M3FNUZ, 255},
                 {DATA_FLOAT8E5M2FNUZ, 255}, {DATA_FLOAT4E2M1, 15},  {DATA_INT32, 0}};
    struct levels levels;

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        assert_true(levels_init(&levels, types[i].type));
        assert_int_equal(levels.count, types[i].count);
        for (size_t k = 1; !levels.are_integers && k < levels.count; k++)
            assert_true(levels.values[k] > levels.values[k - 1]);
    }
    assert_false(levels_init(&levels, DATA_FLOAT16));
    assert_false(levels_init(&levels, DATA_INT64));
    assert_false(levels_init(&levels, DATA_STRING));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_go_to_the_even_integer),
        cmocka_unit_test(what_is_out_of_range_is_clipped),
        cmocka_unit_test(small_floats_take_the_nearest_of_their_numbers),
        cmocka_unit_test(what_is_no_number_becomes_zero),
        cmocka_unit_test(types_have_as_many_levels_as_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
