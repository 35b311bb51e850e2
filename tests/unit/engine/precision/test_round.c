/* Rounding to narrow types, against the conversions of single elements. */
#include "support/unit_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/precision/precision.h"

static uint32_t bits_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static float through_float16(float value)
{
    return float16_to_float32(float32_to_float16(value));
}

static float through_bfloat16(float value)
{
    return bfloat16_to_float32(float32_to_bfloat16(value));
}

/* Rounds the values and compares each with what `expected` makes of it, bit by bit. */
static void assert_rounds_like(enum precision precision, float (*expected)(float), const float *values, size_t count)
{
    float *rounded = (void *)memory_copy(values, count * sizeof(*values));

    precision_round(precision, rounded, count);
    for (size_t i = 0; i < count; i++)
        if (bits_of(rounded[i]) != bits_of(expected(values[i])))
            fail_msg("%a (%08x) became %08x instead of %08x", (double)values[i], bits_of(values[i]),
                     bits_of(rounded[i]), bits_of(expected(values[i])));
    free(rounded);
}

/* Every number of the narrow type, the point halfway to the next one, and the float32 numbers beside both. */
static void every_number_and_every_midpoint(enum precision precision, float (*wide)(uint16_t), float (*expected)(float))
{
    size_t count = 0;
    float *values = memory_alloc((size_t)65536 * 6 * sizeof(*values));

    for (uint32_t i = 0; i < 65536; i++) {
        float number = wide((uint16_t)i), next = wide((uint16_t)(i + 1));
        float midpoint = number / 2 + next / 2;
        const float exact[] = {number, midpoint};

        for (size_t k = 0; k < 2; k++) {
            values[count++] = exact[k];
            values[count++] = nextafterf(exact[k], INFINITY);
            values[count++] = nextafterf(exact[k], -INFINITY);
        }
    }
    assert_rounds_like(precision, expected, values, count);
    free(values);
}

static void float16_numbers_and_midpoints_are_rounded_as_elements_are(void **state)
{
    every_number_and_every_midpoint(PRECISION_FLOAT16, float16_to_float32, through_float16);
}

static void bfloat16_numbers_and_midpoints_are_rounded_as_elements_are(void **state)
{
    every_number_and_every_midpoint(PRECISION_BFLOAT16, bfloat16_to_float32, through_bfloat16);
}

static void float32_patterns_from_all_over_are_rounded_as_elements_are(void **state)
{
    size_t count = 0;
    float *values = memory_alloc((size_t)(UINT32_MAX / 65521 + 1) * sizeof(*values));

    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += 65521) /* a prime */
        values[count++] = float_of((uint32_t)bits);
    assert_rounds_like(PRECISION_FLOAT16, through_float16, values, count);
    assert_rounds_like(PRECISION_BFLOAT16, through_bfloat16, values, count);
    free(values);
}

static void values_around_the_largest_float16_overflow_where_they_should(void **state)
{
    float values[] = {65504, 65519.996F, 65520, 65536, -65519.996F, -65520, INFINITY, -INFINITY};
    const float expected[] = {65504, 65504, INFINITY, INFINITY, -65504, -INFINITY, INFINITY, -INFINITY};

    precision_round(PRECISION_FLOAT16, values, ARRAY_LEN(values));
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        assert_int_equal(bits_of(values[i]), bits_of(expected[i]));
}

/* Short runs and the ends of long ones do not go the same way as the middle. */
static void every_length_is_rounded_to_its_end_and_no_further(void **state)
{
    for (size_t count = 0; count < 200; count++) {
        float values[201];

        for (size_t i = 0; i < ARRAY_LEN(values); i++)
            values[i] = 1.0001F;
        precision_round(PRECISION_FLOAT16, values, count);
        for (size_t i = 0; i < ARRAY_LEN(values); i++)
            assert_true(i < count ? bits_of(values[i]) == bits_of(1) : bits_of(values[i]) == bits_of(1.0001F));
    }
}

static void wide_precisions_change_nothing(void **state)
{
    float values[] = {1.0001F, 1e30F, NAN};
    uint32_t before[3], after[3];

    memcpy(before, values, sizeof(before));
    precision_round(PRECISION_FLOAT32, values, 3);
    precision_round(PRECISION_TF32, values, 3);
    memcpy(after, values, sizeof(after));
    assert_memory_equal(before, after, sizeof(before));
}

static float quantize_slowly(float value, float scale)
{
    float steps = isnan(value) ? 0 : value / scale;

    steps = steps < -128 ? -128 : steps > 127 ? 127 : steps;
    return nearbyintf(steps) * scale;
}

static void quantization_rounds_half_to_even_and_saturates(void **state)
{
    float values[1000];

    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        values[i] = ((float)i - 500) * 0.125F; /* halves of a step among them */
    values[0] = NAN;
    values[1] = INFINITY;
    values[2] = -INFINITY;
    values[3] = 1e-40F;
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        float value = values[i];

        precision_quantize(0.25F, &value, 1);
        assert_true(value == quantize_slowly(values[i], 0.25F));
    }
    float together[1000];
    memcpy(together, values, sizeof(together));
    precision_quantize(0.25F, together, ARRAY_LEN(together));
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        assert_true(together[i] == quantize_slowly(values[i], 0.25F));
    assert_true(together[1] == 31.75F && together[2] == -32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(float16_numbers_and_midpoints_are_rounded_as_elements_are),
        cmocka_unit_test(bfloat16_numbers_and_midpoints_are_rounded_as_elements_are),
        cmocka_unit_test(float32_patterns_from_all_over_are_rounded_as_elements_are),
        cmocka_unit_test(values_around_the_largest_float16_overflow_where_they_should),
        cmocka_unit_test(every_length_is_rounded_to_its_end_and_no_further),
        cmocka_unit_test(wide_precisions_change_nothing),
        cmocka_unit_test(quantization_rounds_half_to_even_and_saturates),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
