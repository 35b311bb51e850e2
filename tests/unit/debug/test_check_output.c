/* test_check_output.c: what a check wrote, fit for the log. */
#include "support/unit_test.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "debug/check_output.h"

static char *render(const char *data, size_t size)
{
    struct string_builder builder;

    string_init(&builder);
    check_output_render((struct text){data, size}, &builder);
    return string_take(&builder);
}

static void assert_rendered(const char *data, size_t size, const char *expected)
{
    char *rendered = render(data, size);

    assert_string_equal(rendered, expected);
    free(rendered);
}

#define ASSERT_RENDERED(literal, expected) assert_rendered((literal), sizeof(literal) - 1, (expected))

static void valid_text_stays_as_it_is(void **state)
{
    ASSERT_RENDERED("", "");
    assert_rendered(NULL, 0, "");
    ASSERT_RENDERED("plain\n\ttext \x1b[31mred\x1b[0m größe €\n", "plain\n\ttext \x1b[31mred\x1b[0m größe €\n");
}

static void bytes_that_are_not_utf8_are_written_out(void **state)
{
    ASSERT_RENDERED("a\xff\xc3(b", "a\\xff\\xc3(b");
    ASSERT_RENDERED("nul\0nul", "nul\\x00nul");
    ASSERT_RENDERED("torn \xe2\x82", "torn \\xe2\\x82");
}

static void of_a_long_output_both_ends_are_shown(void **state)
{
    size_t size = 2 * CHECK_OUTPUT_SHOWN + 1000;
    char *data = memory_alloc(size);
    const char *expected_gap = "\n[... 1000 bytes left out ...]\n";

    memset(data, 'h', size / 2);
    memset(data + size / 2, 't', size - size / 2);
    char *rendered = render(data, size);
    assert_int_equal(strlen(rendered), 2 * CHECK_OUTPUT_SHOWN + strlen(expected_gap));
    assert_int_equal(strspn(rendered, "h"), CHECK_OUTPUT_SHOWN);
    assert_memory_equal(rendered + CHECK_OUTPUT_SHOWN, expected_gap, strlen(expected_gap));
    assert_int_equal(strspn(rendered + CHECK_OUTPUT_SHOWN + strlen(expected_gap), "t"), CHECK_OUTPUT_SHOWN);
    free(rendered);
    free(data);
}

static void output_at_the_limit_is_shown_whole(void **state)
{
    size_t size = 2 * CHECK_OUTPUT_SHOWN;
    char *data = memory_alloc(size);

    memset(data, 'x', size);
    char *rendered = render(data, size);
    assert_int_equal(strspn(rendered, "x"), size);
    assert_int_equal(strlen(rendered), size);
    free(rendered);
    free(data);
}

static void no_character_is_torn_where_output_is_left_out(void **state)
{
    size_t count = CHECK_OUTPUT_SHOWN; /* three bytes each: both cuts would fall inside of a character */
    char *data = memory_alloc(count * 3);

    for (size_t i = 0; i < count; i++)
        memcpy(data + 3 * i, "€", 3);
    char *rendered = render(data, count * 3);
    assert_null(strstr(rendered, "\\x"));
    assert_non_null(strstr(rendered, "€\n[... "));
    assert_non_null(strstr(rendered, "bytes left out ...]\n€"));
    free(rendered);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_text_stays_as_it_is),
        cmocka_unit_test(bytes_that_are_not_utf8_are_written_out),
        cmocka_unit_test(of_a_long_output_both_ends_are_shown),
        cmocka_unit_test(output_at_the_limit_is_shown_whole),
        cmocka_unit_test(no_character_is_torn_where_output_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
