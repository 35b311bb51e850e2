/* Values as text; what is expected is what NumPy 1.24 prints. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "format/polygraphy/run_results.h"
#include "support/tensor_fixture.h"
#include "tensor/statistics/statistics.h"
#include "tensor/values/text.h"

static void assert_text_with(struct tensor tensor, struct tensor_text_options options, const char *expected)
{
    struct string_builder text;

    string_init(&text);
    tensor_to_text(&tensor, &options, &text);
    assert_string_equal(text.data, expected);
    string_release(&text);
}

static void assert_text(struct tensor tensor, const char *expected)
{
    assert_text_with(tensor, TENSOR_TEXT_DEFAULTS, expected);
}

#define ASSERT_FLOATS(type, element, expected, ...)                                                                    \
    do {                                                                                                               \
        const element numbers[] = {__VA_ARGS__};                                                                       \
        assert_text(VECTOR_OF(type, numbers), expected);                                                               \
    } while (0)
#define ASSERT_DOUBLES(expected, ...) ASSERT_FLOATS(DATA_FLOAT64, double, expected, __VA_ARGS__)
#define ASSERT_SINGLES(expected, ...) ASSERT_FLOATS(DATA_FLOAT32, float, expected, __VA_ARGS__)

static void numbers_share_their_width(void **state)
{
    ASSERT_DOUBLES("[1. 2. 3.]", 1, 2, 3);
    ASSERT_DOUBLES("[-1.    0.25 10.  ]", -1, 0.25, 10);
    ASSERT_DOUBLES("[-0.  0.]", -0.0, 0);
    ASSERT_SINGLES("[2.6361458 0.5      ]", 2.6361458F, 0.5F);
}

static void fractions_have_eight_digits_at_most(void **state)
{
    ASSERT_DOUBLES("[0.33333333]", 1.0 / 3);
    ASSERT_DOUBLES("[0.66666667 1.        ]", 2.0 / 3, 1);
    ASSERT_SINGLES("[0.00123457]", 0.0012345678F);
    ASSERT_DOUBLES("[1.]", 0.999999999);
    ASSERT_DOUBLES("[1.23456789e-05]", 1.234567891234e-05);
}

static void digits_tell_a_number_from_its_neighbours(void **state)
{
    ASSERT_SINGLES("[0.1 0.3]", 0.1F, 0.3F);
    ASSERT_SINGLES("[67108870.]", 67108872);
    assert_text(tensor_of(DATA_FLOAT16, SHAPE(2), "\x66\x2e\x55\x35"), "[0.1    0.3333]");
    assert_text(tensor_of(DATA_BFLOAT16, SHAPE(1), "\xc0\x3f"), "[1.5]");
}

static void numbers_of_very_different_size_have_exponents(void **state)
{
    ASSERT_DOUBLES("[1.e+08 1.e+00]", 1e8, 1);
    ASSERT_DOUBLES("[99999999.]", 99999999);
    ASSERT_DOUBLES("[0.0001]", 0.0001);
    ASSERT_DOUBLES("[9.e-05]", 0.00009);
    ASSERT_DOUBLES("[   1. 1000.]", 1, 1000);
    ASSERT_DOUBLES("[1.000e+00 1.001e+03]", 1, 1001);
    ASSERT_DOUBLES("[ 1.e-001 -0.e+000  1.e+300]", 0.1, -0.0, 1e300);
    ASSERT_DOUBLES("[1.e-320 1.e+000]", 1e-320, 1);
    assert_text(tensor_of(DATA_FLOAT16, SHAPE(3), "\x00\x3c\xff\x7b\x01\x00"), "[1.00e+00 6.55e+04 5.96e-08]");
}

static void nan_and_infinities_fit_in(void **state)
{
    ASSERT_SINGLES("[nan  1.]", NAN, 1);
    ASSERT_SINGLES("[nan]", -NAN);
    ASSERT_SINGLES("[inf nan]", INFINITY, NAN);
    ASSERT_SINGLES("[-inf  nan]", -INFINITY, NAN);
    ASSERT_SINGLES("[-1.5  inf]", -1.5F, INFINITY);
    ASSERT_SINGLES("[  1. -inf]", 1, -INFINITY);
    ASSERT_SINGLES("[1.e+10    nan]", 1e10F, NAN);
}

static void integers_and_truth_values_are_aligned(void **state)
{
    const int8_t integers[] = {-128, 0, 127};
    const uint64_t words[] = {0, UINT64_MAX};

    assert_text(VECTOR_OF(DATA_INT8, integers), "[-128    0  127]");
    assert_text(VECTOR_OF(DATA_UINT64, words), "[                   0 18446744073709551615]");
    assert_text(tensor_of(DATA_INT4, SHAPE(3), "\x81\x07"), "[ 1 -8  7]");
    assert_text(tensor_of(DATA_BOOL, SHAPE(2), "\1\0"), "[ True False]");
    assert_text(tensor_of(DATA_BOOL, SHAPE(1), "\1"), "[ True]");
}

static void scalars_have_no_brackets(void **state)
{
    const float three = 3, tiny = 1e-5F;
    const int64_t integer = -7;
    const struct text text = TEXT("a'b");

    assert_text(tensor_of(DATA_FLOAT32, SCALAR, &three), "3.0");
    assert_text(tensor_of(DATA_FLOAT32, SCALAR, &tiny), "1e-05");
    assert_text(tensor_of(DATA_INT64, SCALAR, &integer), "-7");
    assert_text(tensor_of(DATA_BOOL, SCALAR, "\1"), "True");
    assert_text(tensor_of(DATA_STRING, SCALAR, &text), "a'b");
}

static void strings_are_quoted_as_in_python(void **state)
{
    const struct text texts[] = {
        TEXT("a"), TEXT("it's"), TEXT("'\""), TEXT("\n\t\\\x01"), TEXT("\xc3\xa9"), TEXT("\xff"), {"a\0b", 3},
    };

    assert_text(VECTOR_OF(DATA_STRING, texts), "['a' \"it's\" '\\'\"' '\\n\\t\\\\\\x01' '\xc3\xa9' '\\xff' 'a\\x00b']");
}

static void complex_numbers_are_shown_in_parts(void **state)
{
    const float numbers[] = {1, -2.5F, 0, INFINITY};

    assert_text(tensor_of(DATA_COMPLEX64, SHAPE(2), numbers), "[(1.0-2.5j) (0.0+infj)]");
}

static void empty_tensor_is_a_pair_of_brackets(void **state)
{
    assert_text(tensor_of(DATA_FLOAT32, SHAPE(0, 4), ""), "[]");
}

static void long_rows_are_continued(void **state)
{
    double numbers[30];
    struct tensor_text_options unlimited = TENSOR_TEXT_DEFAULTS, narrow = TENSOR_TEXT_DEFAULTS;

    for (int i = 0; i < 30; i++)
        numbers[i] = i;
    struct tensor tensor = VECTOR_OF(DATA_FLOAT64, numbers);
    assert_text(tensor, "[ 0.  1.  2.  3.  4.  5.  6.  7.  8.  9. 10. 11. 12. 13. 14. 15. 16. 17.\n"
                        " 18. 19. 20. 21. 22. 23. 24. 25. 26. 27. 28. 29.]");
    unlimited.line_width = SIZE_MAX;
    assert_text_with(tensor, unlimited,
                     "[ 0.  1.  2.  3.  4.  5.  6.  7.  8.  9. 10. 11. 12. 13. 14. 15. 16. 17. 18. 19. "
                     "20. 21. 22. 23. 24. 25. 26. 27. 28. 29.]");
    narrow.line_width = 0;
    assert_text_with(tensor_of(DATA_FLOAT64, SHAPE(1, 3), numbers), narrow, "[[0.\n  1.\n  2.]]");
}

/* Blanks that pad a number go when the line ends behind it. */
static void lines_do_not_end_in_blanks(void **state)
{
    const double numbers[] = {1, 2.25, 3, 4.25};
    struct tensor_text_options options = TENSOR_TEXT_DEFAULTS;

    options.line_width = 11;
    assert_text_with(tensor_of(DATA_FLOAT64, SHAPE(4), numbers), options, "[1.   2.25\n 3.   4.25]");
    options.line_width = 10;
    assert_text_with(tensor_of(DATA_FLOAT64, SHAPE(4), numbers), options, "[1.\n 2.25\n 3.\n 4.25]");
}

