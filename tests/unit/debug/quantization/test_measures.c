/* What a quantizer does to the values of its tensor: vectors worked out by hand. */
#include <math.h>

#include "debug/quantization/measures.h"
#include "support/tensor_fixture.h"

#define ABOUT(a, b) (fabs((a) - (b)) < 1e-6)

static struct quantizer quantizer_of(enum data_type type, struct tensor scale, const int32_t *zero_points, int64_t axis)
{
    struct quantizer ret = {.name = "q", .type = type, .axis = axis, .scale = scale, .scale_type = DATA_FLOAT32};

    if (zero_points != NULL)
        ret.zero_point = tensor_of(DATA_INT32, scale.shape, zero_points);
    return ret;
}

static struct tensor_measures measure(const struct quantizer *quantizer, struct tensor values, bool stored)
{
    struct tensor_measuring *measuring;
    struct tensor_measures ret;

    assert_int_equal(tensor_measuring_new(quantizer, &measuring, NULL), 0);
    if (values.data != NULL)
        assert_int_equal(stored ? tensor_measuring_add_stored(measuring, &values, NULL)
                                : tensor_measuring_add(measuring, &values, NULL),
                         0);
    tensor_measuring_finish(measuring, &ret);
    tensor_measuring_free(measuring);
    return ret;
}

static void rounding_and_clipping_make_noise(void **state)
{
    const float scale[] = {1}, values[] = {1.25F, -2, 130, -200};
    struct quantizer quantizer = quantizer_of(DATA_INT8, VECTOR_OF(DATA_FLOAT32, scale), NULL, -1);
    struct tensor_measures measures = measure(&quantizer, VECTOR_OF(DATA_FLOAT32, values), false);
    double signal = 1.25 * 1.25 + 4 + 130.0 * 130 + 200.0 * 200, noise = 0.25 * 0.25 + 3 * 3 + 72.0 * 72;

    assert_true(ABOUT(measures.signal_to_noise, 10 * log10(signal / noise)));
    assert_true(ABOUT(measures.clipped, 0.5) && ABOUT(measures.clipped_below, 0.25));
    assert_true(ABOUT(measures.unused, 0));
    assert_int_equal(measures.elements, 4);
}

/* uint8 with zero point 0 has 256 levels, of which 11 to 20 are reached. */
static void levels_that_no_value_reaches_are_not_used(void **state)
{
    const float scale[] = {0.5F}, values[] = {5.5F, 10};
    const int32_t zero_point[] = {0};
    struct quantizer quantizer = quantizer_of(DATA_UINT8, VECTOR_OF(DATA_FLOAT32, scale), zero_point, -1);
    struct tensor_measures measures = measure(&quantizer, VECTOR_OF(DATA_FLOAT32, values), false);

    assert_true(ABOUT(measures.unused, 1 - 10.0 / 256));
    assert_true(measures.signal_to_noise == INFINITY && measures.clipped == 0);
}

/* With scales that are too large, stored integers use the whole range, and are far from the values. */
static void stored_integers_are_measured_as_they_are(void **state)
{
    const float scale[] = {8}, values[] = {7, -8, 3, 1};
    const uint8_t stored[] = {0x87, 0x03}; /* 7, -8, 3, 0 */
    struct quantizer quantizer = quantizer_of(DATA_INT4, VECTOR_OF(DATA_FLOAT32, scale), NULL, -1);
    struct tensor of_values = VECTOR_OF(DATA_FLOAT32, values);
    struct tensor of_stored = tensor_of(DATA_INT4, of_values.shape, stored), other = VECTOR_OF(DATA_INT8, "\1\2\3");
    double signal = 49 + 64 + 9 + 1, noise = 49.0 * 49 + 56.0 * 56 + 21.0 * 21 + 1;
    struct tensor_measuring *measuring;
    struct tensor_measures measures;

    assert_int_equal(tensor_measuring_new(&quantizer, &measuring, NULL), 0);
    assert_int_equal(tensor_measuring_add_pair(measuring, &of_values, &other, NULL), ERR_INVALID);
    assert_int_equal(tensor_measuring_add_pair(measuring, &of_values, &of_stored, NULL), 0);
    tensor_measuring_finish(measuring, &measures);
    tensor_measuring_free(measuring);
    assert_true(ABOUT(measures.signal_to_noise, 10 * log10(signal / noise)));
    assert_true(ABOUT(measures.unused, 0) && ABOUT(measures.zeroed, 0.25) && ABOUT(measures.clipped, 0));
}

