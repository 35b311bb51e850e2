/* test_option_value.c: the small languages of option values. */
#include "support/unit_test.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/text/names.h"
#include "cli/parse/value.h"
#include "support/command_line.h"

struct values {
    struct named_numbers tolerances, quantiles;
    struct named_integers counts;
    struct named_words statistics;
    struct input_shapes shapes;
    struct data_loader_ranges ranges;
    int64_t size;
    struct output_names outputs;
    struct top_ks top_ks;
    struct external_settings external;
};

#define ROW(option_name, how_many, converter, field)                                                                   \
    {                                                                                                                  \
        .names = {option_name}, .kind = how_many, .convert = converter, OPTION_FIELD(struct values, field),            \
    }

static const struct option rows[] = {
    ROW("--tolerance", OPTION_MANY, convert_named_numbers, tolerances),
    ROW("--quantile", OPTION_MANY, convert_named_quantiles, quantiles),
    ROW("--count", OPTION_MANY, convert_named_counts, counts),
    ROW("--statistic", OPTION_MANY, convert_named_statistics, statistics),
    ROW("--shapes", OPTION_MANY, convert_shapes, shapes),
    ROW("--range", OPTION_MANY, convert_ranges, ranges),
    ROW("--size", OPTION_ONE, convert_size, size),
    ROW("--outputs", OPTION_MANY, convert_outputs, outputs),
    ROW("--top", OPTION_MANY, convert_top_k, top_ks),
    {.names = {"--external"},
     .kind = OPTION_MAYBE,
     .append = true,
     .convert = convert_external_data,
     OPTION_FIELD(struct values, external)},
};

static const struct option_group group = {
    .title = "Test",
    .options = rows,
    .count = ARRAY_LEN(rows),
};
static const struct command_group groups[] = {{&group, 0}};
static const struct command root = {
    .name = "program", .groups = groups, .group_count = 1, .settings_size = sizeof(struct values)};

static struct command_line line;

static int release_line(void **state)
{
    command_line_release(&line);
    return 0;
}

#define PARSE(...)                                                                                                     \
    do {                                                                                                               \
        command_line_release(&line);                                                                                   \
        COMMAND_LINE(&line, &root, __VA_ARGS__);                                                                       \
    } while (0)

static const struct values *values(void)
{
    if (line.rc < 0)
        fail_msg("%s", line.err.message);
    assert_int_equal(line.outcome, PARSE_DONE);
    return line.parse.settings;
}

static void assert_invalid(const char *message)
{
    assert_int_equal(line.outcome, PARSE_DONE);
    assert_int_equal(line.rc, ERR_INVALID);
    assert_string_equal(line.err.message, message);
}

/* ---- Casting ---- */

static struct cast_value cast(const char *word)
{
    struct cast_value value;

    cast_word(&line.parse, text_of(word), &value);
    return value;
}

static void words_are_cast_to_the_first_type_that_fits(void **state)
{
    assert_int_equal(cast(" -1_000 ").kind, CAST_INTEGER);
    assert_int_equal(cast(" -1_000 ").integer, -1000);
    assert_int_equal(cast("1e-3").kind, CAST_FLOAT);
    assert_true(cast("-inf").number == -INFINITY);
    assert_true(isnan(cast("nan").number));
    assert_int_equal(cast("'it'").kind, CAST_TEXT);
    assert_true(text_equal_string(cast("\"it\"").text, "it"));
    assert_int_equal(cast("").kind, CAST_TEXT);
}

static void brackets_make_a_list(void **state)
{
    struct cast_value list = cast("[1, 2.5,x]");

    assert_int_equal(list.kind, CAST_LIST);
    assert_int_equal(list.count, 3);
    assert_int_equal(list.items[0].integer, 1);
    assert_true(list.items[1].number == 2.5);
    assert_true(text_equal_string(list.items[2].text, "x"));
}

static void empty_brackets_hold_one_empty_text(void **state)
{
    struct cast_value list = cast("[]");

    assert_int_equal(list.count, 1);
    assert_int_equal(list.items[0].kind, CAST_TEXT);
    assert_int_equal(list.items[0].text.size, 0);
}

