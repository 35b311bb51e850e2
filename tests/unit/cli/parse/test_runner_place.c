/* test_runner_place.c: options that are repeated with different values belong to the runner in front of them. */
#include "support/unit_test.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/parse/runner_place.h"
#include "support/command_line.h"

struct values {
    const char *model;
    struct words runners;
    int64_t level;
    struct words added, joined;
};

static const struct option rows[] = {
    {.names = {"model"}, .kind = OPTION_ONE, OPTION_FIELD(struct values, model)},
    {.names = {"--fast"}, .kind = OPTION_ORDERED, OPTION_FIELD(struct values, runners)},
    {.names = {"--slow"}, .kind = OPTION_ORDERED, OPTION_FIELD(struct values, runners)},
    {.names = {"--level"},
     .kind = OPTION_ONE,
     .type = OPTION_INTEGER,
     .fallback = "9",
     OPTION_FIELD(struct values, level)},
    {.names = {"--added"}, .kind = OPTION_MANY, .append = true, OPTION_FIELD(struct values, added)},
    {.names = {"--joined"},
     .kind = OPTION_MANY,
     .append = true,
     .with = "--level",
     OPTION_FIELD(struct values, joined)},
};

static const struct option_group group = {.title = "Test", .options = rows, .count = ARRAY_LEN(rows)};
static const struct command_group groups[] = {{&group, 0}};
static const struct command tool = {
    .name = "tool", .groups = groups, .group_count = 1, .settings_size = sizeof(struct values)};
static const struct command *const tools[] = {&tool};
static const struct command root = {.name = "program", .subcommands = tools, .subcommand_count = 1};

static struct command_line line;

#define PARSE(...) COMMAND_LINE(&line, &root, "tool", "m", __VA_ARGS__)

static struct values values_of_runner(const char *option, size_t index)
{
    const struct runner_place place = {option, index};
    struct values ret = {0};
    struct error err;

    assert_int_equal(parse_fill_for_runner(&line.parse, &group, &place, &ret, &err), 0);
    return ret;
}

/* What the options that belong to single runners are called. */
static void expect_by_runner(const char *runner, const char *names)
{
    SCOPED_STRING(given);

    string_add(&given, "");
    parse_list_given_by_runner(&line.parse, &group, runner, &given);
    assert_string_equal(given.data, names);
}

static void test_one_value_is_for_all(void **state)
{
    (void)state;
    PARSE("--fast", "--level", "1", "--fast");
    expect_by_runner("--fast", "");
    assert_int_equal(values_of_runner("--fast", 0).level, 1);
    assert_int_equal(values_of_runner("--fast", 1).level, 1);
    command_line_release(&line);

    PARSE("--fast", "--level", "2", "--fast", "--level", "2");
    expect_by_runner("--fast", "");
    command_line_release(&line);
}

static void test_an_option_goes_with_the_one_that_it_needs(void **state)
{
    (void)state;
    PARSE("--fast", "--level", "1", "--fast", "--level", "2", "--joined", "a");
    expect_by_runner("--fast", "--level, --joined");
    assert_int_equal(values_of_runner("--fast", 0).joined.count, 0);
    assert_int_equal(values_of_runner("--fast", 1).joined.count, 1);
    command_line_release(&line);

    PARSE("--joined", "a", "--fast", "--level", "1", "--fast", "--level", "2");
    assert_int_equal(values_of_runner("--fast", 0).joined.count, 1);
    assert_int_equal(values_of_runner("--fast", 1).joined.count, 1);
    command_line_release(&line);

    PARSE("--fast", "--level", "1", "--fast", "--joined", "a");
    expect_by_runner("--fast", "");
    assert_int_equal(values_of_runner("--fast", 0).joined.count, 1);
    command_line_release(&line);
}

static void test_the_last_of_one_runner_wins(void **state)
{
    (void)state;
    PARSE("--fast", "--fast", "--level", "1", "--level", "2");
    expect_by_runner("--fast", "");
    assert_int_equal(values_of_runner("--fast", 0).level, 2);
    command_line_release(&line);

    /* behind a runner that it does not fit */
    PARSE("--fast", "--level", "1", "--slow", "--level", "2");
    expect_by_runner("--fast", "");
    assert_int_equal(values_of_runner("--fast", 0).level, 2);
    command_line_release(&line);
}

static void test_different_values_belong_to_the_runner_in_front(void **state)
{
    (void)state;
    PARSE("--fast", "--level", "1", "--fast", "--level=2", "--fast");
    expect_by_runner("--fast", "--level");
    assert_int_equal(values_of_runner("--fast", 0).level, 1);
    assert_int_equal(values_of_runner("--fast", 1).level, 2);
    assert_int_equal(values_of_runner("--fast", 2).level, 9);                 /* the default */
    assert_int_equal(((const struct values *)line.parse.settings)->level, 2); /* as Polygraphy has it */
    command_line_release(&line);

    PARSE("--level", "7", "--fast", "--fast", "--level", "2");
    assert_int_equal(values_of_runner("--fast", 0).level, 7);
    assert_int_equal(values_of_runner("--fast", 1).level, 2);
    command_line_release(&line);
}

static void test_values_that_add_up(void **state)
{
    struct values first, second;

    (void)state;
    PARSE("--added", "a", "--fast", "--added", "b", "c", "--added", "d", "--fast", "--added", "e");
    first = values_of_runner("--fast", 0);
    second = values_of_runner("--fast", 1);
    assert_int_equal(first.added.count, 4);
    assert_string_equal(first.added.items[3], "d");
    assert_int_equal(second.added.count, 2);
    assert_string_equal(second.added.items[0], "a");
    assert_string_equal(second.added.items[1], "e");
    assert_int_equal(((const struct values *)line.parse.settings)->added.count, 5);
    command_line_release(&line);
}

static void test_words_to_type_again(void **state)
{
    const struct runner_place place = {"--fast", 1};
    struct word_list words = {0};

    (void)state;
    PARSE("--fast", "--level", "1", "--fast", "--level", "2");
    parse_begin_runner(&line.parse, &group, &place);
    parse_add_given_of_group(&line.parse, &group, NULL, &words);
    parse_end_runner(&line.parse, &group);
    assert_int_equal(words.count, 2);
    assert_string_equal(words.items[0], "--level");
    assert_string_equal(words.items[1], "2");
    free(words.items);
    command_line_release(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_value_is_for_all),
        cmocka_unit_test(test_an_option_goes_with_the_one_that_it_needs),
        cmocka_unit_test(test_the_last_of_one_runner_wins),
        cmocka_unit_test(test_different_values_belong_to_the_runner_in_front),
        cmocka_unit_test(test_values_that_add_up),
        cmocka_unit_test(test_words_to_type_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
