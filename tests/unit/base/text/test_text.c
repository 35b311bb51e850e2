/* Comparing and matching text; patterns as Python's fnmatch. */
#include <string.h>

#include "base/memory.h"
#include "base/text/text.h"
#include "support/unit_test.h"

static bool matches(const char *name, const char *pattern)
{
    return text_matches_pattern(text_of(name), text_of(pattern));
}

static void null_is_empty_text(void **state)
{
    assert_int_equal(text_of(NULL).size, 0);
    assert_true(text_equal(text_of(NULL), TEXT("")));
    assert_true(text_equal((struct text){NULL, 0}, (struct text){NULL, 0}));
    assert_true(text_equal_string((struct text){NULL, 0}, NULL));
}

static void text_ends_at_its_size(void **state)
{
    struct text conv = {"conv1_bias", 5};

    assert_true(text_equal_string(conv, "conv1"));
    assert_false(text_equal_string(conv, "conv1_bias"));
    assert_false(text_contains(conv, TEXT("_bias")));
    assert_false(text_contains_ignoring_case(conv, TEXT("_BIAS")));
}

static void empty_text_is_contained_in_all(void **state)
{
    assert_true(text_contains((struct text){NULL, 0}, (struct text){NULL, 0}));
    assert_true(text_contains(TEXT("a"), TEXT("")));
    assert_true(text_contains_ignoring_case((struct text){NULL, 0}, TEXT("")));
    assert_true(text_matches_pattern((struct text){NULL, 0}, (struct text){NULL, 0}));
    assert_false(text_contains(TEXT(""), TEXT("a")));
}

static void first_and_last_place_are_found(void **state)
{
    struct text text = TEXT("a:b::c");

    assert_int_equal(text_find(text, TEXT(":")), 1);
    assert_int_equal(text_find_last(text, TEXT(":")), 4);
    assert_int_equal(text_find_last(text, TEXT("::c")), 3);
    assert_int_equal(text_find_last(text, text), 0);
    assert_true(text_find(text, TEXT("::c:")) == SIZE_MAX);
    assert_true(text_find_last(text, TEXT(":::")) == SIZE_MAX);
    assert_true(text_find_last(TEXT(""), TEXT(":")) == SIZE_MAX);
    assert_true(text_find((struct text){NULL, 0}, TEXT(":")) == SIZE_MAX);
}

static void case_is_ignored_for_ascii_letters_only(void **state)
{
    assert_true(text_contains_ignoring_case(TEXT("xxInf__"), TEXT("iNF")));
    assert_true(text_contains_ignoring_case(TEXT("aaab"), TEXT("AAB")));
    assert_false(text_contains_ignoring_case(TEXT("a@b"), TEXT("a`b"))); /* differ in the bit that case uses */
    assert_false(text_contains_ignoring_case(TEXT("\xC3\xA9"), TEXT("\xC3\x89")));
}

static void star_matches_any_number_of_characters(void **state)
{
    assert_true(matches("", "*"));
    assert_true(matches("", "***"));
    assert_true(matches("conv1/weight", "conv*"));
    assert_true(matches(".hidden", "*"));
    assert_true(matches("aXbXc", "a*b*c"));
    assert_true(matches("mississippi", "m*iss*ip*i"));
    assert_false(matches("mississippi", "m*iss*ix*i"));
    assert_false(matches("abc", "*b"));
    assert_false(matches("ab", "abc*"));
}

static void question_mark_matches_one_character_not_one_byte(void **state)
{
    assert_true(matches("a", "?"));
    assert_true(matches("\xC3\xA9", "?"));
    assert_true(matches("\xF0\x9F\x98\x80", "?"));
    assert_false(matches("", "?"));
    assert_false(matches("ab", "?"));
    assert_true(matches("\xFF\xFE", "??")); /* not UTF-8: bytes count */
}