static void lists_in_lists_are_not_taken_apart(void **state)
{
    struct string_builder deep;
    struct cast_value list;

    string_init(&deep);
    for (int i = 0; i < 100000; i++)
        string_add(&deep, "[ ");
    list = cast(deep.data);
    assert_int_equal(list.kind, CAST_LIST);
    assert_int_equal(list.items[0].kind, CAST_LIST);
    assert_int_equal(list.items[0].count, 0);
    string_release(&deep);
}

/* ---- Pairs ---- */

static void value_of_a_name_comes_before_the_unnamed_one_and_the_fallback(void **state)
{
    PARSE("--tolerance", "out0:1e-3", "0.1");
    assert_true(named_number_find(&values()->tolerances, "out0", 5) == 1e-3);
    assert_true(named_number_find(&values()->tolerances, "out1", 5) == 0.1);
    PARSE("--tolerance", "out0:1e-3");
    assert_true(named_number_find(&values()->tolerances, "out1", 5) == 5);
}

static void names_may_hold_colons(void **state)
{
    PARSE("--count", "a:b:3");
    assert_int_equal(named_integer_find(&values()->counts, "a:b", 0), 3);
}

static void later_value_of_the_same_name_replaces_the_earlier_one(void **state)
{
    PARSE("--tolerance", "1", "x:2", "3", "x:4");
    assert_int_equal(values()->tolerances.count, 2);
    assert_true(named_number_find(&values()->tolerances, "x", 0) == 4);
    assert_true(named_number_find(&values()->tolerances, "y", 0) == 3);
}

static void pairs_that_make_no_sense_are_refused(void **state)
{
    PARSE("--tolerance", "out0:small");
    assert_invalid("--tolerance: 'out0:small' is not a number; write 1e-3, or NAME:1e-3 for one output");
    PARSE("--tolerance", "out0:");
    assert_invalid("--tolerance: 'out0:' is not a number; write 1e-3, or NAME:1e-3 for one output");
    PARSE("--tolerance", "nan");
    assert_invalid("--tolerance: 'nan' is not a number; write 1e-3, or NAME:1e-3 for one output");
    PARSE("--quantile", "x:1.5");
    assert_invalid("--quantile: 'x:1.5' is not in 0 .. 1");
    PARSE("--count", "1.5");
    assert_invalid("--count: '1.5' is not a number of 0 or more; write 3, or NAME:3 for one tensor");
    PARSE("--count", "x:-1");
    assert_invalid("--count: 'x:-1' is not a number of 0 or more; write 3, or NAME:3 for one tensor");
    PARSE("--statistic", "x:maximum");
    assert_invalid(
        "--statistic: Invalid choice for check_error_stat: 'maximum'; there are max, mean, median, elemwise, quantile");
}

static void statistics_are_known_by_name(void **state)
{
    PARSE("--statistic", "mean", "x:quantile");
    assert_string_equal(named_word_find(&values()->statistics, "x", "elemwise"), "quantile");
    assert_string_equal(named_word_find(&values()->statistics, "y", "elemwise"), "mean");
}

/* ---- Shapes ---- */

static void shapes_have_a_name_and_dimensions(void **state)
{
    PARSE("--shapes", "image:[1,3,-1,N]", "s:[]", "a:b:[ 7 , ]");
    const struct input_shapes *shapes = &values()->shapes;

    assert_int_equal(shapes->count, 3);
    assert_string_equal(shapes->items[0].name, "image");
    assert_int_equal(shapes->items[0].shape.rank, 4);
    assert_int_equal(shapes->items[0].shape.dims[1], 3);
    assert_int_equal(shapes->items[0].shape.dims[2], -1);
    assert_int_equal(shapes->items[0].shape.dims[3], -1);
    assert_null(shapes->items[0].symbols[2]);
    assert_string_equal(shapes->items[0].symbols[3], "N");
    assert_int_equal(shapes->items[1].shape.rank, 0);
    assert_string_equal(shapes->items[2].name, "a:b");
    assert_int_equal(shapes->items[2].shape.rank, 1);
}

