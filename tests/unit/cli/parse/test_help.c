/* test_help.c: usage lines and help texts. */
#include "support/unit_test.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/parse/help.h"
#include "support/command_line.h"

static const char *const modes[] = {"fast", "slow", NULL};

static const struct option rows[] = {
    {.names = {"--until"}, .kind = OPTION_ONE, .required = true, .help = "when to stop"},
    {.names = {"--mode"}, .kind = OPTION_ONE, .choices = modes, .fallback = "fast", .help = "how to search"},
    {.names = {"-p", "--a-rather-long-name"}, .kind = OPTION_MANY, .value_name = "PATH", .help = "paths"},
    {.names = {"--script"}, .kind = OPTION_ONE, .refusal = "no", .help = "never shown"},
    {.names = {"model_file"},
     .kind = OPTION_ONE,
     .help = "the model, a file whose name says nothing about what is in it, "
             "and which is only looked at when it is needed"},
};

static const struct option other_rows[] = {
    {.names = {"--flag"}, .kind = OPTION_FLAG, .help = "switch"},
};

static const struct option_group first = {.title = "Search", .options = rows, .count = ARRAY_LEN(rows)};
static const struct option_group second = {
    .title = "Search", .description = "More of it.", .options = other_rows, .count = ARRAY_LEN(other_rows)};
static const struct command_group groups[] = {{&first, 0}, {&second, 0}};
static const struct command leaf = {.name = "leaf",
                                    .summary = "do it",
                                    .description = "First paragraph.\n\nSecond\nparagraph.",
                                    .example = "program leaf m\nprogram leaf n",
                                    .groups = groups,
                                    .group_count = ARRAY_LEN(groups)};
static const struct command paged = {.name = "paged",
                                     .summary = "do more",
                                     .description = "First paragraph.\n\nSecond\nparagraph.",
                                     .example = "program paged m",
                                     .groups = groups,
                                     .group_count = ARRAY_LEN(groups),
                                     .essential = "-p --until"};
static const struct command *const leaves[] = {&leaf, &paged};
static const struct command root = {.name = "program", .subcommands = leaves, .subcommand_count = ARRAY_LEN(leaves)};

static struct string_builder text;

static void render(const char *word, const char *option, size_t width)
{
    struct command_line line;

    string_clear(&text);
    COMMAND_LINE(&line, &root, word, option);
    help_render(&line.parse, help_extent_wanted(&line.parse), width, &text);
    command_line_release(&line);
}

static void help_of_a_command_is_made_from_its_tables(void **state)
{
    render("leaf", "--help-all", 80);
    assert_string_equal(
        text.data, "usage: program leaf [options] --until UNTIL model_file\n\nFirst paragraph.\n\nSecond "
                   "paragraph.\n\nOptions:\n  -h, --help, --help-all    show short or complete help and "
                   "exit\n\nSearch:\n  --until UNTIL             when to stop\n  --mode {fast,slow}        how to "
                   "search (default: fast)\n  -p, --a-rather-long-name PATH ...\n                            paths\n  "
                   "model_file                the model, a file whose name says nothing about what\n                   "
                   "         is in it, and which is only looked at when it is\n                            needed\n  "
                   "More of it.\n  --flag                    switch\n\nExample:\n  program leaf m\n  program leaf n\n");
}

static void a_page_has_the_first_paragraph_and_what_is_essential(void **state)
{
    render("paged", "-h", 80);
    assert_string_equal(text.data, "usage: program paged [options] --until UNTIL model_file\n"
                                   "\n"
                                   "First paragraph.\n"
                                   "\n"
                                   "Options:\n"
                                   "  model_file                the model, a file whose name says nothing about what\n"
                                   "                            is in it, and which is only looked at when it is\n"
                                   "                            needed\n"
                                   "  -p, --a-rather-long-name PATH ...\n"
                                   "                            paths\n"
                                   "  --until UNTIL             when to stop\n"
                                   "\n"
                                   "Example:\n"
                                   "  program paged m\n"
                                   "\n"
                                   "3 more options: program paged --help-all\n");
    render("paged", "--help-all", 80);
    assert_non_null(strstr(text.data, "Second paragraph.\n"));
    assert_non_null(strstr(text.data, "  --mode {fast,slow} "));
    assert_null(strstr(text.data, "more options"));
}

static void help_of_a_tool_lists_its_subtools(void **state)
{
    struct command_line line;

    COMMAND_LINE(&line, &root, "--help");
    help_render(&line.parse, HELP_PAGE, 80, &text);
    assert_non_null(strstr(text.data, "usage: program [options] {leaf,paged} ...\n"));
    assert_non_null(strstr(text.data, "\nTools:\n  leaf        do it\n"));
    assert_non_null(strstr(text.data, "  -v, --version             show the version and exit\n"));
    command_line_release(&line);
}

static void no_line_is_wider_than_the_terminal(void **state)
{
    render("leaf", "--help-all", 60);
    for (const char *line = text.data; *line; line += strcspn(line, "\n") + 1)
        assert_in_range(strcspn(line, "\n"), 0, 60);
}

static void width_comes_from_columns_within_reason(void **state)
{
    setenv("COLUMNS", "100", 1);
    assert_int_equal(help_width(), 100);
    setenv("COLUMNS", "3", 1);
    assert_int_equal(help_width(), 40);
    setenv("COLUMNS", "1000000", 1);
    assert_int_equal(help_width(), 120);
}

static int new_text(void **state)
{
    string_init(&text);
    return 0;
}

static int release_text(void **state)
{
    string_release(&text);
    return 0;
}

#define TEST_TEXT(function) cmocka_unit_test_setup_teardown(function, new_text, release_text)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_TEXT(help_of_a_command_is_made_from_its_tables),
        TEST_TEXT(a_page_has_the_first_paragraph_and_what_is_essential),
        TEST_TEXT(help_of_a_tool_lists_its_subtools),
        TEST_TEXT(no_line_is_wider_than_the_terminal),
        TEST_TEXT(width_comes_from_columns_within_reason),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
