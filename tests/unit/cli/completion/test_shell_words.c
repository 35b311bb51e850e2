/* test_shell_words.c: lines of bash, and what readline puts into them. */
#include "support/unit_test.h"

#include <string.h>

#include "cli/completion/shell_words.h"

#define BREAKS " \t\n\"'><=;|&(:"

static struct arena arena;
static struct shell_words words;

/* The words, joined by "|", up to the one at the cursor. */
static const char *split(const char *before, const char *behind)
{
    const char *joined = "";

    shell_words_release(&words);
    shell_words_split(before, behind, BREAKS, &arena, &words);
    for (size_t i = 0; i < words.words.count; i++)
        joined = arena_printf(&arena, "%s%s%s", joined, i > 0 ? "|" : "", words.words.items[i]);
    return joined;
}

static const char *reply(const char *word)
{
    struct string_builder text;
    const char *copy;

    string_init(&text);
    shell_words_add_reply(&words, word, &text);
    copy = arena_strdup(&arena, text.data);
    string_release(&text);
    return copy;
}

static void quotes_keep_words_together(void **state)
{
    assert_string_equal(split("p run 'a b' \"c \\\" \\d\" e\\ f g", ""), "p|run|a b|c \" \\d|e f|g");
    assert_int_equal(words.index, 5);
    assert_string_equal(split("p run ", ""), "p|run|");
    assert_string_equal(split("p run \"a b", ""), "p|run|a b");
    assert_string_equal(split("p ''", ""), "p|");
    assert_int_equal(words.index, 1);
}

static void words_behind_the_cursor_follow_without_the_rest_of_its_own(void **state)
{
    assert_string_equal(split("p run --on", "nx model.onnx 'a b'"), "p|run|--on|model.onnx|a b");
    assert_int_equal(words.index, 2);
}

static void files_of_redirections_are_no_words(void **state)
{
    assert_string_equal(split("p run >log 2>&1 a <b c", ""), "p|run|a|c");
    assert_false(words.redirected);
    split("p run > lo", "");
    assert_true(words.redirected);
    split("p run >", "");
    assert_true(words.redirected);
    split("p run > log ", "");
    assert_false(words.redirected);
}

static void readline_replaces_what_is_behind_the_last_break(void **state)
{
    split("p run x:0:", "");
    assert_string_equal(reply("x:0:[1,3]"), "\\[1,3\\]");
    split("p run --mode=li", "");
    assert_string_equal(reply("--mode=linear"), "linear");
    split("p run x\\:0", "");
    assert_string_equal(reply("x:0"), "x:0");
    split("p run a", "");
    assert_string_equal(reply("a b$c'd"), "a\\ b\\$c\\'d");
}

static void inside_of_quotes_readline_replaces_what_is_behind_them(void **state)
{
    split("p run \"a:b", "");
    assert_string_equal(reply("a:b $c"), "a:b \\$c");
    split("p run 'a", "");
    assert_string_equal(reply("a b'c"), "a b'\\''c");
    split("p run x:'a b", "");
    assert_string_equal(reply("x:a b c"), "a b c");
    split("p run \"a b\":c", "");
    assert_string_equal(reply("a b:cd"), "cd");
}

static int enter(void **state)
{
    arena_init(&arena);
    return 0;
}

static int leave(void **state)
{
    shell_words_release(&words);
    arena_release(&arena);
    return 0;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(quotes_keep_words_together),
        TEST(words_behind_the_cursor_follow_without_the_rest_of_its_own),
        TEST(files_of_redirections_are_no_words),
        TEST(readline_replaces_what_is_behind_the_last_break),
        TEST(inside_of_quotes_readline_replaces_what_is_behind_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
