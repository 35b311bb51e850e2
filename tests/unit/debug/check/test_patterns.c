/* test_check_patterns.c: --fail-regex means what it means to Python's re.search(). */
#include "support/unit_test.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text/string_builder.h"
#include "debug/check/patterns.h"

#define OUTPUT(bytes, length)                                                                                          \
    &(struct process_output)                                                                                           \
    {                                                                                                                  \
        .data = (bytes), .size = (length)                                                                              \
    }

static bool found_in(const char *pattern, const char *data, size_t size)
{
    struct check_patterns *patterns;
    struct error err = {0};
    size_t found = 1;

    if (check_patterns_new(&pattern, 1, &patterns, &err) < 0 ||
        check_patterns_search(patterns, 1, OUTPUT(data, size), &found, &err) < 0)
        fail_msg("%s", err.message);
    check_patterns_free(patterns);
    return found == 0;
}

static bool found(const char *pattern, const char *text)
{
    return found_in(pattern, text, strlen(text));
}

static void pattern_is_found_anywhere(void **state)
{
    assert_true(found("BAD", "REALLY BAD!\n"));
    assert_false(found("bad", "REALLY BAD!\n"));
    assert_true(found("(?i)bad", "REALLY BAD!\n"));
    assert_true(found("(?P<what>B[AB]D)", "REALLY BAD!\n"));
    assert_false(found("x", ""));
    assert_true(found("", ""));
}

static void anchors_hold_at_the_ends_of_the_text_only(void **state)
{
    assert_true(found("^a", "a\nb\n"));
    assert_false(found("^b", "a\nb\n"));
    assert_true(found("b$", "a\nb\n"));
    assert_true(found("b$", "a\nb"));
    assert_false(found("b$", "a\nb\n\n"));
    assert_false(found("a$", "a\nb\n"));
    assert_true(found("(?m)^b", "a\nb\n"));
}

static void dot_stops_at_a_line_feed_only(void **state)
{
    assert_false(found("a.b", "a\nb"));
    assert_true(found("a.b", "a\rb"));
    assert_true(found("(?s)a.b", "a\nb"));
}

static void classes_know_unicode(void **state)
{
    assert_true(found("^\\w+$", "größe"));
    assert_true(found("^.$", "é"));
    assert_true(found("^\\d$", "٣"));
    assert_true(found("a\\sb", "a\xc2\xa0"
                               "b"));
}

static void bytes_that_are_not_utf8_do_no_harm(void **state)
{
    static const char data[] = "\xff\xfe\0 lead \xc3 then BAD \xf0\x9f end\xed\xa0\x80";

    assert_true(found_in("BAD", data, sizeof(data) - 1));
    assert_true(found_in("then B.D", data, sizeof(data) - 1));
    assert_false(found_in("lead . then", data, sizeof(data) - 1));
    assert_false(found_in("GOOD", data, sizeof(data) - 1));
}

static void of_several_patterns_the_first_in_their_order_is_found(void **state)
{
    const char *const texts[] = {"one", "two"};
    struct check_patterns *patterns;
    struct error err;
    size_t found = 9;

    assert_int_equal(check_patterns_new(texts, 2, &patterns, &err), 0);
    assert_int_equal(check_patterns_search(patterns, 2, OUTPUT("only one", 8), &found, &err), 0);
    assert_int_equal(found, 0);
    assert_int_equal(check_patterns_search(patterns, 2, OUTPUT("or two", 6), &found, &err), 0);
    assert_int_equal(found, 1);
    assert_int_equal(check_patterns_search(patterns, 2, OUTPUT("two, then one", 13), &found, &err), 0);
    assert_int_equal(found, 0);
    assert_int_equal(check_patterns_search(patterns, 2, OUTPUT("three", 5), &found, &err), 0);
    assert_int_equal(found, 2);
    check_patterns_free(patterns);
}

static void patterns_behind_those_asked_for_are_not_looked_for(void **state)
{
    const char *const texts[] = {"one", "two"};
    struct check_patterns *patterns;
    struct error err;
    size_t found = 9;

    assert_int_equal(check_patterns_new(texts, 2, &patterns, &err), 0);
    assert_int_equal(check_patterns_search(patterns, 1, OUTPUT("or two", 6), &found, &err), 0);
    assert_int_equal(found, 1);
    assert_int_equal(check_patterns_search(patterns, 0, OUTPUT("one", 3), &found, &err), 0);
    assert_int_equal(found, 0);
    check_patterns_free(patterns);
}