static void sets_hold_characters_and_ranges(void **state)
{
    assert_true(matches("conv3", "conv[0-9]"));
    assert_false(matches("convx", "conv[0-9]"));
    assert_true(matches("b", "[abc]"));
    assert_false(matches("b", "[!abc]"));
    assert_true(matches("d", "[!abc]"));
    assert_false(matches("", "[!abc]"));
    assert_true(matches("\xC3\xA9", "[\xC3\xA0-\xC3\xBF]"));
    assert_false(matches("a", "[\xC3\xA0-\xC3\xBF]"));
}

static void odd_sets_are_read_as_python_reads_them(void **state)
{
    assert_true(matches("]", "[]]"));
    assert_false(matches("]", "[!]]"));
    assert_true(matches("a", "[!]]"));
    assert_true(matches("-", "[a-]"));
    assert_true(matches("-", "[-a]"));
    assert_true(matches("-", "[a-c-e]"));
    assert_true(matches("e", "[a-c-e]"));
    assert_false(matches("d", "[a-c-e]"));
    assert_false(matches("b", "[c-a]"));
    assert_true(matches("b", "[!c-a]"));
    assert_true(matches("^", "[^]"));
    assert_true(matches("[", "["));
    assert_true(matches("[abc", "[abc"));
    assert_true(matches("[!", "[!"));
    assert_true(matches("\\", "[\\]"));
    assert_true(matches("*", "[*]"));
    assert_false(matches("x", "[*]"));
}

static void case_matters_in_patterns(void **state)
{
    assert_false(matches("Conv", "conv"));
}

static void many_stars_do_not_take_exponential_time(void **state)
{
    char name[2001], pattern[201];

    memset(name, 'a', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    for (size_t i = 0; i + 1 < sizeof(pattern); i += 2)
        memcpy(pattern + i, "*a", 3);
    pattern[sizeof(pattern) - 2] = 'b';
    assert_false(matches(name, pattern));
}

static void valid_utf8_has_a_length(void **state)
{
    assert_int_equal(text_utf8_length("a", 1), 1);
    assert_int_equal(text_utf8_length("\0", 1), 1);
    assert_int_equal(text_utf8_length("\xC2\x80", 2), 2);
    assert_int_equal(text_utf8_length("\xE0\xA0\x80", 3), 3);
    assert_int_equal(text_utf8_length("\xEF\xBF\xBF", 3), 3);
    assert_int_equal(text_utf8_length("\xF4\x8F\xBF\xBF", 4), 4);
}

static void invalid_utf8_has_none(void **state)
{
    static const struct text invalid[] = {
        {"", 0},
        {"\x80", 1},             /* continues nothing */
        {"\xC3", 1},             /* cut */
        {"\xC0\xAF", 2},         /* overlong */
        {"\xE0\x80\xAF", 3},     /* overlong */
        {"\xF0\x8F\xBF\xBF", 4}, /* overlong */
        {"\xED\xA0\x80", 3},     /* surrogate */
        {"\xF4\x90\x80\x80", 4}, /* above U+10FFFF */
        {"\xF8\x88\x80\x80", 4}, /* five bytes */
        {"\xE2\x28\xA1", 3},     /* second byte */
        {"\xE2\x82\x28", 3},     /* third byte */
        {"\xFF", 1},
    };

    for (size_t i = 0; i < ARRAY_LEN(invalid); i++)
        assert_int_equal(text_utf8_length(invalid[i].data, invalid[i].size), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_is_empty_text),
        cmocka_unit_test(text_ends_at_its_size),
        cmocka_unit_test(empty_text_is_contained_in_all),
        cmocka_unit_test(first_and_last_place_are_found),
        cmocka_unit_test(case_is_ignored_for_ascii_letters_only),
        cmocka_unit_test(star_matches_any_number_of_characters),
        cmocka_unit_test(question_mark_matches_one_character_not_one_byte),
        cmocka_unit_test(sets_hold_characters_and_ranges),
        cmocka_unit_test(odd_sets_are_read_as_python_reads_them),
        cmocka_unit_test(case_matters_in_patterns),
        cmocka_unit_test(many_stars_do_not_take_exponential_time),
        cmocka_unit_test(valid_utf8_has_a_length),
        cmocka_unit_test(invalid_utf8_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
