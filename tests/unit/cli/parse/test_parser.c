/* test_option_parser.c: argparse's rules, on tables of the test's own. */
#include "support/unit_test.h"

#include <string.h>

#include "base/memory.h"
#include "cli/parse/lookup.h"
#include "cli/parse/parser.h"
#include "support/command_line.h"

enum mode { FAST, SLOW };

struct values {
    const char *model, *output;
    bool flag, other, third, usual;
    int verbose;
    int64_t seed;
    double low;
    enum mode mode;
    const char *maybe;
    struct words many, added, any, rest, order, letters;
    struct words codes;
};

static const char *const modes[] = {"fast", "slow", NULL};

static bool has_blank(const char *word)
{
    return strchr(word, ' ') != NULL;
}

static const struct option rows[] = {
    {.names = {"model"}, .kind = OPTION_ONE, OPTION_FIELD(struct values, model)},
    {.names = {"-o", "--output"}, .kind = OPTION_ONE, OPTION_FIELD(struct values, output)},
    {.names = {"-f", "--flag"}, .kind = OPTION_FLAG, .exclusive = 1, OPTION_FIELD(struct values, flag)},
    {.names = {"--other"}, .kind = OPTION_FLAG, .exclusive = 1, OPTION_FIELD(struct values, other)},
    {.names = {"--third"}, .kind = OPTION_FLAG, .exclusive = 2, OPTION_FIELD(struct values, third)},
    {.names = {"--unusual"}, .kind = OPTION_OFF, OPTION_FIELD(struct values, usual)},
    {.names = {"-x", "--extra"}, .kind = OPTION_COUNT, OPTION_FIELD(struct values, verbose)},
    {.names = {"--seed"},
     .kind = OPTION_ONE,
     .type = OPTION_INTEGER,
     .fallback = "1",
     OPTION_FIELD(struct values, seed)},
    {.names = {"--low"}, .kind = OPTION_ONE, .type = OPTION_FLOAT, OPTION_FIELD(struct values, low)},
    {.names = {"--mode"},
     .kind = OPTION_ONE,
     .type = OPTION_CHOICE,
     .choices = modes,
     .fallback = "slow",
     OPTION_FIELD(struct values, mode)},
    {.names = {"--maybe"}, .kind = OPTION_MAYBE, OPTION_FIELD(struct values, maybe)},
    {.names = {"--many", "--manifold"}, .kind = OPTION_MANY, OPTION_FIELD(struct values, many)},
    {.names = {"--added"}, .kind = OPTION_MANY, .append = true, OPTION_FIELD(struct values, added)},
    {.names = {"--any"}, .kind = OPTION_ANY, OPTION_FIELD(struct values, any)},
    {.names = {"--codes"}, .kind = OPTION_MANY, .type = OPTION_INTEGER, OPTION_FIELD(struct values, codes)},
    {.names = {"--rest"}, .kind = OPTION_REST, .stands_alone = has_blank, OPTION_FIELD(struct values, rest)},
    {.names = {"--one"}, .kind = OPTION_ORDERED, OPTION_FIELD(struct values, order)},
    {.names = {"--two"}, .kind = OPTION_ORDERED, OPTION_FIELD(struct values, order)},
    {.names = {"--script"},
     .kind = OPTION_ONE,
     .refusal = "scripts need Python; use --many",
     .topic = "python-scripts"},
};

static const struct option_group group = {
    .title = "Test",
    .options = rows,
    .count = ARRAY_LEN(rows),
};

struct shared_values {
    int verbose;
};

static const struct option shared_rows[] = {
    {.names = {"-v", "--verbose"}, .kind = OPTION_COUNT, OPTION_FIELD(struct shared_values, verbose)},
};

static const struct option_group shared = {
    .title = "Shared",
    .options = shared_rows,
    .count = ARRAY_LEN(shared_rows),
};

struct required_values {
    const char *until;
    struct words paths;
};