static void invalid_pattern_is_refused_with_its_position(void **state)
{
    const char *const texts[] = {"fine", "ab(cd"};
    struct check_patterns *patterns = NULL;
    struct error err;

    assert_int_equal(check_patterns_new(texts, 2, &patterns, &err), ERR_INVALID);
    assert_null(patterns);
    assert_string_equal(err.message, "--fail-regex 'ab(cd': missing closing parenthesis (at position 5)");
}

static void endless_backtracking_is_an_error_and_not_a_miss(void **state)
{
    const char *text = "(a|aa)+$";
    struct check_patterns *patterns;
    struct error err;
    size_t hit;
    char data[4096];

    memset(data, 'a', sizeof(data));
    data[sizeof(data) - 1] = '!';
    assert_int_equal(check_patterns_new(&text, 1, &patterns, &err), 0);
    assert_int_equal(check_patterns_search(patterns, 1, OUTPUT(data, sizeof(data)), &hit, &err), ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "--fail-regex '(a|aa)+$': gave up"));
    check_patterns_free(patterns);
}

static void pattern_is_found_at_the_end_of_a_long_text(void **state)
{
    size_t size = (size_t)8 << 20;
    char *data = malloc(size);

    assert_non_null(data);
    memset(data, 'x', size);
    memcpy(data + size - 3, "BAD", 3);
    assert_true(found_in("B.D$", data, size));
    free(data);
}

/* A stream of which `head` and `tail` were kept. */
static bool found_in_ends(const char *pattern, const char *head, const char *tail)
{
    struct string_builder data;
    struct check_patterns *patterns;
    struct error err = {0};
    size_t found = 1;

    string_init(&data);
    string_add_format(&data, "%s\n[... 7 bytes left out ...]\n%s", head, tail);
    struct process_output output = {
        .data = data.data, .size = data.size, .left_out = 7, .head = strlen(head), .tail = data.size - strlen(tail)};
    if (check_patterns_new(&pattern, 1, &patterns, &err) < 0 ||
        check_patterns_search(patterns, 1, &output, &found, &err) < 0)
        fail_msg("%s", err.message);
    check_patterns_free(patterns);
    string_release(&data);
    return found == 0;
}

static void both_ends_of_what_was_kept_are_searched(void **state)
{
    assert_true(found_in_ends("^BAD", "BAD!\nx", "y\nz\n"));
    assert_true(found_in_ends("BAD$", "x", "y\nBAD\n"));
    assert_true(found_in_ends("(?<=y\n)BAD", "x", "y\nBAD\n"));
    assert_true(found_in_ends("(?<=y\n)größe", "x", "y\ngröße\n"));
}

static void nothing_is_found_where_the_middle_is_missing(void **state)
{
    assert_false(found_in_ends("left out", "x", "y\n"));
    assert_false(found_in_ends("[0-9]", "x", "y\n"));
    assert_false(found_in_ends("a[^c]*z", "a", "y\nz\n"));
    assert_false(found_in_ends("BAD$", "BAD", "y\n"));
    assert_false(found_in_ends("BAD\\b", "BAD", "y\n"));
    assert_false(found_in_ends("BAD(?!LY)", "BAD", "LY\n"));
    assert_false(found_in_ends("^BAD", "x", "BAD\nBAD\n"));
    assert_false(found_in_ends("(?<!NOT )BAD", "x", "BAD\ny\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pattern_is_found_anywhere),
        cmocka_unit_test(anchors_hold_at_the_ends_of_the_text_only),
        cmocka_unit_test(dot_stops_at_a_line_feed_only),
        cmocka_unit_test(classes_know_unicode),
        cmocka_unit_test(bytes_that_are_not_utf8_do_no_harm),
        cmocka_unit_test(of_several_patterns_the_first_in_their_order_is_found),
        cmocka_unit_test(patterns_behind_those_asked_for_are_not_looked_for),
        cmocka_unit_test(invalid_pattern_is_refused_with_its_position),
        cmocka_unit_test(endless_backtracking_is_an_error_and_not_a_miss),
        cmocka_unit_test(pattern_is_found_at_the_end_of_a_long_text),
        cmocka_unit_test(both_ends_of_what_was_kept_are_searched),
        cmocka_unit_test(nothing_is_found_where_the_middle_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
