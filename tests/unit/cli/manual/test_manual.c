/* test_manual.c: manuals made from tables: what is escaped, where lines break, and what stands where. */
#include "support/unit_test.h"

#include <string.h>

#include "base/memory.h"
#include "cli/manual/manual.h"
#include "cli/options/groups.h"
#include "cli/parse/command.h"
#include "cli/parse/parser.h"

static const char *const modes[] = {"fast", "slow", NULL};
static const char *const many[] = {"onnx-with-a-long-name", "engine-with-a-long-name", NULL};

static const struct option rows[] = {
    {.names = {"-m", "--mode"}, .kind = OPTION_ONE, .choices = modes, .fallback = "fast", .help = "how to search"},
    {.names = {"--type"}, .kind = OPTION_ONE, .choices = many, .help = "what it is"},
    {.names = {"--until"}, .kind = OPTION_ONE, .required = true, .help = "when to stop, as with `make -k`"},
    {.names = {"--gone"}, .kind = OPTION_ONE, .refusal = "use --mode"},
    {.names = {"--lost", "--lst"}, .kind = OPTION_FLAG, .refusal = "use --mode"},
    {.names = {"paths"}, .kind = OPTION_MANY, .help = "'in' \\ \"out\". .npy is one"},
};
static const struct option_group search = {.title = "Op of search", .options = rows, .count = ARRAY_LEN(rows)};
static const struct command_group groups[] = {{&logging_options, 0}, {&search, 0}};
static const struct command leaf = {.name = "leaf",
                                    .summary = "do it",
                                    .description = "One. Two (--mode, say).\n\n.npy begins this one.",
                                    .example = "# why not\nprogram leaf \\\n    .npy\n\n# or?\nprogram leaf",
                                    .groups = groups,
                                    .group_count = ARRAY_LEN(groups)};
static const struct command other = {.name = "other", .summary = "do something else"};
static const struct command *const leaves[] = {&leaf, &other};
static const struct command root = {
    .name = "program", .summary = "all of it", .subcommands = leaves, .subcommand_count = ARRAY_LEN(leaves)};

static struct string_builder text;
static struct parse parse;

static int set_up(void **state)
{
    struct error err;

    string_init(&text);
    parse_init(&parse, &root);
    assert_int_equal(parse_enter_subcommand(&parse, "leaf", &err), 0);
    return 0;
}

static int tear_down(void **state)
{
    parse_release(&parse);
    string_release(&text);
    return 0;
}

/* From `begin` up to the next heading. */
static void assert_part(const char *begin, const char *expected)
{
    const char *start = strstr(text.data, begin), *end;

    assert_non_null(start);
    start += strlen(begin);
    end = strstr(start, "\n.S");
    text.data[end != NULL ? (size_t)(end + 1 - text.data) : text.size] = '\0';
    assert_string_equal(start, expected);
    string_clear(&text);
    manual_render(&parse, &manual_mdoc, "May 1, 2026", &text);
}

static void a_page_has_its_name_and_the_command_line_in_short(void **state)
{
    manual_render(&parse, &manual_mdoc, "May 1, 2026", &text);
    assert_ptr_equal(strstr(text.data, ".Dd May 1, 2026\n.Dt PROGRAM-LEAF 1\n.Os polygraphy "), text.data);
    assert_part(".Sh NAME\n", ".Nm program\\-leaf\n.Nd do it\n");
    assert_part(".Sh SYNOPSIS\n", ".Nm program\n.Cm leaf\n.Op Ar options\n.Fl \\-until Ar UNTIL\n.Ar paths ...\n");
    assert_part(".Sh SEE ALSO\n", ".Xr program 1 ,\n.Xr program-other 1\n");
}

static void text_is_escaped_and_sentences_begin_lines(void **state)
{
    manual_render(&parse, &manual_mdoc, "May 1, 2026", &text);
    assert_part(".Sh DESCRIPTION\n", "One.\nTwo \\%(\\fB\\-\\-mode\\fR, say).\n.Pp\n\\&\\%.npy begins this one.\n");
    assert_part(".Ss Not supported\n", "These options of Polygraphy are refused, with the reason and the alternative:\n"
                                       ".Bl -tag -width 6n\n"
                                       ".It Cm \\-\\-gone , \\-\\-lost , \\-\\-lst\n"
                                       "use \\%\\fB\\-\\-mode\\fR\n"
                                       ".El\n");
}

