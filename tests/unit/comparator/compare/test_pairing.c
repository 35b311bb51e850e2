/* test_pairing.c: which outputs are compared with which. */
#include <stdio.h>
#include <stdlib.h>

#include "comparator/compare/pairing.h"
#include "support/results_fixture.h"

/* Pairs outputs of these names, NULL-terminated; the result is "a=b c=d | alone in first | alone in second". */
static char *pair_up(const char *const *first_names, const char *const *second_names, bool by_name)
{
    struct tensor_list lists[2] = {{0}, {0}};
    const char *const *names[] = {first_names, second_names};
    struct string_builder text;
    struct pairing pairing;

    for (int i = 0; i < 2; i++)
        for (const char *const *name = names[i]; *name != NULL; name++)
            ADD_FLOATS(&lists[i], *name, 1);
    pairing_init(&pairing, &lists[0], &lists[1], by_name, &(struct words){0});
    string_init(&text);
    for (size_t i = 0; i < pairing.count; i++)
        string_add_format(&text, "%s=%s ", pairing.items[i].first->name, pairing.items[i].second->name);
    string_add_format(&text, "| %s | %s", pairing.first_alone.names.data, pairing.second_alone.names.data);
    pairing_release(&pairing);
    tensor_list_release(&lists[0]);
    tensor_list_release(&lists[1]);
    return string_take(&text);
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NO_NAMES ((const char *const[]){NULL})

static void assert_pairs(const char *const *first, const char *const *second, const char *expected)
{
    char *text = pair_up(first, second, false);

    assert_string_equal(text, expected);
    free(text);
}

static void equal_names_are_partners_in_any_order(void **state)
{
    assert_pairs(NAMES("a", "b"), NAMES("b", "a"), "a=a b=b |  | ");
}

static void a_name_that_holds_the_other_is_next(void **state)
{
    assert_pairs(NAMES("Logits"), NAMES("other", "logits:0"), "Logits=logits:0 |  | 'other'");
    assert_pairs(NAMES("model/logits"), NAMES("other", "LOGITS"), "model/logits=LOGITS |  | 'other'");
}

static void the_position_is_last(void **state)
{
    assert_pairs(NAMES("a", "b"), NAMES("p", "q"), "a=p b=q |  | ");
    assert_pairs(NAMES("a", "b"), NAMES("p"), "a=p | 'b' | ");
}

static void by_name_alone_nothing_is_guessed(void **state)
{
    char *text = pair_up(NAMES("a", "logits", "y"), NAMES("y", "logits:0", "p"), true);

    assert_string_equal(text, "y=y | 'a', 'logits' | 'logits:0', 'p'");
    free(text);
}

static void an_output_with_its_own_namesake_is_nobody_elses(void **state)
{
    assert_pairs(NAMES("x", "y"), NAMES("y"), "y=y | 'x' | ");
    assert_pairs(NAMES("x", "x1"), NAMES("x1", "z"), "x1=x1 | 'x' | 'z'");
}

static void ignored_outputs_are_neither_paired_nor_missed(void **state)
{
    const struct words ignored = {.items = NAMES("b", "layer*"), .count = 2};
    struct tensor_list lists[2] = {{0}, {0}};
    struct pairing pairing;

    ADD_FLOATS(&lists[0], "a", 1);
    ADD_FLOATS(&lists[0], "b", 1);
    ADD_FLOATS(&lists[1], "layer1", 1);
    ADD_FLOATS(&lists[1], "b", 1);
    pairing_init(&pairing, &lists[0], &lists[1], false, &ignored);
    assert_int_equal(pairing.count, 0);
    assert_int_equal(pairing.first_alone.count, 1);
    assert_string_equal(pairing.first_alone.names.data, "'a'");
    assert_int_equal(pairing.second_alone.count, 0);
    pairing_release(&pairing);
    tensor_list_release(&lists[0]);
    tensor_list_release(&lists[1]);
}

static void nothing_is_paired_with_nothing(void **state)
{
    assert_pairs(NAMES("a"), NO_NAMES, "| 'a' | ");
    assert_pairs(NO_NAMES, NAMES("a"), "|  | 'a'");
    assert_pairs(NO_NAMES, NO_NAMES, "|  | ");
}

static void many_outputs_without_partner_are_counted_and_some_named(void **state)
{
    struct tensor_list none = {0}, many = {0};
    struct pairing pairing;
    char name[16];

    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof(name), "t%d", i);
        ADD_FLOATS(&many, name, 1);
    }
    pairing_init(&pairing, &none, &many, false, &(struct words){0});
    assert_int_equal(pairing.second_alone.count, 50);
    assert_string_equal(pairing.second_alone.names.data,
                        "'t0', 't1', 't2', 't3', 't4', 't5', 't6', 't7', 't8', 't9', ...");
    pairing_release(&pairing);
    tensor_list_release(&many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_names_are_partners_in_any_order),
        cmocka_unit_test(a_name_that_holds_the_other_is_next),
        cmocka_unit_test(the_position_is_last),
        cmocka_unit_test(by_name_alone_nothing_is_guessed),
        cmocka_unit_test(an_output_with_its_own_namesake_is_nobody_elses),
        cmocka_unit_test(ignored_outputs_are_neither_paired_nor_missed),
        cmocka_unit_test(nothing_is_paired_with_nothing),
        cmocka_unit_test(many_outputs_without_partner_are_counted_and_some_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
