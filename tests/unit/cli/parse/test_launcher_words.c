/* test_launcher_words.c: --launcher: a command line in a single word. */
#include "support/unit_test.h"

#include <string.h>

#include "base/memory.h"
#include "cli/parse/parser.h"
#include "cli/parse/value.h"
#include "support/command_line.h"

struct values {
    struct words launcher;
};

static const struct option rows[] = {
    {.names = {"--launcher"}, .kind = OPTION_ONE, .convert = convert_launcher, OPTION_FIELD(struct values, launcher)}};
static const struct option_group group = {
    .title = "Test",
    .options = rows,
    .count = ARRAY_LEN(rows),
};
static const struct command_group groups[] = {{&group, 0}};
static const struct command root = {
    .name = "program", .groups = groups, .group_count = 1, .settings_size = sizeof(struct values)};

/* `line` is taken apart into these words, NULL-terminated. */
static void assert_words(const char *text, const char *const *expected)
{
    struct command_line line = {0};
    const struct values *values;
    const struct words *words;
    size_t count = 0;

    COMMAND_LINE(&line, &root, "--launcher", text);
    if (line.rc < 0)
        fail_msg("%s", line.err.message);
    values = line.parse.settings;
    words = &values->launcher;
    for (; expected[count] != NULL; count++) {
        assert_true(count < words->count);
        assert_string_equal(words->items[count], expected[count]);
    }
    assert_int_equal(words->count, count);
    command_line_release(&line);
}

#define ASSERT_WORDS(text, ...) assert_words(text, (const char *const[]){__VA_ARGS__, NULL})

static void assert_refused(const char *text, const char *message)
{
    struct command_line line = {0};

    COMMAND_LINE(&line, &root, "--launcher", text);
    assert_int_equal(line.outcome, PARSE_DONE);
    assert_int_equal(line.rc, ERR_INVALID);
    assert_string_equal(line.err.message, message);
    command_line_release(&line);
}

static void words_are_parted_by_blanks(void **state)
{
    ASSERT_WORDS("srun", "srun");
    ASSERT_WORDS("srun -n1 --mem=4G", "srun", "-n1", "--mem=4G");
    ASSERT_WORDS("  srun \t -n1\n", "srun", "-n1");
    ASSERT_WORDS("a b c d e f g", "a", "b", "c", "d", "e", "f", "g");
}

static void quotes_hold_a_word_together(void **state)
{
    ASSERT_WORDS("ssh 'my host' \"a b\"", "ssh", "my host", "a b");
    ASSERT_WORDS("--comment='it is'\" so\"", "--comment=it is so");
    ASSERT_WORDS("say \"it's\" '\"'", "say", "it's", "\"");
    ASSERT_WORDS("env X= '' \"\"", "env", "X=", "", "");
}

static void backslash_takes_the_next_character_as_it_is(void **state)
{
    ASSERT_WORDS("my\\ program a\\\\b", "my program", "a\\b");
    ASSERT_WORDS("\"a\\\"b\" \\'", "a\"b", "'");
    ASSERT_WORDS("'a\\b' end\\", "a\\b", "end\\");
}

static void nothing_is_expanded(void **state)
{
    ASSERT_WORDS("env *.onnx $HOME ~ a;b", "env", "*.onnx", "$HOME", "~", "a;b");
}

static void what_is_no_command_is_refused(void **state)
{
    assert_refused("", "--launcher: the command is empty");
    assert_refused(" \t ", "--launcher: the command is empty");
    assert_refused("ssh 'my host", "--launcher: a quote is not closed: ssh 'my host");
    assert_refused("ssh \"a\\\"", "--launcher: a quote is not closed: ssh \"a\\\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_parted_by_blanks),
        cmocka_unit_test(quotes_hold_a_word_together),
        cmocka_unit_test(backslash_takes_the_next_character_as_it_is),
        cmocka_unit_test(nothing_is_expanded),
        cmocka_unit_test(what_is_no_command_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
