/* Statistics of tensors, and the line that shows them. */
#include <math.h>

#include "base/memory.h"
#include "support/tensor_fixture.h"
#include "tensor/statistics/statistics.h"

static struct statistics compute(const struct tensor *tensor)
{
    struct error error = {0};
    struct statistics ret;

    if (statistics_compute(tensor, &ret, &error) < 0)
        fail_msg("%s", error.message);
    return ret;
}

static void assert_line(const struct tensor *tensor, const char *expected)
{
    struct statistics statistics = compute(tensor);
    struct string_builder text;

    string_init(&text);
    statistics_to_text(&statistics, &tensor->shape, &text);
    assert_string_equal(text.data, expected);
    string_release(&text);
}

static void line_has_all_statistics(void **state)
{
    const float numbers[] = {2, -1, 4, 7};
    struct tensor tensor = tensor_of(DATA_FLOAT32, SHAPE(2, 2), numbers);

    assert_line(&tensor, "mean=3, std-dev=2.9155, var=8.5, median=3, min=-1 at (0, 1), max=7 at (1, 1), "
                         "avg-magnitude=3.5, p90=6.1, p95=6.55, p99=6.91");
}

static void bool_has_no_percentiles(void **state)
{
    struct tensor tensor = tensor_of(DATA_BOOL, SHAPE(3), "\1\0\1");

    assert_line(&tensor, "mean=0.66667, std-dev=0.4714, var=0.22222, median=1, min=0 at (1,), max=1 at (0,), "
                         "avg-magnitude=0.66667");
}

static void scalar_stands_nowhere(void **state)
{
    const float three = 3;
    struct tensor tensor = tensor_of(DATA_FLOAT32, SCALAR, &three);

    assert_line(&tensor, "mean=3, std-dev=0, var=0, median=3, min=3 at (), max=3 at (), avg-magnitude=3, p90=3, "
                         "p95=3, p99=3");
}

static void empty_tensor_is_shown_as_polygraphy_does(void **state)
{
    struct tensor tensor = tensor_of(DATA_FLOAT32, SHAPE(0, 4), "");

    assert_line(&tensor, "mean=nan, std-dev=0, var=0, median=0, min=0 at 0, max=0 at 0, avg-magnitude=nan, p90=inf, "
                         "p95=inf, p99=inf");
    assert_true(statistics_median(&tensor) == 0);
    assert_true(statistics_quantile(&tensor, 0.5) == INFINITY);
}

static void nan_makes_everything_nan_and_is_located(void **state)
{
    const float numbers[] = {1.5F, -2.25F, 0, -NAN, INFINITY, NAN};
    struct tensor tensor = tensor_of(DATA_FLOAT32, SHAPE(2, 3), numbers);

    assert_line(&tensor, "mean=nan, std-dev=nan, var=nan, median=nan, min=nan at (1, 0), max=nan at (1, 0), "
                         "avg-magnitude=nan, p90=nan, p95=nan, p99=nan");
    assert_true(isnan(statistics_median(&tensor)) && isnan(statistics_quantile(&tensor, 0)));
}

static void infinities_spoil_only_what_depends_on_them(void **state)
{
    const float numbers[] = {1, 2, 3, INFINITY};
    struct tensor tensor = VECTOR_OF(DATA_FLOAT32, numbers);
    struct statistics statistics = compute(&tensor);

    assert_true(statistics.median == 2.5 && statistics.mean == INFINITY && isnan(statistics.variance));
    assert_true(statistics.maximum == INFINITY && statistics.maximum_at == 3);
    assert_true(statistics_quantile(&tensor, 1) == INFINITY);
    assert_true(statistics_quantile(&tensor, 2.0 / 3) == 3);
}

static void first_of_several_extremes_is_named(void **state)
{
    static int32_t numbers[3000];

    numbers[1500] = numbers[2000] = 9;
    numbers[1400] = numbers[2500] = -9;
    struct tensor tensor = VECTOR_OF(DATA_INT32, numbers);
    struct statistics statistics = compute(&tensor);
    assert_int_equal(statistics.maximum_at, 1500);
    assert_int_equal(statistics.minimum_at, 1400);
}