static void dimensions_are_separated_by_empty_lines(void **state)
{
    const int32_t numbers[] = {0, 1, 2, 3, 4, 5, 6, 7};

    assert_text(tensor_of(DATA_INT32, SHAPE(2, 2, 2), numbers), "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]");
}

static void large_tensors_are_abbreviated(void **state)
{
    static int32_t integers[2000];
    static float zeros[40 * 40];
    struct tensor_text_options options = {.threshold = 10, .edge_items = 1, .line_width = 75};

    for (int i = 0; i < 2000; i++)
        integers[i] = i;
    assert_text(VECTOR_OF(DATA_INT32, integers), "[   0    1    2 ... 1997 1998 1999]");
    assert_text(tensor_of(DATA_FLOAT32, SHAPE(40, 40), zeros), "[[0. 0. 0. ... 0. 0. 0.]\n"
                                                               " [0. 0. 0. ... 0. 0. 0.]\n"
                                                               " [0. 0. 0. ... 0. 0. 0.]\n"
                                                               " ...\n"
                                                               " [0. 0. 0. ... 0. 0. 0.]\n"
                                                               " [0. 0. 0. ... 0. 0. 0.]\n"
                                                               " [0. 0. 0. ... 0. 0. 0.]]");
    assert_text_with(tensor_of(DATA_INT32, SHAPE(3, 2, 2), integers), options,
                     "[[[ 0  1]\n"
                     "  [ 2  3]]\n"
                     "\n"
                     " ...\n"
                     "\n"
                     " [[ 8  9]\n"
                     "  [10 11]]]");
    options.edge_items = 0;
    assert_text_with(tensor_of(DATA_INT32, SHAPE(12), integers), options, "[... 11]");
    options.edge_items = SIZE_MAX;
    assert_text_with(tensor_of(DATA_INT32, SHAPE(12), integers), options, "[ 0  1  2  3  4  5  6  7  8  9 10 11]");
}

