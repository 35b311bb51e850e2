/* test_option_words.c: values that begin with dashes stay values. */
#include "support/unit_test.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/text/option_words.h"
#include "base/text/string_builder.h"

static void assert_added(const char *const *values, size_t count, const char *expected)
{
    struct word_list list = {0};
    struct arena arena;
    SCOPED_STRING(text);

    arena_init(&arena);
    option_words_add(&list, &arena, "--names", (struct words){.items = (const char **)values, .count = count});
    for (size_t i = 0; i < list.count; i++)
        string_add_format(&text, "%s|", list.items[i]);
    assert_string_equal(text.data, expected);
    free(list.items);
    arena_release(&arena);
}

static void values_follow_the_option(void **state)
{
    assert_added((const char *const[]){"a", "b"}, 2, "--names|a|b|");
}

static void values_are_attached_where_one_begins_with_a_dash(void **state)
{
    assert_added((const char *const[]){"a", "--b", "-1"}, 3, "--names=a|--names=--b|--names=-1|");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_follow_the_option),
        cmocka_unit_test(values_are_attached_where_one_begins_with_a_dash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
