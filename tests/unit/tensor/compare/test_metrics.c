/* The distance of two outputs in one number. Expected values were computed by hand. */
#include <math.h>

#include "base/memory.h"
#include "support/tensor_fixture.h"
#include "tensor/compare/metrics.h"

static struct metrics compute(struct tensor a, struct tensor b)
{
    struct error error = {0};
    struct metrics metrics;

    if (metrics_compute(&a, &b, &metrics, &error) < 0)
        fail_msg("%s", error.message);
    return metrics;
}

#define COMPUTE(type, a, b) compute(VECTOR_OF(type, a), VECTOR_OF(type, b))

static void assert_close(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-12 * fabs(expected)))
        fail_msg("%.17g instead of %.17g", value, expected);
}

static void all_metrics_follow_their_formulas(void **state)
{
    /* differences 1, 0, -3: squares 1, 0, 9; a.b = 2 + 0 + 28 */
    const float a[] = {2, 0, 4}, b[] = {1, 0, 7};
    struct metrics metrics = COMPUTE(DATA_FLOAT32, a, b);

    assert_close(metrics.l2_norm, sqrt(10));
    assert_close(metrics.cosine_similarity, 30 / sqrt(20.0 * 50.0));
    assert_close(metrics.mean_squared_error, 10 / 3.0);
    assert_close(metrics.normalized_mean_squared_error, 0.2);
    assert_close(metrics.peak_signal_to_noise, 20 * log10(4) - 10 * log10(10 / 3.0));
    assert_close(metrics.signal_to_noise, 10 * log10(2)); /* 20 / 10 */
}

static void equal_outputs_have_no_noise(void **state)
{
    const double a[] = {0.1, -0.7, 3e-5};
    struct metrics metrics = COMPUTE(DATA_FLOAT64, a, a);

    assert_true(metrics.l2_norm == 0 && metrics.mean_squared_error == 0 && metrics.normalized_mean_squared_error == 0);
    assert_true(metrics.cosine_similarity == 1);
    assert_true(metrics.peak_signal_to_noise == INFINITY && metrics.signal_to_noise == INFINITY);
}

static void opposite_and_perpendicular_outputs_have_their_cosines(void **state)
{
    const float a[] = {3, 4}, opposite[] = {-6, -8}, perpendicular[] = {-4, 3};

    assert_true(COMPUTE(DATA_FLOAT32, a, opposite).cosine_similarity == -1);
    assert_true(COMPUTE(DATA_FLOAT32, a, perpendicular).cosine_similarity == 0);
}

static void two_zero_vectors_are_alike(void **state)
{
    const float zero[] = {0, -0.0f};
    struct metrics metrics = COMPUTE(DATA_FLOAT32, zero, zero);

    assert_true(metrics.cosine_similarity == 1 && metrics.normalized_mean_squared_error == 0);
    assert_true(metrics.signal_to_noise == INFINITY);
}

static void a_zero_vector_is_like_no_other(void **state)
{
    const float zero[] = {0, 0}, other[] = {1, 1};
    struct metrics metrics = COMPUTE(DATA_FLOAT32, zero, other);

    assert_true(metrics.cosine_similarity == 0);
    assert_true(metrics.signal_to_noise == -INFINITY);
    assert_true(metrics.normalized_mean_squared_error == 1);
    assert_true(metrics.peak_signal_to_noise == 0); /* the peak, 0, counts as 1 */
    metrics = COMPUTE(DATA_FLOAT32, other, zero);
    assert_true(metrics.cosine_similarity == 0 && metrics.signal_to_noise == 0);
    assert_true(metrics.normalized_mean_squared_error == INFINITY);
}

static void empty_outputs_are_equal(void **state)
{
    const float none[1] = {0};
    struct tensor empty = tensor_of(DATA_FLOAT32, SHAPE(0, 3), none);
    struct metrics metrics = compute(empty, empty);

    assert_true(metrics.l2_norm == 0 && metrics.cosine_similarity == 1 && metrics.mean_squared_error == 0);
    assert_true(metrics.normalized_mean_squared_error == 0);
    assert_true(metrics.peak_signal_to_noise == INFINITY && metrics.signal_to_noise == INFINITY);
}