/* What is not shown has no influence on how the rest looks. */
static void layout_follows_from_what_is_shown(void **state)
{
    double numbers[] = {1, 2, 1e300, NAN, -5, 3};
    struct tensor_text_options options = {.threshold = 5, .edge_items = 1, .line_width = 75};

    assert_text_with(VECTOR_OF(DATA_FLOAT64, numbers), options, "[1. ... 3.]");
}

/* --- the golden log of `inspect data --show-values` ------------------------------------------------------------- */

/* Statistics that Polygraphy gets wrong: means in float32 and a negative magnitude, percentiles of integers that
 * wrap. */
static const char *const corrected[][2] = {
    {"f64", "mean=3.3333e+299, std-dev=4.714e+299, var=inf, median=0.1, min=-0 at (1,), max=1e+300 at (2,), "
            "avg-magnitude=3.3333e+299, p90=8e+299, p95=9e+299, p99=9.8e+299"},
    {"i8", "mean=-0.33333, std-dev=104.1, var=10838, median=0, min=-128 at (0,), max=127 at (2,), avg-magnitude=85, "
           "p90=101.6, p95=114.3, p99=124.46"},
    {"i16", "mean=-0.5, std-dev=32768, var=1.0737e+09, median=-0.5, min=-32768 at (0,), max=32767 at (1,), "
            "avg-magnitude=32768, p90=26214, p95=29490, p99=32112"},
    {"i32", "mean=-0.5, std-dev=2.1475e+09, var=4.6117e+18, median=-0.5, min=-2.1475e+09 at (0,), max=2.1475e+09 at "
            "(1,), avg-magnitude=2.1475e+09, p90=1.718e+09, p95=1.9327e+09, p99=2.1045e+09"},
    {"i64", "mean=0, std-dev=9.2234e+18, var=8.5071e+37, median=0, min=-9.2234e+18 at (0,), max=9.2234e+18 at (1,), "
            "avg-magnitude=9.2234e+18, p90=7.3787e+18, p95=8.301e+18, p99=9.0389e+18"},
};