static void means_of_float64_do_not_overflow(void **state)
{
    const double numbers[] = {1.5e308, 1.5e308, 1.5e308, -1.5e308};
    struct tensor tensor = VECTOR_OF(DATA_FLOAT64, numbers);
    struct statistics statistics = compute(&tensor);

    assert_true(statistics.mean == 0.75e308);
    assert_true(statistics.average_magnitude == 1.5e308);
    assert_true(fabs(statistics.standard_deviation / 1.299038105676658e308 - 1) < 1e-14);
    assert_true(statistics.variance == INFINITY);
    assert_true(isfinite(statistics.p90));
}

static void spread_of_tiny_numbers_does_not_vanish(void **state)
{
    const double numbers[] = {1e-300, 3e-300};
    struct tensor tensor = VECTOR_OF(DATA_FLOAT64, numbers);
    const double smallest[] = {5e-324, 5e-324};
    struct tensor subnormal = VECTOR_OF(DATA_FLOAT64, smallest);

    assert_true(fabs(compute(&tensor).standard_deviation / 1e-300 - 1) < 1e-14);
    assert_true(compute(&subnormal).mean == 5e-324);
}

static void magnitude_of_the_smallest_integer_is_positive(void **state)
{
    const int8_t numbers[] = {-128};
    struct tensor tensor = VECTOR_OF(DATA_INT8, numbers);

    assert_true(compute(&tensor).average_magnitude == 128);
}

/* NumPy subtracts the neighbours of a percentile in the type of the array. */
static void percentiles_of_integers_do_not_wrap(void **state)
{
    const int16_t numbers[] = {-32768, 32767};
    struct tensor tensor = VECTOR_OF(DATA_INT16, numbers);

    assert_true(compute(&tensor).p90 == 26213.5);
}

static void long_sums_stay_exact(void **state)
{
    enum { COUNT = 1000003 };
    struct tensor tensor;

    assert_int_equal(tensor_allocate(DATA_FLOAT64, &SHAPE(COUNT), &tensor, NULL), 0);
    for (size_t i = 0; i < COUNT; i++)
        ((double *)tensor_writable(&tensor))[i] = 1e9 + (i % 2 == 0 ? 0.5 : -0.5);
    struct statistics statistics = compute(&tensor);
    assert_true(fabs(statistics.mean - 1e9) < 1e-5);
    assert_true(fabs(statistics.variance - 0.25) < 1e-9);
    tensor_release(&tensor);
}

static void quantiles_are_interpolated(void **state)
{
    const uint8_t numbers[] = {255, 0, 10, 20, 30};
    struct tensor tensor = VECTOR_OF(DATA_UINT8, numbers);

    assert_true(statistics_quantile(&tensor, 0) == 0);
    assert_true(statistics_quantile(&tensor, 0.125) == 5);
    assert_true(statistics_quantile(&tensor, 0.25) == 10);
    assert_true(statistics_quantile(&tensor, 1) == 255);
    assert_true(statistics_median(&tensor) == 20);
}

static void strings_have_no_statistics(void **state)
{
    struct tensor tensor = tensor_of(DATA_STRING, SHAPE(0), "");
    struct error error = {0};
    struct statistics statistics;

    assert_int_equal(statistics_compute(&tensor, &statistics, &error), ERR_UNSUPPORTED);
    assert_message_contains(&error, "string");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(line_has_all_statistics),
        cmocka_unit_test(bool_has_no_percentiles),
        cmocka_unit_test(scalar_stands_nowhere),
        cmocka_unit_test(empty_tensor_is_shown_as_polygraphy_does),
        cmocka_unit_test(nan_makes_everything_nan_and_is_located),
        cmocka_unit_test(infinities_spoil_only_what_depends_on_them),
        cmocka_unit_test(first_of_several_extremes_is_named),
        cmocka_unit_test(means_of_float64_do_not_overflow),
        cmocka_unit_test(spread_of_tiny_numbers_does_not_vanish),
        cmocka_unit_test(magnitude_of_the_smallest_integer_is_positive),
        cmocka_unit_test(percentiles_of_integers_do_not_wrap),
        cmocka_unit_test(long_sums_stay_exact),
        cmocka_unit_test(quantiles_are_interpolated),
        cmocka_unit_test(strings_have_no_statistics),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
