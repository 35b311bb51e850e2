/* Rules for names, and the names that somebody may have meant. */
#include <string.h>

#include "support/unit_test.h"

#include "base/memory.h"
#include "base/text/names.h"

/* ---- A name goes before patterns, patterns before the rest ---- */

struct rule {
    const char *name;
    int value;
};

static const struct rule rules[] = {{"", 1}, {"layer*", 2}, {"layer7", 3}, {"*7", 4}, {"a[0]", 5}, {"b?", 6}};

static int found(const char *name)
{
    const struct rule *rule = name_rule_find(rules, ARRAY_LEN(rules), sizeof(rules[0]), name);

    return rule != NULL ? rule->value : 0;
}

static void an_exact_name_wins_over_patterns_before_it(void **state)
{
    assert_int_equal(found("layer7"), 3);
}

static void the_first_matching_pattern_wins(void **state)
{
    assert_int_equal(found("layer17"), 2);
    assert_int_equal(found("node17"), 4);
    assert_int_equal(found("b1"), 6);
}

static void a_name_with_characters_of_patterns_is_a_name_too(void **state)
{
    assert_int_equal(found("a[0]"), 5);
    assert_int_equal(found("a0"), 5);
}

static void what_nothing_matches_gets_the_unnamed_rule(void **state)
{
    assert_int_equal(found("other"), 1);
    assert_null(name_rule_find(rules + 1, ARRAY_LEN(rules) - 1, sizeof(rules[0]), "other"));
    assert_null(name_rule_find(NULL, 0, sizeof(rules[0]), "other"));
}

static void a_rule_covers_what_it_may_be_meant_for(void **state)
{
    assert_true(name_rule_covers("", "x"));
    assert_true(name_rule_covers("x", "x"));
    assert_true(name_rule_covers("a[0]", "a[0]"));
    assert_true(name_rule_covers("lay*", "layer"));
    assert_false(name_rule_covers("lay", "layer"));
}

/* ---- Short lists ---- */

static void assert_list_of(size_t count, const char *expected)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    struct string_builder text;
    struct short_list list = {.text = &text, .most = 2};

    string_init(&text);
    string_add(&text, "made: ");
    for (size_t i = 0; i < count; i++)
        short_list_add(&list, names[i]);
    short_list_end(&list);
    assert_int_equal(list.count, count);
    assert_string_equal(text.data, expected);
    string_release(&text);
}

static void a_short_list_tells_the_first_names_and_counts_the_others(void **state)
{
    assert_list_of(0, "made: ");
    assert_list_of(2, "made: 'a', 'b'");
    assert_list_of(4, "made: 'a', 'b' and 2 more");
}

/* ---- Close names ---- */

static void assert_suggestion(const char *wanted, const char *const *offered, size_t count, const char *expected)
{
    struct close_names names;
    struct string_builder text;

    string_init(&text);
    close_names_start(&names, text_of(wanted));
    for (size_t i = 0; i < count; i++)
        close_names_offer(&names, text_of(offered[i]));
    close_names_add_to(&names, &text);
    assert_string_equal(text.size > 0 ? text.data : "", expected);
    string_release(&text);
}

static void closest_names_come_first_and_once(void **state)
{
    const char *const offered[] = {"conv12", "conv1", "relu", "conv1", "conv2", "convolution", "conv", "Conv1_bias"};

    assert_suggestion("conv1_", offered, ARRAY_LEN(offered), "; did you mean 'conv12', 'conv1' or 'conv2'?");
    assert_suggestion("CONV1_b", offered, ARRAY_LEN(offered), "; did you mean 'Conv1_bias'?");
    assert_suggestion("rleu", offered, ARRAY_LEN(offered), "; did you mean 'relu'?");
}

static void nothing_is_suggested_when_nothing_is_close(void **state)
{
    const char *const offered[] = {"relu", "", "softmax", "input"};

    assert_suggestion("output", offered, ARRAY_LEN(offered), "");

    assert_suggestion("conv", offered, ARRAY_LEN(offered), "");
    assert_suggestion("", offered, ARRAY_LEN(offered), "");
    assert_suggestion("conv", NULL, 0, "");
}

static void names_longer_than_the_table_are_compared_by_their_beginnings(void **state)
{
    char wanted[1000], other[1000];

    for (size_t i = 0; i < sizeof(wanted); i++)
        wanted[i] = other[i] = 'a';
    wanted[999] = other[999] = '\0';
    other[3] = 'b';
    const char *const offered[] = {other};
    struct close_names names;
    close_names_start(&names, text_of(wanted));
    close_names_offer(&names, text_of(offered[0]));
    assert_int_equal(names.count, 1);
    assert_int_equal(names.best[0].distance, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_exact_name_wins_over_patterns_before_it),
        cmocka_unit_test(the_first_matching_pattern_wins),
        cmocka_unit_test(a_name_with_characters_of_patterns_is_a_name_too),
        cmocka_unit_test(what_nothing_matches_gets_the_unnamed_rule),
        cmocka_unit_test(a_rule_covers_what_it_may_be_meant_for),
        cmocka_unit_test(a_short_list_tells_the_first_names_and_counts_the_others),
        cmocka_unit_test(closest_names_come_first_and_once),
        cmocka_unit_test(nothing_is_suggested_when_nothing_is_close),
        cmocka_unit_test(names_longer_than_the_table_are_compared_by_their_beginnings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