/* Appends the lines of `text`, each behind eight blanks, as the log nests them. */
static void add_nested(struct string_builder *log, const char *text)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        string_add(log, "        ");
        string_add_bytes(log, text, length);
        string_add_char(log, '\n');
        text += length + (text[length] == '\n');
    }
}

/* The lines on one output; with the statistics of the log where ours are corrected. */
static void assert_output_is_in_log(const struct named_tensor *output, char *log)
{
    struct string_builder lines, values;
    struct statistics statistics;

    string_init(&lines);
    string_init(&values);
    string_add_format(&lines, "    %s [dtype=%s, shape=", output->name, data_type_name(output->tensor.type));
    shape_to_text(&output->tensor.shape, &lines);
    string_add(&lines, "] | Stats: ");
    char *place = strstr(log, lines.data);
    if (!place)
        fail_msg("the log has no '%s'", lines.data);
    size_t heading = lines.size;

    assert_int_equal(statistics_compute(&output->tensor, &statistics, NULL), 0);
    statistics_to_text(&statistics, &output->tensor.shape, &lines);
    for (size_t i = 0; i < ARRAY_LEN(corrected); i++) {
        if (strcmp(output->name, corrected[i][0]) == 0) {
            assert_string_equal(lines.data + heading, corrected[i][1]);
            string_clear(&lines);
            string_add_bytes(&lines, place, strcspn(place, "\n"));
        }
    }
    string_add_char(&lines, '\n');
    tensor_to_text(&output->tensor, &TENSOR_TEXT_DEFAULTS, &values);
    add_nested(&lines, values.data);
    if (strncmp(place, lines.data, lines.size) != 0)
        fail_msg("the log has not '%s'", lines.data);
    memset(place, '#', lines.size); /* the next runner's output is looked for further on */
    string_release(&lines);
    string_release(&values);
}

static void golden_log_of_all_types_is_reproduced(void **state)
{
    const char *root = getenv("POLYGRAPHY_ROOT");
    char path[4096];
    struct run_results results = {0};
    struct error error = {0};
    char *log = NULL;
    size_t size, outputs = 0;

    snprintf(path, sizeof(path), "%s/tests/golden/logs/inspect_data_all_dtypes.log", root ? root : ".");
    assert_int_equal(file_read(path, SIZE_MAX, &log, &size, &error), 0);
    snprintf(path, sizeof(path), "%s/tests/golden/run/all_dtypes_2runners_2iters.json", root ? root : ".");
    if (run_results_load(&results, path, &error) < 0)
        fail_msg("%s", error.message);
    for (size_t i = 0; i < results.count; i++) {
        const struct tensor_list *list = &results.items[i].items[0].outputs;
        for (size_t j = 0; j < list->count; j++, outputs++)
            assert_output_is_in_log(&list->items[j], log);
    }
    assert_int_equal(outputs, 30);
    run_results_release(&results);
    free(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_share_their_width),
        cmocka_unit_test(fractions_have_eight_digits_at_most),
        cmocka_unit_test(digits_tell_a_number_from_its_neighbours),
        cmocka_unit_test(numbers_of_very_different_size_have_exponents),
        cmocka_unit_test(nan_and_infinities_fit_in),
        cmocka_unit_test(integers_and_truth_values_are_aligned),
        cmocka_unit_test(scalars_have_no_brackets),
        cmocka_unit_test(strings_are_quoted_as_in_python),
        cmocka_unit_test(complex_numbers_are_shown_in_parts),
        cmocka_unit_test(empty_tensor_is_a_pair_of_brackets),
        cmocka_unit_test(long_rows_are_continued),
        cmocka_unit_test(lines_do_not_end_in_blanks),
        cmocka_unit_test(dimensions_are_separated_by_empty_lines),
        cmocka_unit_test(large_tensors_are_abbreviated),
        cmocka_unit_test(layout_follows_from_what_is_shown),
        cmocka_unit_test(golden_log_of_all_types_is_reproduced),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
