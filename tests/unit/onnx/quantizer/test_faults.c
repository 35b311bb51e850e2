/* What is wrong with stored constants: each fault is planted in integers, scales or zero points that fit the values. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "onnx/quantizer/fault_words.h"
#include "support/tensor_fixture.h"

enum { LINES = 6, BLOCKS = 4, SIZE = 8, LENGTH = BLOCKS * SIZE, CELLS = LINES * BLOCKS };

/* A constant [LENGTH, LINES] in uint4 with blocks along axis 0, and its values. */
struct constant {
    float values[LENGTH * LINES], scales[CELLS];
    int32_t zero_points[CELLS];
    uint8_t integers[LENGTH * LINES]; /* one in a byte */
};

static size_t cell_of(size_t place, size_t line)
{
    return place / SIZE * LINES + line;
}

/* Values of each sign, of different size in each block. */
static void make_constant(struct constant *constant)
{
    uint32_t seed = 1;

    for (size_t i = 0; i < CELLS; i++) {
        constant->scales[i] = 0.1F * (float)(1 + i % 7);
        constant->zero_points[i] = 8;
    }
    for (size_t i = 0; i < LENGTH * LINES; i++) {
        size_t cell = cell_of(i / LINES, i % LINES);
        float rest;

        seed = seed * 1664525 + 1013904223;
        constant->integers[i] = (uint8_t)(1 + (seed >> 20) % 15);
        if (i / LINES % SIZE == 0) /* levels up to the end are used */
            constant->integers[i] = 15;
        rest = (float)(seed >> 8 & 255) / 320 - 0.4F;
        constant->values[i] =
            ((float)constant->integers[i] - 8 + (constant->integers[i] == 15 ? 0 : rest)) * constant->scales[cell];
    }
}

static struct stored_fault find_fault(const struct constant *constant)
{
    uint8_t packed[LENGTH * LINES / 2];
    const struct shape shape = {.rank = 2, .dims = {LENGTH, LINES}}, parameters = {.rank = 2, .dims = {BLOCKS, LINES}};
    struct quantizer quantizer = {.name = "q",
                                  .type = DATA_UINT4,
                                  .form = QUANTIZER_STORED,
                                  .has_shape = true,
                                  .shape = shape,
                                  .block_size = SIZE,
                                  .scale = tensor_of(DATA_FLOAT32, parameters, constant->scales),
                                  .zero_point = tensor_of(DATA_INT32, parameters, constant->zero_points)};
    struct tensor values = tensor_of(DATA_FLOAT32, shape, constant->values), stored;
    struct stored_fault ret;

    for (size_t i = 0; i < sizeof(packed); i++)
        packed[i] = (uint8_t)(constant->integers[2 * i] | constant->integers[2 * i + 1] << 4);
    stored = tensor_of(DATA_UINT4, shape, packed);
    assert_true(stored_fault_find(&quantizer, &stored, &values, &ret));
    assert_int_equal(ret.blocks, CELLS);
    return ret;
}

static void assert_fault(const struct constant *constant, const char *expected)
{
    struct stored_fault fault = find_fault(constant);
    SCOPED_STRING(text);

    if (fault.kind == FAULT_NONE)
        string_add(&text, "none");
    else
        stored_fault_describe(&fault, &text);
    assert_string_equal(text.data, expected);
    if (stored_fault_is_named(&fault))
        assert_true(fault.after > 20 && fault.before < fault.after - 3);
}

static void swap_integers(struct constant *constant, size_t line, size_t a, size_t other_line, size_t b)
{
    for (size_t i = 0; i < SIZE; i++) {
        uint8_t *first = &constant->integers[(a * SIZE + i) * LINES + line];
        uint8_t *second = &constant->integers[(b * SIZE + i) * LINES + other_line], kept = *first;

        *first = *second;
        *second = kept;
    }
}

static void swap_scales(struct constant *constant, size_t line, size_t a, size_t b)
{
    float kept = constant->scales[a * LINES + line];

    constant->scales[a * LINES + line] = constant->scales[b * LINES + line];
    constant->scales[b * LINES + line] = kept;
}

static void rounding_is_no_fault(void **state)
{
    struct constant constant;

    make_constant(&constant);
    assert_fault(&constant, "none");
}

static void scales_that_do_not_fit_are_named_with_their_factor(void **state)
{
    struct constant constant;

    make_constant(&constant);
    constant.scales[5] *= 8;
    assert_fault(&constant, "has scales that are 8 times too large (1 of 24 blocks)");
    make_constant(&constant);
    for (size_t i = 0; i < CELLS; i++)
        constant.scales[i] *= 8;
    assert_fault(&constant, "has scales that are 8 times too large (24 of 24 blocks)");
    make_constant(&constant);
    for (size_t i = 0; i < CELLS; i++)
        constant.scales[i] /= 16;
    assert_fault(&constant, "has scales that are 16 times too small (24 of 24 blocks)");
    make_constant(&constant);
    for (size_t i = 0; i < CELLS; i++)
        constant.scales[i] *= 2.5F;
    assert_fault(&constant, "has scales that are about 2.5 times too large (24 of 24 blocks)");
}

/* Integers that were rounded with these scales fit them: the scales are only larger than necessary. */
static void scales_with_which_values_were_rounded_are_coarse(void **state)
{
    struct constant constant;

    make_constant(&constant);
    for (size_t i = 0; i < CELLS; i++)
        constant.scales[i] *= 6;
    for (size_t i = 0; i < LENGTH * LINES; i++)
        constant.integers[i] =
            (uint8_t)(8 + (int)rintf(constant.values[i] / constant.scales[cell_of(i / LINES, i % LINES)]));
    assert_true(find_fault(&constant).kind == FAULT_COARSE);
}