static void shapes_that_a_shell_has_split_at_blanks_are_one_again(void **state)
{
    PARSE("--shapes", "x: [1, 3]", "y:", "[2,", "4", "]", "z", ":[5]", "s:[]");
    const struct input_shapes *shapes = &values()->shapes;

    assert_int_equal(shapes->count, 4);
    assert_string_equal(shapes->items[0].name, "x");
    assert_int_equal(shapes->items[0].shape.dims[1], 3);
    assert_string_equal(shapes->items[1].name, "y");
    assert_int_equal(shapes->items[1].shape.rank, 2);
    assert_int_equal(shapes->items[1].shape.dims[1], 4);
    assert_string_equal(shapes->items[2].name, "z");
    assert_int_equal(shapes->items[2].shape.dims[0], 5);
    assert_string_equal(shapes->items[3].name, "s");
}

static void malformed_shapes_are_refused(void **state)
{
    PARSE("--shapes", "x:1,3");
    assert_invalid("--shapes: 'x:1,3' is not a shape in brackets; write x:[1,3]");
    PARSE("--shapes", "x:5");
    assert_invalid("--shapes: 'x:5' is not a shape in brackets; write x:[1,3]");
    PARSE("--shapes", "x:auto");
    assert_invalid("--shapes: 'x:auto' has no shape; write the dimensions, or leave out the input");
    PARSE("--shapes", "[1,2]");
    assert_invalid("--shapes: '[1,2]' does not name an input; write NAME:[1,3,224,224]");
    PARSE("--shapes", "x:[1,2.5]");
    assert_invalid("--shapes: 'x:[1,2.5]': dimension 2 is not valid; write a number of 0 or more, or -1 or a name for "
                   "a dynamic dimension");
    PARSE("--shapes", "x:[-2]");
    assert_invalid("--shapes: 'x:[-2]': dimension 1 is not valid; write a number of 0 or more, or -1 or a name for a "
                   "dynamic dimension");
    PARSE("--shapes", "x:[1,[2],3]");
    assert_invalid("--shapes: 'x:[1,[2],3]': dimension 2 is not valid; write a number of 0 or more, or -1 or a name "
                   "for a dynamic dimension");
    PARSE("--shapes", "x:[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]");
    assert_int_equal(line.rc, ERR_INVALID);
}

/* What holds for `name` in a list of values with names. */
#define NAMED(list, name) name_rule_find((list).items, (list).count, sizeof(*(list).items), name)

/* ---- Ranges ---- */

static void ranges_have_two_bounds(void **state)
{
    PARSE("--range", "[-1,1e3]", "x:[-inf,inf]");
    const struct data_loader_range *named = NAMED(values()->ranges, "x");
    const struct data_loader_range *unnamed = NAMED(values()->ranges, "y");

    assert_true(named->minimum == -INFINITY && named->maximum == INFINITY);
    assert_true(unnamed->minimum == -1 && unnamed->maximum == 1000);
    PARSE("--range", "x:[0,1]");
    assert_null(NAMED(values()->ranges, "y"));
}

static void malformed_ranges_are_refused(void **state)
{
    static const char *const wrong_count[] = {"[1]", "[1,2,3]", "5", "0,1", "x:[]"};

    for (size_t i = 0; i < ARRAY_LEN(wrong_count); i++) {
        PARSE("--range", wrong_count[i]);
        assert_int_equal(line.rc, ERR_INVALID);
        assert_non_null(strstr(line.err.message, "expected to receive exactly 2 values"));
    }
    PARSE("--range", "x:[a,1]");
    assert_invalid("--range: 'x:[a,1]': 'a' could not be parsed as a number");
    PARSE("--range", "[0,nan]");
    assert_invalid("--range: '[0,nan]': 'nan' could not be parsed as a number");
    PARSE("--range", "[1,0]");
    assert_invalid("--range: '[1,0]': the minimum is greater than the maximum");
}

/* ---- The rest ---- */

static void sizes_are_counted_in_powers_of_1024(void **state)
{
    static const struct {
        const char *word;
        int64_t bytes;
    } sizes[] = {{"0", 0}, {"16M", 16 << 20}, {"1.5G", 3 << 29}, {"16e6", 16000000}, {"2k", 2048}, {"1.9", 1}};

    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        PARSE("--size", sizes[i].word);
        assert_int_equal(values()->size, sizes[i].bytes);
    }
}