static void options_have_values_choices_and_defaults(void **state)
{
    manual_render(&parse, &manual_mdoc, "May 1, 2026", &text);
    assert_part(".Ss \\&Op of search\n",
                ".Bl -tag -width 6n\n"
                ".It Fl m , Fl \\-mode Cm fast | slow\n"
                "how to search (default: \\%\\fBfast\\fR)\n"
                ".It Fl \\-type Ar TYPE\n"
                "what it is.\n"
                "One of \\%\\fBonnx\\-with\\-a\\-long\\-name\\fR and \\%\\fBengine\\-with\\-a\\-long\\-name\\fR\n"
                ".It Fl \\-until Ar UNTIL\n"
                "when to stop, as with \\%\\fBmake \\%\\-k\\fR\n"
                ".It Ar paths ...\n"
                "\\%\\(aqin\\(aq \\%\\e \\%\\(dqout\\(dq.\n"
                "\\&\\%.npy is one\n"
                ".El\n");
}

static void comments_of_examples_become_sentences(void **state)
{
    manual_render(&parse, &manual_mdoc, "May 1, 2026", &text);
    assert_part(".Sh EXAMPLES\n", "Why not:\n"
                                  ".Bd -literal -offset 2n\n"
                                  "program leaf \\e\n"
                                  "    .npy\n"
                                  ".Ed\n"
                                  ".Pp\n"
                                  "Or?\n"
                                  ".Bd -literal -offset 2n\n"
                                  "program leaf\n"
                                  ".Ed\n");
}

static void markdown_has_objects_for_options_and_links_for_documents(void **state)
{
    struct option row = {.names = {"--to"}, .kind = OPTION_MAYBE, .value_name = "PATH"};

    manual_markdown.option(&text, &row, "write *this* as in docs/formats.md, not docs/x, [1] and --to");
    assert_string_equal(text.data, "```{option} --to [PATH]\n\n"
                                   "write \\*this\\* as in [docs/formats.md](../docs/formats.md), not docs/x, "
                                   "\\[1\\] and `--to`\n"
                                   "```\n");
    string_clear(&text);
    manual_markdown.entry(&text, MANUAL_FILE, "one, two", "text");
    assert_string_equal(text.data, "- `one`, `two`: text\n");
    string_clear(&text);
    manual_render(&parse, &manual_markdown, "May 1, 2026", &text);
    assert_non_null(strstr(text.data, "\n```text\nprogram leaf [options] --until UNTIL paths ...\n```\n"));
    assert_non_null(strstr(text.data, "\n```{option} -m, --mode {fast,slow}\n"));
    assert_non_null(strstr(text.data, "\n```{option} --type TYPE\n"));
    assert_non_null(strstr(text.data, "\n[program](program.md), [program-other](program-other.md)\n"));
}

static void spans_tell_what_is_to_be_typed(void **state)
{
    static const struct {
        const char *text;
        bool literal;
    } expected[] = {
        {"use ", false}, {"make all", true}, {", ", false}, {"--to-be", true}, {", not-this, -1 - (", false},
        {"-q", true},    {"), a-", false}};
    struct text rest = text_of("use `make all`, --to-be, not-this, -1 - (-q), a-"), span;
    bool literal;

    for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
        assert_true(manual_next_span(&rest, &span, &literal));
        assert_int_equal(literal, expected[i].literal);
        assert_true(text_equal_string(span, expected[i].text));
    }
    assert_false(manual_next_span(&rest, &span, &literal));
    rest = text_of("`open");
    assert_true(manual_next_span(&rest, &span, &literal));
    assert_true(literal && text_equal_string(span, "open"));
    assert_false(manual_next_span(&rest, &span, &literal));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_page_has_its_name_and_the_command_line_in_short, set_up, tear_down),
        cmocka_unit_test_setup_teardown(text_is_escaped_and_sentences_begin_lines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(options_have_values_choices_and_defaults, set_up, tear_down),
        cmocka_unit_test_setup_teardown(comments_of_examples_become_sentences, set_up, tear_down),
        cmocka_unit_test_setup_teardown(markdown_has_objects_for_options_and_links_for_documents, set_up, tear_down),
        cmocka_unit_test(spans_tell_what_is_to_be_typed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
