/* Text that grows. */
#include <stdlib.h>
#include <string.h>

#include "base/text/string_builder.h"
#include "support/unit_test.h"

static void new_builder_holds_empty_text(void **state)
{
    struct string_builder builder;

    string_init(&builder);
    assert_string_equal(builder.data, "");
    string_clear(&builder);
    string_truncate(&builder, 0);
    string_release(&builder);
    assert_string_equal(builder.data, "");
}

static void text_stays_ended_by_nul(void **state)
{
    struct string_builder builder;

    string_init(&builder);
    for (size_t i = 0; i < 500; i++) {
        assert_int_equal(strlen(builder.data), i);
        string_add_char(&builder, 'x');
    }
    string_add(&builder, "end");
    string_add_text(&builder, (struct text){NULL, 0});
    string_add_text(&builder, (struct text){"...", 1});
    assert_string_equal(builder.data + 500, "end.");
    string_truncate(&builder, 502);
    assert_string_equal(builder.data + 500, "en");
    string_truncate(&builder, 1000); /* never longer */
    assert_int_equal(builder.size, 502);
    string_clear(&builder);
    assert_string_equal(builder.data, "");
    string_release(&builder);
}

static void format_of_any_length_fits(void **state)
{
    struct string_builder builder;

    string_init(&builder);
    for (int width = 1; width < 1000; width++) {
        string_clear(&builder);
        string_add(&builder, "<");
        string_add_format(&builder, "%*d", width, 7);
        assert_int_equal(builder.size, width + 1);
        assert_int_equal(strlen(builder.data), width + 1);
        assert_int_equal(builder.data[width], '7');
    }
    string_release(&builder);
}

static void bytes_may_hold_nul(void **state)
{
    struct string_builder builder;

    string_init(&builder);
    string_add_bytes(&builder, "a\0b", 3);
    assert_int_equal(builder.size, 3);
    assert_memory_equal(builder.data, "a\0b", 4);
    string_release(&builder);
}

static void assert_visible(struct text text, const char *expected)
{
    struct string_builder builder;

    string_init(&builder);
    string_add_visible(&builder, text);
    assert_string_equal(builder.data, expected);
    string_release(&builder);
}

static void nothing_that_is_shown_steers_a_terminal(void **state)
{
    assert_visible(TEXT("plain\n\ttext größe €"), "plain\n\ttext größe €");
    assert_visible(TEXT("\033[1;31mred\033[m"), "red");
    assert_visible(TEXT("\033]0;title\007\033[2J\033[31"), "\\x1b]0;title\\x07\\x1b[2J\\x1b[31");
    assert_visible(TEXT("\033[31K\r\b\x7f\0"), "\\x1b[31K\\x0d\\x08\\x7f\\x00");
    assert_visible(TEXT("\xc2\x9b"
                        "2J \x9b \xc2\xa0"),
                   "\\xc2\\x9b2J \\x9b \xc2\xa0");
    assert_visible(TEXT("torn \xe2\x82"), "torn \\xe2\\x82");
    assert_visible(TEXT("\xe2\x80\xaegpj\xe2\x80\xa9\xe2\x81\xa7 \xe2\x80\xa7\xe2\x80\xaf"),
                   "\\xe2\\x80\\xaegpj\\xe2\\x80\\xa9\\xe2\\x81\\xa7 \xe2\x80\xa7\xe2\x80\xaf");
    assert_visible(TEXT(""), "");
}

static void reserved_room_is_written_by_the_caller(void **state)
{
    struct string_builder builder;

    string_init(&builder);
    string_add(&builder, "size ");
    memcpy(string_reserve(&builder, 3), "100", 3);
    builder.size += 3;
    assert_string_equal(builder.data, "size 100");
    string_release(&builder);
}

static void taken_text_belongs_to_the_caller(void **state)
{
    struct string_builder builder;

    string_init(&builder);
    char *empty = string_take(&builder);
    string_add(&builder, "abc");
    char *text = string_take(&builder);
    assert_string_equal(empty, "");
    assert_string_equal(text, "abc");
    assert_string_equal(builder.data, "");
    free(empty);
    free(text);
}

static void assert_quoted(const char *word, const char *expected)
{
    struct string_builder text;

    string_init(&text);
    string_add_quoted(&text, word);
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

static void names_and_digits_are_left_out(void **state)
{
    static const char *const cases[][2] = {
        {"layer 'conv1' has 3 inputs", "layer has inputs"},
        {"the model's opset 13 lacks 'a' and 'b'", "the model's opset lacks and "},
        {"'a' is never closed: 'b", " is never closed: 'b"},
        {"", ""},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        SCOPED_STRING(text);

        string_add_without_names(&text, text_of(cases[i][0]));
        assert_string_equal(text.data, cases[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_builder_holds_empty_text),
        cmocka_unit_test(text_stays_ended_by_nul),
        cmocka_unit_test(format_of_any_length_fits),
        cmocka_unit_test(bytes_may_hold_nul),
        cmocka_unit_test(nothing_that_is_shown_steers_a_terminal),
        cmocka_unit_test(words_are_quoted_like_python_does),
        cmocka_unit_test(what_a_terminal_would_obey_or_not_understand_is_escaped),
        cmocka_unit_test(reserved_room_is_written_by_the_caller),
        cmocka_unit_test(taken_text_belongs_to_the_caller),
        cmocka_unit_test(names_and_digits_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