static const struct option required_rows[] = {
    {.names = {"--until"}, .kind = OPTION_ONE, .required = true, OPTION_FIELD(struct required_values, until)},
    {.names = {"paths"}, .kind = OPTION_MANY, OPTION_FIELD(struct required_values, paths)},
};

static const struct option_group required = {
    .title = "Required",
    .options = required_rows,
    .count = ARRAY_LEN(required_rows),
};

struct plain_settings {
    struct shared_values shared;
    struct values own;
};

static const struct command_group groups[] = {{&shared, offsetof(struct plain_settings, shared)},
                                              {&group, offsetof(struct plain_settings, own)}};
static const struct command_group required_groups[] = {{&required, 0}};
static const struct command_group tool_groups[] = {{&shared, 0}};

static const struct command plain = {
    .name = "plain", .groups = groups, .group_count = 2, .settings_size = sizeof(struct plain_settings)};
static const struct command exact = {.name = "exact",
                                     .groups = groups,
                                     .group_count = 2,
                                     .settings_size = sizeof(struct plain_settings),
                                     .exact_names = true};
static const struct command demanding = {
    .name = "demanding", .groups = required_groups, .group_count = 1, .settings_size = sizeof(struct required_values)};
static const struct command *const subtools[] = {&plain, &exact, &demanding};
static const struct command tool = {.name = "tool",
                                    .groups = tool_groups,
                                    .group_count = 1,
                                    .settings_size = sizeof(struct shared_values),
                                    .subcommands = subtools,
                                    .subcommand_count = 3};
static const struct command *const tools[] = {&tool};
static const struct command root = {.name = "program", .subcommands = tools, .subcommand_count = 1};

static struct command_line line;

#define PARSE_PLAIN(...) COMMAND_LINE(&line, &root, "tool", "plain", __VA_ARGS__)

static const struct plain_settings *plain_settings(const struct command_line *from)
{
    return from->parse.settings;
}

static const struct values *values(void)
{
    assert_int_equal(line.outcome, PARSE_DONE);
    assert_int_equal(line.rc, 0);
    return &plain_settings(&line)->own;
}

static void assert_words(struct words words, const char *expected)
{
    struct string_builder text;

    string_init(&text);
    for (size_t i = 0; i < words.count; i++)
        string_add_format(&text, "%s%s", i > 0 ? "|" : "", words.items[i]);
    assert_string_equal(text.data, expected);
    if (words.items)
        assert_null(words.items[words.count]);
    string_release(&text);
}

static void assert_refused(const char *message)
{
    assert_int_equal(line.outcome, PARSE_REFUSED);
    assert_string_equal(line.err.message, message);
    command_line_release(&line);
}

static int no_line(void **state)
{
    line = (struct command_line){0};
    return 0;
}

static int release_line(void **state)
{
    command_line_release(&line);
    return 0;
}

static void value_follows_as_a_word_or_after_an_equals_sign(void **state)
{
    PARSE_PLAIN("m", "--output", "a", "--low=0.5");
    assert_string_equal(values()->output, "a");
    assert_true(values()->low == 0.5);
    assert_string_equal(values()->model, "m");
}

static void value_after_an_equals_sign_may_be_empty_or_hold_more_of_them(void **state)
{
    PARSE_PLAIN("m", "--output=", "--maybe=a=b");
    assert_string_equal(values()->output, "");
    assert_string_equal(values()->maybe, "a=b");
}

static void short_flags_may_be_clustered(void **state)
{
    PARSE_PLAIN("m", "-vvxf");
    assert_int_equal(values()->verbose, 1);
    assert_true(values()->flag);
    assert_int_equal(plain_settings(&line)->shared.verbose, 2);
}

static void option_of_kind_off_clears_a_field_that_is_set_without_it(void **state)
{
    PARSE_PLAIN("m");
    assert_true(values()->usual);
    command_line_release(&line);
    PARSE_PLAIN("m", "--unusual");
    assert_false(values()->usual);
}