static void values_below_half_a_step_become_zero(void **state)
{
    const float scale[] = {1}, values[] = {0, 0.25F, -0.4F, 3};
    struct quantizer quantizer = quantizer_of(DATA_INT8, VECTOR_OF(DATA_FLOAT32, scale), NULL, -1);
    struct tensor_measures measures = measure(&quantizer, VECTOR_OF(DATA_FLOAT32, values), false);

    assert_true(ABOUT(measures.zeroed, 0.5));
    assert_true(measures.clipped == 0);
}

static void one_value_can_hold_the_range_open(void **state)
{
    static float values[2000];
    const float scale[] = {1};
    struct quantizer quantizer = quantizer_of(DATA_INT8, VECTOR_OF(DATA_FLOAT32, scale), NULL, -1);

    for (int i = 0; i < 2000; i++)
        values[i] = i % 2 == 0 ? 4 : -4;
    values[7] = 100;
    assert_true(ABOUT(measure(&quantizer, VECTOR_OF(DATA_FLOAT32, values), false).reach, 25));
    quantizer.type = DATA_FLOAT8E4M3FN; /* 100 becomes 96 */
    assert_true(ABOUT(measure(&quantizer, VECTOR_OF(DATA_FLOAT32, values), false).reach, 24));
}

static void scales_are_judged_one_by_one(void **state)
{
    const float scales[] = {1, 1.5F, 100, 1, 0}, values[] = {1, 2, 3, 4, 100, 300, 0, 0, 5, 6};
    struct quantizer quantizer = quantizer_of(DATA_INT8, VECTOR_OF(DATA_FLOAT32, scales), NULL, 0);
    struct tensor_measures measures = measure(&quantizer, tensor_of(DATA_FLOAT32, SHAPE(5, 2), values), false);

    assert_int_equal(measures.scales, 5);
    assert_int_equal(measures.outlying_scales, 1); /* 100 */
    assert_int_equal(measures.dead_scales, 2);     /* zeros, and what scale 0 takes */
    assert_int_equal(measures.worst_scale, 4);     /* nothing is left of it */
    assert_true(ABOUT(measures.worst_signal_to_noise, 0));
}

/* Of a bias, each scale has one value. */
static void a_single_value_is_dead_only_as_zero(void **state)
{
    const float scales[] = {1, 1, 1, 100}, values[] = {5, 0, -3, 400};
    struct quantizer quantizer = quantizer_of(DATA_INT32, VECTOR_OF(DATA_FLOAT32, scales), NULL, 0);
    struct tensor_measures measures = measure(&quantizer, VECTOR_OF(DATA_FLOAT32, values), false);

    assert_int_equal(measures.dead_scales, 1);
    assert_int_equal(measures.outlying_scales, 1);
}

static void scales_can_lie_out_below_the_others_too(void **state)
{
    const float scales[] = {1, 1, 0.01F}, values[] = {1, 2, 3, 4, 0.01F, 0.02F};
    struct quantizer quantizer = quantizer_of(DATA_INT8, VECTOR_OF(DATA_FLOAT32, scales), NULL, 0);

    assert_int_equal(measure(&quantizer, tensor_of(DATA_FLOAT32, SHAPE(3, 2), values), false).outlying_scales, 1);
}

static void nan_and_infinity_count_apart(void **state)
{
    const float scale[] = {1}, values[] = {NAN, INFINITY, 3, -INFINITY}, none[] = {NAN};
    struct quantizer quantizer = quantizer_of(DATA_INT8, VECTOR_OF(DATA_FLOAT32, scale), NULL, -1);
    struct tensor_measures measures = measure(&quantizer, VECTOR_OF(DATA_FLOAT32, values), false);

    assert_int_equal(measures.elements, 4);
    assert_int_equal(measures.not_finite, 3);
    assert_true(measures.signal_to_noise == INFINITY && measures.clipped == 0);
    measures = measure(&quantizer, VECTOR_OF(DATA_FLOAT32, none), false);
    assert_true(isnan(measures.signal_to_noise) && isnan(measures.clipped) && isnan(measures.unused));
}

static void of_nothing_nothing_is_known(void **state)
{
    const float scale[] = {1};
    struct quantizer quantizer = quantizer_of(DATA_INT8, VECTOR_OF(DATA_FLOAT32, scale), NULL, -1);
    struct tensor_measures measures = measure(&quantizer, tensor_of(DATA_FLOAT32, SHAPE(0), ""), false);

    assert_int_equal(measures.elements, 0);
    assert_true(isnan(measures.signal_to_noise) && isnan(measures.reach));
}