static void malformed_sizes_are_refused(void **state)
{
    static const char *const sizes[] = {"", "M", "16MB", "16T", "-1", "nan", "inf", "1e30", "9223372036854775807"};

    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        PARSE("--size", sizes[i]);
        assert_int_equal(line.rc, ERR_INVALID);
        assert_non_null(strstr(line.err.message, "Could not convert '"));
        assert_non_null(strstr(line.err.message, "to a number of bytes"));
    }
}

static void only_exactly_mark_all_means_every_tensor(void **state)
{
    PARSE("--outputs", "mark", "all");
    assert_true(values()->outputs.mark_all);
    assert_int_equal(values()->outputs.names.count, 0);
    PARSE("--outputs", "mark", "all", "x");
    assert_false(values()->outputs.mark_all);
    assert_int_equal(values()->outputs.names.count, 3);
    PARSE("--outputs", "all");
    assert_string_equal(values()->outputs.names.items[0], "all");
}

static void top_k_may_name_an_output_and_an_axis(void **state)
{
    PARSE("--top", "top-5", "x:top-1,axis=-2");
    const struct top_k_rule *named = NAMED(values()->top_ks, "x"), *unnamed = NAMED(values()->top_ks, "y");

    assert_int_equal(named->k, 1);
    assert_int_equal(named->axis, -2);
    assert_int_equal(unnamed->k, 5);
    assert_int_equal(unnamed->axis, -1);
    PARSE("--top", "x:top-1");
    assert_null(NAMED(values()->top_ks, "y"));
}

static void malformed_top_k_is_refused(void **state)
{
    static const char *const words[] = {"top-x", "top-", "top-0", "top-5,", "top-5,axis", "top-5,axis=", "top-5,1"};

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        PARSE("--top", words[i]);
        assert_int_equal(line.rc, ERR_INVALID);
        assert_non_null(strstr(line.err.message, "K must be a number of 1 or more"));
    }
    PARSE("--top", "x:softmax");
    assert_invalid("--top: Invalid post-processing function: 'softmax'; write top-5, or NAME:top-5,axis=1");
}

static void first_wish_for_external_data_counts(void **state)
{
    PARSE("--external", "a.bin", "--external", "b.bin");
    assert_string_equal(values()->external.file_name, "a.bin");
    PARSE("--external", "--external", "b.bin");
    assert_true(values()->external.save);
    assert_null(values()->external.file_name);
    PARSE("--size", "1");
    assert_false(values()->external.save);
}

#define TEST_LINE(function) cmocka_unit_test_setup_teardown(function, new_line, release_line)

/* Casting needs the memory of some parse. */
static int new_line(void **state)
{
    COMMAND_LINE(&line, &root, "--size", "1");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_LINE(words_are_cast_to_the_first_type_that_fits),
        TEST_LINE(brackets_make_a_list),
        TEST_LINE(empty_brackets_hold_one_empty_text),
        TEST_LINE(lists_in_lists_are_not_taken_apart),
        TEST_LINE(value_of_a_name_comes_before_the_unnamed_one_and_the_fallback),
        TEST_LINE(names_may_hold_colons),
        TEST_LINE(later_value_of_the_same_name_replaces_the_earlier_one),
        TEST_LINE(pairs_that_make_no_sense_are_refused),
        TEST_LINE(statistics_are_known_by_name),
        TEST_LINE(shapes_have_a_name_and_dimensions),
        TEST_LINE(shapes_that_a_shell_has_split_at_blanks_are_one_again),
        TEST_LINE(malformed_shapes_are_refused),
        TEST_LINE(ranges_have_two_bounds),
        TEST_LINE(malformed_ranges_are_refused),
        TEST_LINE(sizes_are_counted_in_powers_of_1024),
        TEST_LINE(malformed_sizes_are_refused),
        TEST_LINE(only_exactly_mark_all_means_every_tensor),
        TEST_LINE(top_k_may_name_an_output_and_an_axis),
        TEST_LINE(malformed_top_k_is_refused),
        TEST_LINE(first_wish_for_external_data_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