static void last_of_a_cluster_may_take_a_value(void **state)
{
    PARSE_PLAIN("m", "-vo", "a");
    assert_string_equal(values()->output, "a");
    command_line_release(&line);
    PARSE_PLAIN("m", "-vob");
    assert_string_equal(values()->output, "b");
    command_line_release(&line);
    PARSE_PLAIN("m", "-o=c");
    assert_string_equal(values()->output, "c");
}

static void plus_option_takes_all_words_that_are_not_options(void **state)
{
    PARSE_PLAIN("--many", "a", "b", "-f", "m");
    assert_words(values()->many, "a|b");
    assert_string_equal(values()->model, "m");
}

static void plus_option_swallows_the_model_behind_it(void **state)
{
    PARSE_PLAIN("--many", "1e-3", "m", "-f");
    assert_refused("the following arguments are required: model");
    no_line(state);
    PARSE_PLAIN("--many=1e-3", "m", "-f");
    assert_words(values()->many, "1e-3");
}

static void negative_numbers_are_values(void **state)
{
    PARSE_PLAIN("m", "--codes", "-11", "3", "--low", "-1.5", "--many", "-1e-3", "-.5");
    assert_int_equal(values()->codes.count, 2);
    assert_string_equal(values()->codes.items[0], "-11");
    assert_true(values()->low == -1.5);
    assert_words(values()->many, "-1e-3|-.5");
}

static void word_with_a_blank_is_a_value_even_behind_a_dash(void **state)
{
    PARSE_PLAIN("m", "--many", "-a b", "-");
    assert_words(values()->many, "-a b|-");
}

static void attached_values_of_an_option_with_several_add_up(void **state)
{
    PARSE_PLAIN("m", "--many=--a", "-f", "--many=--b");
    assert_words(values()->many, "--a|--b");
}

static void last_occurrence_wins_unless_values_add_up(void **state)
{
    PARSE_PLAIN("m", "--many", "a", "b", "--many", "c", "--added", "a", "--added", "b", "c", "-o", "x", "-o", "y");
    assert_words(values()->many, "c");
    assert_words(values()->added, "a|b|c");
    assert_string_equal(values()->output, "y");
}

static void order_and_repeats_of_ordered_options_are_kept(void **state)
{
    PARSE_PLAIN("--two", "m", "--one", "--two", "--two");
    assert_words(values()->order, "two|one|two|two");
}

static void beginning_of_a_name_is_enough_when_it_is_unambiguous(void **state)
{
    PARSE_PLAIN("m", "--out", "a", "--se=7", "--man", "x");
    assert_string_equal(values()->output, "a");
    assert_int_equal(values()->seed, 7);
    assert_words(values()->many, "x");
}

static void beginning_of_several_options_is_refused(void **state)
{
    PARSE_PLAIN("m", "--ma", "x");
    assert_refused("ambiguous option: --ma could match --maybe, --many, --manifold");
    no_line(state);
}

static void exact_names_allow_no_beginnings(void **state)
{
    COMMAND_LINE(&line, &root, "tool", "exact", "m", "--out", "a");
    assert_int_equal(line.outcome, PARSE_UNRECOGNIZED);
    assert_string_equal(line.err.message, "Unrecognized Options: ['--out', 'a']; did you mean '--output'?");
}

static void rest_takes_options_too(void **state)
{
    PARSE_PLAIN("m", "-f", "--rest", "sh", "-c", "--flag", "--", "x");
    assert_words(values()->rest, "sh|-c|--flag|--|x");
}

static void rest_after_an_equals_sign_takes_one_word(void **state)
{
    PARSE_PLAIN("--rest=cmd", "m", "--flag");
    assert_words(values()->rest, "cmd");
    assert_true(values()->flag);
}