static void of_stored_integers_only_levels_are_known(void **state)
{
    const float scales[] = {1, 1};
    const int8_t stored[] = {127, -128, 5, 5}, symmetric[] = {127, -127, 126, -126};
    struct quantizer quantizer = quantizer_of(DATA_INT8, VECTOR_OF(DATA_FLOAT32, scales), NULL, 0);
    struct tensor_measures measures = measure(&quantizer, tensor_of(DATA_INT8, SHAPE(2, 2), stored), true);

    assert_true(isnan(measures.signal_to_noise) && isnan(measures.clipped) && isnan(measures.worst_signal_to_noise));
    assert_true(ABOUT(measures.at_ends, 0.5) && ABOUT(measures.unused, 0));
    assert_int_equal(measures.dead_scales, 1);
    measures = measure(&quantizer, tensor_of(DATA_INT8, SHAPE(2, 2), symmetric), true);
    assert_true(ABOUT(measures.at_ends, 0.5)); /* a symmetric range ends at -127 */
}

static void other_types_go_the_same_way(void **state)
{
    const float scale[] = {2}, values[] = {1000, 2, 33};
    struct quantizer quantizer = quantizer_of(DATA_FLOAT8E4M3FN, VECTOR_OF(DATA_FLOAT32, scale), NULL, -1);
    struct tensor_measures measures = measure(&quantizer, VECTOR_OF(DATA_FLOAT32, values), false);

    assert_true(ABOUT(measures.clipped, 1.0 / 3)); /* 1000 / 2 is beyond 448 */
    assert_true(
        ABOUT(measures.signal_to_noise, 10 * log10((1e6 + 4 + 33.0 * 33) / (104.0 * 104 + 1)))); /* 33 / 2 becomes 16 */
    quantizer.type = DATA_INT32;
    measures = measure(&quantizer, VECTOR_OF(DATA_FLOAT32, values), false);
    assert_true(isnan(measures.unused) && isnan(measures.reach) && measures.clipped == 0);
}

/* A quantizer that does the work of a Clip to 0 and 6 loses nothing of what that cuts off. */
static void what_an_activation_cuts_off_is_not_lost(void **state)
{
    const float scale[] = {0.0625F}, values[] = {-3, 1, 5, 100};
    struct quantizer quantizer = quantizer_of(DATA_UINT8, VECTOR_OF(DATA_FLOAT32, scale), NULL, -1);
    struct tensor tensor = VECTOR_OF(DATA_FLOAT32, values);
    struct tensor_measuring *measuring;
    struct tensor_measures measures;

    assert_int_equal(tensor_measuring_new(&quantizer, &measuring, NULL), 0);
    tensor_measuring_bound(measuring, 0, 6);
    assert_int_equal(tensor_measuring_add(measuring, &tensor, NULL), 0);
    tensor_measuring_finish(measuring, &measures);
    tensor_measuring_free(measuring);
    assert_true(measures.clipped == 0 && measures.signal_to_noise == INFINITY);
    assert_true(measures.least == 0 && measures.largest == 6);
}

static void scales_that_do_not_fit_are_refused(void **state)
{
    const float scales[] = {1, 1}, values[] = {1, 2, 3};
    struct quantizer quantizer = quantizer_of(DATA_INT8, VECTOR_OF(DATA_FLOAT32, scales), NULL, 0);
    struct tensor tensor = VECTOR_OF(DATA_FLOAT32, values), text = VECTOR_OF(DATA_INT64, scales);
    struct tensor_measuring *measuring;

    assert_int_equal(tensor_measuring_new(&quantizer, &measuring, NULL), 0);
    assert_int_equal(tensor_measuring_add(measuring, &tensor, NULL), ERR_INVALID);
    text.shape = SHAPE(2);
    assert_int_equal(tensor_measuring_add(measuring, &text, NULL), ERR_UNSUPPORTED);
    tensor_measuring_free(measuring);
    quantizer.type = DATA_STRING;
    assert_int_equal(tensor_measuring_new(&quantizer, &measuring, NULL), ERR_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounding_and_clipping_make_noise),
        cmocka_unit_test(levels_that_no_value_reaches_are_not_used),
        cmocka_unit_test(stored_integers_are_measured_as_they_are),
        cmocka_unit_test(values_below_half_a_step_become_zero),
        cmocka_unit_test(one_value_can_hold_the_range_open),
        cmocka_unit_test(scales_are_judged_one_by_one),
        cmocka_unit_test(a_single_value_is_dead_only_as_zero),
        cmocka_unit_test(scales_can_lie_out_below_the_others_too),
        cmocka_unit_test(nan_and_infinity_count_apart),
        cmocka_unit_test(of_nothing_nothing_is_known),
        cmocka_unit_test(of_stored_integers_only_levels_are_known),
        cmocka_unit_test(other_types_go_the_same_way),
        cmocka_unit_test(what_an_activation_cuts_off_is_not_lost),
        cmocka_unit_test(scales_that_do_not_fit_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
