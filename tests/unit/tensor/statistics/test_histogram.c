/* Histograms. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "support/tensor_fixture.h"
#include "tensor/statistics/histogram.h"

static void assert_counts(const struct histogram *histogram, const size_t *counts, size_t outside)
{
    for (int i = 0; i < HISTOGRAM_BINS; i++)
        assert_int_equal(histogram->counts[i], counts[i]);
    assert_int_equal(histogram->outside, outside);
}

static void last_bin_holds_its_upper_edge(void **state)
{
    const double numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    struct tensor tensor = VECTOR_OF(DATA_FLOAT64, numbers);
    struct histogram histogram;

    histogram_compute(&tensor, 0, 10, &histogram);
    assert_counts(&histogram, (const size_t[]){1, 1, 1, 1, 1, 1, 1, 1, 1, 2}, 0);
    assert_true(histogram.edges[0] == 0 && histogram.edges[3] == 3 && histogram.edges[10] == 10);
}

static void elements_at_inexact_edges_are_on_the_right_side(void **state)
{
    struct histogram histogram;
    double numbers[21];

    for (int i = 0; i <= 10; i++)
        numbers[i] = i < 10 ? i * ((0.7 - 0.1) / 10) + 0.1 : 0.7; /* exactly what the edges are */
    for (int i = 1; i <= 10; i++)
        numbers[10 + i] = nextafter(numbers[i], 0);
    struct tensor tensor = VECTOR_OF(DATA_FLOAT64, numbers);
    histogram_compute(&tensor, 0.1, 0.7, &histogram);
    assert_counts(&histogram, (const size_t[]){2, 2, 2, 2, 2, 2, 2, 2, 2, 3}, 0);
}

static void edges_of_float32_are_float32_values(void **state)
{
    const float numbers[] = {0, 0.1F, 1};
    struct tensor tensor = VECTOR_OF(DATA_FLOAT32, numbers);
    struct histogram histogram;

    histogram_compute(&tensor, 0, 1, &histogram);
    assert_true(histogram.edges[1] == (double)0.1F);
    assert_counts(&histogram, (const size_t[]){1, 1, 0, 0, 0, 0, 0, 0, 0, 1}, 0);
}

static void single_value_lies_in_the_middle(void **state)
{
    const float numbers[] = {2.6361458F};
    struct tensor tensor = VECTOR_OF(DATA_FLOAT32, numbers);
    double minimum = INFINITY, maximum = -INFINITY;
    struct histogram histogram;
    struct string_builder text;

    histogram_extend_range(&tensor, &minimum, &maximum);
    histogram_compute(&tensor, minimum, maximum, &histogram);
    string_init(&text);
    histogram_to_text(&histogram, &text);
    assert_string_equal(text.data, "Bin Range    |  Num Elems | Visualization\n"
                                   "(2.14, 2.24) |          0 | \n"
                                   "(2.24, 2.34) |          0 | \n"
                                   "(2.34, 2.44) |          0 | \n"
                                   "(2.44, 2.54) |          0 | \n"
                                   "(2.54, 2.64) |          0 | \n"
                                   "(2.64, 2.74) |          1 | ########################################\n"
                                   "(2.74, 2.84) |          0 | \n"
                                   "(2.84, 2.94) |          0 | \n"
                                   "(2.94, 3.04) |          0 | \n"
                                   "(3.04, 3.14) |          0 | \n");
    string_release(&text);
}

static void bars_are_proportional_and_columns_aligned(void **state)
{
    static float numbers[400];
    struct histogram histogram;
    struct string_builder text;

    for (size_t i = 0; i < 400; i++)
        numbers[i] = i < 300 ? 0 : i < 399 ? -0.7F : 1;
    struct tensor tensor = VECTOR_OF(DATA_FLOAT32, numbers);
    histogram_compute(&tensor, -1, 1, &histogram);
    string_init(&text);
    histogram_to_text(&histogram, &text);
    assert_non_null(strstr(text.data, "Bin Range    |  Num Elems | Visualization\n(-1  , -0.8) |          0 | \n"));
    assert_non_null(strstr(text.data, "(-0.8, -0.6) |         99 | #############\n"));
    assert_non_null(strstr(text.data, "(0   , 0.2 ) |        300 | ########################################\n"));
    assert_non_null(strstr(text.data, "(0.8 , 1   ) |          1 | \n"));
    string_release(&text);
}

static void nan_and_infinities_are_outside(void **state)
{
    const float numbers[] = {NAN, 1, INFINITY, 3, -INFINITY};
    struct tensor tensor = VECTOR_OF(DATA_FLOAT32, numbers);
    double minimum = INFINITY, maximum = -INFINITY;
    struct histogram histogram;

    histogram_extend_range(&tensor, &minimum, &maximum);
    assert_true(minimum == 1 && maximum == 3);
    histogram_compute(&tensor, minimum, maximum, &histogram);
    assert_counts(&histogram, (const size_t[]){1, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 3);
}

static void range_without_finite_elements_counts_nothing(void **state)
{
    const float numbers[] = {NAN, INFINITY};
    struct tensor tensor = VECTOR_OF(DATA_FLOAT32, numbers);
    double minimum = INFINITY, maximum = -INFINITY;
    struct histogram histogram;
    struct string_builder text;

    histogram_extend_range(&tensor, &minimum, &maximum);
    histogram_compute(&tensor, minimum, maximum, &histogram);
    assert_counts(&histogram, (const size_t[HISTOGRAM_BINS]){0}, 2);
    string_init(&text);
    histogram_to_text(&histogram, &text);
    assert_string_equal(text.data, "");
    string_release(&text);
}

static void widest_range_does_not_overflow(void **state)
{
    const double numbers[] = {-1.7e308, 0, 1.7e308};
    struct tensor tensor = VECTOR_OF(DATA_FLOAT64, numbers);
    struct histogram histogram;

    histogram_compute(&tensor, -1.7e308, 1.7e308, &histogram);
    assert_counts(&histogram, (const size_t[]){1, 0, 0, 0, 0, 1, 0, 0, 0, 1}, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(last_bin_holds_its_upper_edge),
        cmocka_unit_test(elements_at_inexact_edges_are_on_the_right_side),
        cmocka_unit_test(edges_of_float32_are_float32_values),
        cmocka_unit_test(single_value_lies_in_the_middle),
        cmocka_unit_test(bars_are_proportional_and_columns_aligned),
        cmocka_unit_test(nan_and_infinities_are_outside),
        cmocka_unit_test(range_without_finite_elements_counts_nothing),
        cmocka_unit_test(widest_range_does_not_overflow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