static void rest_ends_behind_a_first_word_that_stands_alone(void **state)
{
    PARSE_PLAIN("m", "--rest", "a whole command", "--flag", "--many", "x");
    assert_words(values()->rest, "a whole command");
    assert_true(values()->flag);
    assert_words(values()->many, "x");
}

static void rest_drops_a_double_dash_that_introduces_it(void **state)
{
    PARSE_PLAIN("m", "--rest", "--", "cmd", "--", "-x");
    assert_words(values()->rest, "cmd|--|-x");
}

static void rest_may_be_empty_and_is_known_to_be_given(void **state)
{
    PARSE_PLAIN("m", "--rest");
    assert_int_equal(values()->rest.count, 0);
    assert_string_equal(parse_given(&line.parse, "--rest"), "--rest");
}

static void words_behind_a_double_dash_are_positional(void **state)
{
    PARSE_PLAIN("--many", "a", "--", "--flag");
    assert_string_equal(values()->model, "--flag");
    assert_false(values()->flag);
    assert_words(values()->many, "a");
}

static void maybe_option_works_with_and_without_a_value(void **state)
{
    PARSE_PLAIN("m", "--maybe", "-f");
    assert_string_equal(values()->maybe, "");
    command_line_release(&line);
    PARSE_PLAIN("--maybe", "x", "m");
    assert_string_equal(values()->maybe, "x");
    command_line_release(&line);
    PARSE_PLAIN("m");
    assert_null(values()->maybe);
}

static void any_option_may_have_no_value(void **state)
{
    PARSE_PLAIN("m", "--any", "-f");
    assert_int_equal(values()->any.count, 0);
    assert_string_equal(parse_given(&line.parse, "--any"), "--any");
    command_line_release(&line);
    PARSE_PLAIN("m", "--any", "a", "b", "--any");
    assert_words(values()->any, "");
}

static void fallback_counts_until_the_option_is_given(void **state)
{
    PARSE_PLAIN("m");
    assert_int_equal(values()->seed, 1);
    assert_int_equal(values()->mode, SLOW);
    assert_null(parse_given(&line.parse, "--mode"));
    command_line_release(&line);
    PARSE_PLAIN("m", "--mode", "fast", "--seed", "12_000");
    assert_int_equal(values()->mode, FAST);
    assert_int_equal(values()->seed, 12000);
}

static void given_names_the_spelling_that_was_used(void **state)
{
    PARSE_PLAIN("m", "--manif", "x");
    assert_string_equal(parse_given(&line.parse, "--many"), "--manifold");
    assert_null(parse_given(&line.parse, "--flag"));
    assert_null(parse_given(&line.parse, "--no-such-option"));
}

static void options_before_the_subtool_add_up_with_those_behind_it(void **state)
{
    COMMAND_LINE(&line, &root, "tool", "-v", "plain", "-vv", "m");
    assert_int_equal(line.outcome, PARSE_DONE);
    assert_int_equal(plain_settings(&line)->shared.verbose, 3);
    assert_string_equal(parse_command_name(&line.parse), "program tool plain");
}

static void two_parses_do_not_disturb_each_other(void **state)
{
    struct command_line second;

    PARSE_PLAIN("m", "--many", "a");
    COMMAND_LINE(&second, &root, "tool", "plain", "n", "--many", "b");
    assert_words(values()->many, "a");
    assert_words(plain_settings(&second)->own.many, "b");
    command_line_release(&second);
}

