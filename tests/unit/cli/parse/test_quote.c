/* test_quote.c: words in messages. */
#include "support/unit_test.h"

#include "cli/parse/quote.h"

static void assert_quoted(const char *word, const char *expected)
{
    struct string_builder text;

    string_init(&text);
    quote_word(word, &text);
    assert_string_equal(text.data, expected);
    string_release(&text);
}

static void words_are_quoted_like_python_does(void **state)
{
    assert_quoted("plain", "'plain'");
    assert_quoted("", "''");
    assert_quoted("it's", "\"it's\"");
    assert_quoted("it's \"so\"", "'it\\'s \"so\"'");
    assert_quoted("a\\b", "'a\\\\b'");
    assert_quoted("a\nb\tc\r", "'a\\nb\\tc\\r'");
}

static void what_a_terminal_would_obey_or_not_understand_is_escaped(void **state)
{
    assert_quoted("\033[31m", "'\\x1b[31m'");
    assert_quoted("gr\303\274n", "'gr\303\274n'");
    assert_quoted("\377\177", "'\\xff\\x7f'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_quoted_like_python_does),
        cmocka_unit_test(what_a_terminal_would_obey_or_not_understand_is_escaped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