static void nan_and_equal_infinities_have_no_distance(void **state)
{
    const float values[][2] = {{1, NAN}, {1, INFINITY}, {0, NAN}};

    for (size_t i = 0; i < 3; i++) {
        struct metrics metrics = COMPUTE(DATA_FLOAT32, values[i], values[i]);

        assert_true(isnan(metrics.l2_norm) && isnan(metrics.cosine_similarity) && isnan(metrics.mean_squared_error));
        assert_true(isnan(metrics.normalized_mean_squared_error));
        assert_true(isnan(metrics.peak_signal_to_noise) && isnan(metrics.signal_to_noise));
    }
}

static void nan_against_zeros_is_no_angle(void **state)
{
    const float a[] = {NAN, 1}, zero[] = {0, 0};

    assert_true(isnan(COMPUTE(DATA_FLOAT32, a, zero).cosine_similarity));
    assert_true(isnan(COMPUTE(DATA_FLOAT32, zero, a).cosine_similarity));
}

static void squares_neither_overflow_nor_vanish(void **state)
{
    const double a[] = {3e200, 4e200}, b[] = {0, 0}, c[] = {3e-200, 4e-200}, d[] = {3e-200, 0};
    struct metrics metrics = COMPUTE(DATA_FLOAT64, a, b);

    assert_close(metrics.l2_norm, 5e200);
    assert_true(metrics.mean_squared_error == INFINITY && metrics.signal_to_noise == 0);
    metrics = compute(VECTOR_OF(DATA_FLOAT64, a), VECTOR_OF(DATA_FLOAT64, c));
    assert_close(metrics.cosine_similarity, 1);
    metrics = COMPUTE(DATA_FLOAT64, c, d);
    assert_close(metrics.l2_norm, 4e-200);
    assert_close(metrics.normalized_mean_squared_error, 16 / 9.0);
    assert_close(metrics.signal_to_noise, 10 * log10(25 / 16.0));
}

static void neighbouring_large_integers_differ(void **state)
{
    const int64_t a[] = {INT64_MAX, 5}, b[] = {INT64_MAX - 1, 5};

    assert_true(COMPUTE(DATA_INT64, a, b).l2_norm == 1);
}

static void types_may_differ(void **state)
{
    const uint8_t a[] = {255, 0};
    const float b[] = {252, 4};

    assert_true(compute(VECTOR_OF(DATA_UINT8, a), VECTOR_OF(DATA_FLOAT32, b)).l2_norm == 5);
}

static void long_outputs_are_summed_run_by_run(void **state)
{
    static float a[5000], b[5000];

    for (size_t i = 0; i < 5000; i++) {
        a[i] = 2;
        b[i] = i % 2 ? 1 : 3;
    }
    assert_close(COMPUTE(DATA_FLOAT32, a, b).mean_squared_error, 1);
    assert_close(COMPUTE(DATA_FLOAT32, a, b).normalized_mean_squared_error, 0.2);
}

static void strings_and_unequal_sizes_are_refused(void **state)
{
    const float a[] = {1, 2}, b[] = {1};
    const struct text strings[] = {{"a", 1}, {"b", 1}};
    struct tensor first = VECTOR_OF(DATA_FLOAT32, a), second = VECTOR_OF(DATA_FLOAT32, b);
    struct tensor text = VECTOR_OF(DATA_STRING, strings);
    struct metrics metrics;
    struct error error;

    assert_int_equal(metrics_compute(&first, &second, &metrics, &error), ERR_INVALID);
    assert_message_contains(&error, "2 and 1 elements");
    assert_int_equal(metrics_compute(&first, &text, &metrics, &error), ERR_UNSUPPORTED);
    assert_message_contains(&error, "string");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_metrics_follow_their_formulas),
        cmocka_unit_test(equal_outputs_have_no_noise),
        cmocka_unit_test(opposite_and_perpendicular_outputs_have_their_cosines),
        cmocka_unit_test(two_zero_vectors_are_alike),
        cmocka_unit_test(a_zero_vector_is_like_no_other),
        cmocka_unit_test(empty_outputs_are_equal),
        cmocka_unit_test(nan_and_equal_infinities_have_no_distance),
        cmocka_unit_test(nan_against_zeros_is_no_angle),
        cmocka_unit_test(squares_neither_overflow_nor_vanish),
        cmocka_unit_test(neighbouring_large_integers_differ),
        cmocka_unit_test(types_may_differ),
        cmocka_unit_test(long_outputs_are_summed_run_by_run),
        cmocka_unit_test(strings_and_unequal_sizes_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