static void malformed_command_lines_are_refused_in_the_words_of_argparse(void **state)
{
    PARSE_PLAIN("m", "-o");
    assert_refused("argument -o/--output: expected one argument");
    PARSE_PLAIN("m", "--output", "--flag");
    assert_refused("argument -o/--output: expected one argument");
    PARSE_PLAIN("m", "--many", "--flag");
    assert_refused("argument --many/--manifold: expected at least one argument");
    PARSE_PLAIN("m", "--mode", "x");
    assert_refused("argument --mode: invalid choice: 'x' (choose from 'fast', 'slow')");
    PARSE_PLAIN("m", "--mode", "it's");
    assert_refused("argument --mode: invalid choice: \"it's\" (choose from 'fast', 'slow')");
    PARSE_PLAIN("m", "--seed", "1.5");
    assert_refused("argument --seed: invalid int value: '1.5'");
    PARSE_PLAIN("m", "--codes", "1", "x");
    assert_refused("argument --codes: invalid int value: 'x'");
    PARSE_PLAIN("m", "--low", "high");
    assert_refused("argument --low: invalid float value: 'high'");
    PARSE_PLAIN("m", "--flag=1");
    assert_refused("argument -f/--flag: ignored explicit argument '1'");
    PARSE_PLAIN("m", "-vz");
    assert_refused("argument -v/--verbose: ignored explicit argument 'z'");
    PARSE_PLAIN("m", "--other", "--flag");
    assert_refused("argument -f/--flag: not allowed with argument --other");
    PARSE_PLAIN("--flag");
    assert_refused("the following arguments are required: model");
    COMMAND_LINE(&line, &root, "tool", "demanding");
    assert_refused("the following arguments are required: --until, paths");
    COMMAND_LINE(&line, &root, "tool", "-v");
    assert_refused("the following arguments are required: subtool");
    COMMAND_LINE(&line, &root, "tol");
    assert_refused("argument tool: invalid choice: 'tol' (choose from 'tool'); did you mean 'tool'?");
    no_line(state);
}

static void exclusive_options_of_different_kinds_go_together(void **state)
{
    PARSE_PLAIN("m", "--third", "--flag", "--flag");
    assert_true(values()->third && values()->flag);
}

static void positional_words_of_kind_many_are_gathered(void **state)
{
    COMMAND_LINE(&line, &root, "tool", "demanding", "a", "b", "--until", "x", "c");
    assert_int_equal(line.outcome, PARSE_DONE);
    assert_words(((const struct required_values *)line.parse.settings)->paths, "a|b|c");
}

static void unknown_options_and_surplus_words_are_listed(void **state)
{
    PARSE_PLAIN("m", "--bogus", "surplus", "-z", "--fl\nag");
    assert_int_equal(line.outcome, PARSE_UNRECOGNIZED);
    assert_string_equal(line.err.message,
                        "Unrecognized Options: ['--bogus', 'surplus', '-z', '--fl\\nag']; did you mean '--flag'?");
}

static void near_miss_is_suggested(void **state)
{
    PARSE_PLAIN("m", "--sede=3");
    assert_int_equal(line.outcome, PARSE_UNRECOGNIZED);
    assert_string_equal(line.err.message, "Unrecognized Options: ['--sede=3']; did you mean '--seed'?");
}

static void unlike_option_brings_no_suggestion(void **state)
{
    PARSE_PLAIN("m", "--quite-something-else");
    assert_int_equal(line.outcome, PARSE_UNRECOGNIZED);
    assert_string_equal(line.err.message, "Unrecognized Options: ['--quite-something-else']");
}

static void refused_option_names_an_alternative(void **state)
{
    PARSE_PLAIN("m", "--script", "x.py");
    assert_int_equal(line.outcome, PARSE_DONE);
    assert_int_equal(line.rc, ERR_UNSUPPORTED);
    assert_string_equal(line.err.message,
                        "--script: scripts need Python; use --many; see docs/coming-from-polygraphy.md#python-scripts");
}

static void help_is_wanted_at_every_level_before_anything_is_missed(void **state)
{
    COMMAND_LINE(&line, &root, "-h");
    assert_int_equal(line.outcome, PARSE_HELP);
    assert_ptr_equal(parse_command(&line.parse), &root);
    command_line_release(&line);
    COMMAND_LINE(&line, &root, "tool", "--help");
    assert_int_equal(line.outcome, PARSE_HELP);
    assert_ptr_equal(parse_command(&line.parse), &tool);
    command_line_release(&line);
    COMMAND_LINE(&line, &root, "tool", "exact", "-vh", "--bogus");
    assert_int_equal(line.outcome, PARSE_HELP);
    assert_ptr_equal(parse_command(&line.parse), &exact);
}

