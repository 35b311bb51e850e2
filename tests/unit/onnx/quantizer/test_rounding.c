/* Which scale belongs to which element, and what stored integers stand for. */
#include "onnx/quantizer/quantizer.h"
#include "support/tensor_fixture.h"

/* Scales 1, 2, ... of this shape, and zero points 0, 1, .... */
static struct quantizer quantizer_of(struct shape shape, int64_t axis, int64_t block_size)
{
    static const float scales[] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const int32_t zero_points[] = {0, 1, 2, 3, 4, 5, 6, 7};

    return (struct quantizer){.type = DATA_INT8,
                              .axis = axis,
                              .block_size = block_size,
                              .scale = tensor_of(DATA_FLOAT32, shape, scales),
                              .zero_point = tensor_of(DATA_INT32, shape, zero_points),
                              .scale_type = DATA_FLOAT32};
}

/* What tens stand for. `expected`: NULL of an empty tensor. */
static void assert_restored(struct quantizer quantizer, struct shape shape, const float *expected)
{
    static const int8_t tens[] = {10, 10, 10, 10, 10, 10, 10, 10, 10, 10};
    struct tensor stored = tensor_of(DATA_INT8, shape, tens);
    struct scale_layout layout;
    float restored[sizeof(tens)];

    assert_true(scale_layout_of(&quantizer, &shape, &layout));
    quantizer_restore_run(&quantizer, &layout, &stored, 0, tensor_elements(&stored), restored);
    if (expected != NULL)
        assert_memory_equal(restored, expected, tensor_elements(&stored) * sizeof(*expected));
}

static void slices_along_the_axis_have_a_scale_each(void **state)
{
    const float one[] = {10, 10, 10, 10, 10, 10}, rows[] = {10, 10, 10, 18, 18, 18},
                columns[] = {10, 18, 24, 10, 18, 24};

    assert_restored(quantizer_of(SCALAR, -1, 0), SHAPE(2, 3), one);
    assert_restored(quantizer_of(SHAPE(2), 0, 0), SHAPE(2, 3), rows);
    assert_restored(quantizer_of(SHAPE(3), 1, 0), SHAPE(2, 3), columns);
}

/* The last block may be shorter. */
static void blocks_have_a_scale_for_each_element_across_the_axis(void **state)
{
    const float rows[] = {10, 10, 18, 24, 24, 28}, columns[] = {10, 18, 10, 18, 24, 28},
                whole[] = {10, 10, 10, 18, 18, 18};

    assert_restored(quantizer_of(SHAPE(2, 2), 1, 2), SHAPE(2, 3), rows);
    assert_restored(quantizer_of(SHAPE(2, 2), 0, 2), SHAPE(3, 2), columns);
    assert_restored(quantizer_of(SHAPE(2, 1), 1, 3), SHAPE(2, 3), whole);
}

static void assert_does_not_fit(struct quantizer quantizer, struct shape shape)
{
    struct scale_layout layout;

    assert_false(scale_layout_of(&quantizer, &shape, &layout));
}

static void an_empty_tensor_has_its_scales_too(void **state)
{
    assert_restored(quantizer_of(SHAPE(2), 0, 0), SHAPE(2, 0), NULL);
    assert_restored(quantizer_of(SHAPE(2), 1, 0), SHAPE(0, 2), NULL);
    assert_does_not_fit(quantizer_of(SHAPE(3), 0, 0), SHAPE(2, 0));
}

static void scales_of_another_tensor_do_not_fit(void **state)
{
    struct quantizer unknown = {.axis = -1};

    assert_does_not_fit(unknown, SHAPE(2, 3));
    assert_does_not_fit(quantizer_of(SHAPE(2), -1, 0), SHAPE(2, 3));
    assert_does_not_fit(quantizer_of(SHAPE(2), 1, 0), SHAPE(2, 3));
    assert_does_not_fit(quantizer_of(SHAPE(2), 2, 0), SHAPE(2, 3));
    assert_does_not_fit(quantizer_of(SHAPE(2), INT64_MAX, 0), SHAPE(2, 3));
    assert_does_not_fit(quantizer_of(SHAPE(2), 0, 0), SHAPE(2, INT64_MAX, 2));
    assert_does_not_fit(quantizer_of(SHAPE(2), 0, 0), SCALAR);
    assert_does_not_fit(quantizer_of(SHAPE(2, 1), 1, 2), SHAPE(2, 3));
    assert_does_not_fit(quantizer_of(SHAPE(3, 2), 1, 2), SHAPE(2, 3));
    assert_does_not_fit(quantizer_of(SHAPE(2), 1, 2), SHAPE(2, 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_along_the_axis_have_a_scale_each),
        cmocka_unit_test(blocks_have_a_scale_for_each_element_across_the_axis),
        cmocka_unit_test(an_empty_tensor_has_its_scales_too),
        cmocka_unit_test(scales_of_another_tensor_do_not_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