static void zero_points_are_named_with_the_right_ones(void **state)
{
    struct constant constant;

    make_constant(&constant);
    for (size_t i = 0; i < CELLS; i++)
        constant.zero_points[i] = 7;
    assert_fault(&constant, "has zero point 7 in place of 8 (24 of 24 blocks)");
    make_constant(&constant);
    constant.zero_points[3] = 9;
    constant.zero_points[4] = 6;
    assert_fault(&constant, "has wrong zero points (2 of 24 blocks)");
}

/* Bytes hold neighbours along the line (MatMulNBits), or along the last axis (DequantizeLinear). */
static void halves_of_bytes_are_swapped_in_either_order(void **state)
{
    struct constant constant;
    uint8_t integers[LENGTH * LINES];

    for (int in_line = 0; in_line < 2; in_line++) {
        make_constant(&constant);
        memcpy(integers, constant.integers, sizeof(integers));
        for (size_t i = 0; i < LENGTH * LINES; i++)
            constant.integers[i] = integers[in_line ? (i / LINES ^ 1) * LINES + i % LINES : i ^ 1];
        assert_int_equal(find_fault(&constant).kind, FAULT_HALVES);
        assert_true(find_fault(&constant).after > 20);
    }
}

static void swapped_blocks_are_named_with_what_was_swapped(void **state)
{
    struct constant constant;

    make_constant(&constant);
    swap_integers(&constant, 2, 0, 2, 3);
    assert_fault(&constant, "has the integers of blocks 0 and 3 swapped (2 of 24 blocks)");
    make_constant(&constant);
    swap_integers(&constant, 2, 0, 2, 3);
    swap_scales(&constant, 2, 0, 3);
    assert_fault(&constant, "has blocks 0 and 3 swapped (2 of 24 blocks)");
    make_constant(&constant);
    for (size_t line = 0; line < LINES; line++) {
        swap_integers(&constant, line, 1, line, 2);
        swap_scales(&constant, line, 1, 2);
    }
    assert_fault(&constant, "has blocks 1 and 2 swapped (12 of 24 blocks)");
    make_constant(&constant);
    swap_integers(&constant, 1, 0, 4, 3);
    assert_fault(&constant, "has the integers of block 0 of line 1 and block 3 of line 4 swapped (2 of 24 blocks)");
    make_constant(&constant);
    swap_integers(&constant, 1, 0, 1, 3);
    swap_integers(&constant, 1, 0, 1, 2);
    assert_fault(&constant, "has the integers of blocks at the places of other blocks (3 of 24 blocks)");
}

static void shifts_along_the_axis_are_named(void **state)
{
    struct constant constant;
    uint8_t integers[LENGTH * LINES];

    make_constant(&constant);
    memcpy(integers, constant.integers, sizeof(integers));
    for (size_t i = 0; i < LENGTH * LINES; i++)
        constant.integers[(i + SIZE * LINES) % (LENGTH * LINES)] = integers[i];
    assert_fault(&constant, "has the integers of blocks shifted by 1 along the axis (24 of 24 blocks)");
    for (size_t i = 0; i < LENGTH * LINES; i++)
        constant.integers[i] = integers[(i + LINES) % (LENGTH * LINES)];
    assert_fault(&constant, "has elements shifted by -1 along the axis (24 of 24 blocks)");
}

/* The first block is lost: zeros are in its place. */
static void a_shift_without_wrapping_around_is_named_too(void **state)
{
    struct constant constant;

    make_constant(&constant);
    memmove(&constant.integers[SIZE * LINES], constant.integers, (LENGTH - SIZE) * LINES);
    memset(constant.integers, 8, SIZE * LINES);
    assert_int_equal(find_fault(&constant).kind, FAULT_BLOCKS_SHIFTED);
}

static void other_integers_are_not_explained(void **state)
{
    struct constant constant, other;

    make_constant(&constant);
    make_constant(&other);
    for (size_t i = 0; i < LENGTH * LINES; i++)
        constant.integers[i] = (uint8_t)(i * 7 % 16);
    assert_int_equal(find_fault(&constant).kind, FAULT_UNKNOWN);
    assert_false(stored_fault_is_named(&(struct stored_fault){.kind = FAULT_UNKNOWN}));
}

/* Only blocks are compared, and only with as many values. */
static void a_constant_without_blocks_is_not_compared(void **state)
{
    const float scale[] = {1}, values[] = {1, 2};
    struct quantizer quantizer = {.name = "q", .type = DATA_INT8, .axis = -1, .scale = VECTOR_OF(DATA_FLOAT32, scale)};
    struct tensor of_values = VECTOR_OF(DATA_FLOAT32, values), stored = VECTOR_OF(DATA_INT8, "\1\2");
    struct stored_fault fault;

    assert_false(stored_fault_find(&quantizer, &stored, &of_values, &fault));
    assert_int_equal(fault.kind, FAULT_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounding_is_no_fault),
        cmocka_unit_test(scales_that_do_not_fit_are_named_with_their_factor),
        cmocka_unit_test(scales_with_which_values_were_rounded_are_coarse),
        cmocka_unit_test(zero_points_are_named_with_the_right_ones),
        cmocka_unit_test(halves_of_bytes_are_swapped_in_either_order),
        cmocka_unit_test(swapped_blocks_are_named_with_what_was_swapped),
        cmocka_unit_test(shifts_along_the_axis_are_named),
        cmocka_unit_test(a_shift_without_wrapping_around_is_named_too),
        cmocka_unit_test(other_integers_are_not_explained),
        cmocka_unit_test(a_constant_without_blocks_is_not_compared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