static void v_shows_the_version_only_before_the_tool(void **state)
{
    COMMAND_LINE(&line, &root, "-v", "tool", "plain");
    assert_int_equal(line.outcome, PARSE_VERSION);
    command_line_release(&line);
    COMMAND_LINE(&line, &root, "tool", "plain", "--version", "m");
    assert_int_equal(line.outcome, PARSE_UNRECOGNIZED);
}

static void each_group_fills_its_member_of_the_settings(void **state)
{
    PARSE_PLAIN("m", "-v", "-xx");
    assert_int_equal(plain_settings(&line)->shared.verbose, 1);
    assert_int_equal(plain_settings(&line)->own.verbose, 2);
    assert_null(plain_settings(&line)->own.output);
}

#define TEST_LINE(function) cmocka_unit_test_setup_teardown(function, no_line, release_line)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_LINE(value_follows_as_a_word_or_after_an_equals_sign),
        TEST_LINE(value_after_an_equals_sign_may_be_empty_or_hold_more_of_them),
        TEST_LINE(short_flags_may_be_clustered),
        TEST_LINE(option_of_kind_off_clears_a_field_that_is_set_without_it),
        TEST_LINE(last_of_a_cluster_may_take_a_value),
        TEST_LINE(plus_option_takes_all_words_that_are_not_options),
        TEST_LINE(plus_option_swallows_the_model_behind_it),
        TEST_LINE(negative_numbers_are_values),
        TEST_LINE(word_with_a_blank_is_a_value_even_behind_a_dash),
        TEST_LINE(attached_values_of_an_option_with_several_add_up),
        TEST_LINE(last_occurrence_wins_unless_values_add_up),
        TEST_LINE(order_and_repeats_of_ordered_options_are_kept),
        TEST_LINE(beginning_of_a_name_is_enough_when_it_is_unambiguous),
        TEST_LINE(beginning_of_several_options_is_refused),
        TEST_LINE(exact_names_allow_no_beginnings),
        TEST_LINE(rest_takes_options_too),
        TEST_LINE(rest_after_an_equals_sign_takes_one_word),
        TEST_LINE(rest_ends_behind_a_first_word_that_stands_alone),
        TEST_LINE(rest_drops_a_double_dash_that_introduces_it),
        TEST_LINE(rest_may_be_empty_and_is_known_to_be_given),
        TEST_LINE(words_behind_a_double_dash_are_positional),
        TEST_LINE(maybe_option_works_with_and_without_a_value),
        TEST_LINE(any_option_may_have_no_value),
        TEST_LINE(fallback_counts_until_the_option_is_given),
        TEST_LINE(given_names_the_spelling_that_was_used),
        TEST_LINE(options_before_the_subtool_add_up_with_those_behind_it),
        TEST_LINE(two_parses_do_not_disturb_each_other),
        TEST_LINE(malformed_command_lines_are_refused_in_the_words_of_argparse),
        TEST_LINE(exclusive_options_of_different_kinds_go_together),
        TEST_LINE(positional_words_of_kind_many_are_gathered),
        TEST_LINE(unknown_options_and_surplus_words_are_listed),
        TEST_LINE(near_miss_is_suggested),
        TEST_LINE(unlike_option_brings_no_suggestion),
        TEST_LINE(refused_option_names_an_alternative),
        TEST_LINE(help_is_wanted_at_every_level_before_anything_is_missed),
        TEST_LINE(v_shows_the_version_only_before_the_tool),
        TEST_LINE(each_group_fills_its_member_of_the_settings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
