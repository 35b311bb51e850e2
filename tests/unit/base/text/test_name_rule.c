/* Rules for names: a name goes before patterns, patterns before the rest. */
#include <string.h>

#include "base/memory.h"
#include "base/text/name_rule.h"
#include "support/unit_test.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_exact_name_wins_over_patterns_before_it),
        cmocka_unit_test(the_first_matching_pattern_wins),
        cmocka_unit_test(a_name_with_characters_of_patterns_is_a_name_too),
        cmocka_unit_test(what_nothing_matches_gets_the_unnamed_rule),
        cmocka_unit_test(a_rule_covers_what_it_may_be_meant_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
