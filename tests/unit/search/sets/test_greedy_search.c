/* Greedy search: what does not matter is simplified, in few checks; what was found was seen to fail. */
#include "support/unit_test.h"

#include <string.h>

#include "base/memory.h"
#include "search/sets/greedy_search.h"

#define MAXIMUM 64

/* The largest choice that each element bears: a configuration fails when no element has a choice that is not among
 * `allowed`, a bit set. Choice 0 always is. */
struct rule {
    uint8_t allowed[MAXIMUM];
};

static bool fails(const struct rule *rule, const uint8_t *choices, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (choices[i] != 0 && !(rule->allowed[i] >> choices[i] & 1))
            return false;
    return true;
}

/* Returns the number of checks; the result goes to `ret`. */
static size_t search(const struct rule *rule, const uint8_t *alternatives, size_t count, uint8_t *ret)
{
    struct greedy_search greedy;
    bool more = greedy_search_start(&greedy, alternatives, count);
    size_t checks = 0;
    uint8_t known[MAXIMUM] = {0};

    while (more) {
        bool failed = fails(rule, greedy.candidate, count);

        assert_true(memcmp(greedy.candidate, greedy.current, count) != 0);
        assert_true(greedy_search_ops.remaining(&greedy) > 0);
        if (failed)
            memcpy(known, greedy.candidate, count);
        checks++;
        assert_true(checks < 2000);
        more = greedy_search_ops.advance(&greedy, -1, failed ? VERDICT_FAIL : VERDICT_PASS);
        assert_memory_equal(greedy.current, known, count);
    }
    assert_int_equal(greedy_search_ops.remaining(&greedy), 0);
    assert_int_equal(greedy.checks, checks);
    memcpy(ret, greedy.current, count);
    greedy_search_ops.release(&greedy);
    return checks;
}

static void one_check_is_enough_when_nothing_matters(void **state)
{
    uint8_t alternatives[MAXIMUM], found[MAXIMUM];
    struct rule rule;

    memset(alternatives, 3, sizeof(alternatives));
    memset(rule.allowed, 0xff, sizeof(rule.allowed));
    assert_int_equal(search(&rule, alternatives, MAXIMUM, found), 1);
    for (size_t i = 0; i < MAXIMUM; i++)
        assert_int_equal(found[i], 1);
}

static void elements_that_matter_stay_and_all_others_get_the_first_alternative(void **state)
{
    for (size_t first = 0; first < MAXIMUM; first += 5)
        for (size_t second = first; second < MAXIMUM; second += 7) {
            uint8_t alternatives[MAXIMUM], found[MAXIMUM];
            struct rule rule;

            memset(alternatives, 1, sizeof(alternatives));
            memset(rule.allowed, 0xff, sizeof(rule.allowed));
            rule.allowed[first] = rule.allowed[second] = 0;
            assert_in_range(search(&rule, alternatives, MAXIMUM, found), 13, 25); /* 1 + 2 * 2 * 6 */
            for (size_t i = 0; i < MAXIMUM; i++)
                assert_int_equal(found[i], i != first && i != second);
        }
}

static void an_element_gets_the_first_of_its_alternatives_that_is_possible(void **state)
{
    static const uint8_t alternatives[] = {3, 3, 3, 1, 0, 2, 3};
    static const uint8_t expected[] = {1, 2, 3, 0, 0, 2, 0};
    struct rule rule = {.allowed = {0x0e, 0x0c, 0x08, 0x0c, 0x0e, 0x0c, 0}};
    uint8_t found[ARRAY_LEN(alternatives)];

    search(&rule, alternatives, ARRAY_LEN(alternatives), found);
    assert_memory_equal(found, expected, sizeof(expected));
}

static void without_alternatives_there_is_nothing_to_try(void **state)
{
    static const uint8_t none[] = {0, 0};
    struct greedy_search greedy;

    assert_false(greedy_search_start(&greedy, none, 0));
    greedy_search_ops.release(&greedy);
    assert_false(greedy_search_start(&greedy, none, ARRAY_LEN(none)));
    assert_int_equal(greedy_search_ops.remaining(&greedy), 0);
    greedy_search_ops.release(&greedy);
}

static void what_cannot_be_checked_is_not_gone_on_with(void **state)
{
    static const uint8_t alternatives[] = {1, 1};
    struct greedy_search greedy;

    assert_true(greedy_search_start(&greedy, alternatives, 2));
    assert_true(greedy_search_ops.advance(&greedy, -1, VERDICT_SKIP));
    assert_true(greedy_search_ops.advance(&greedy, -1, VERDICT_SKIP));
    assert_false(greedy_search_ops.advance(&greedy, -1, VERDICT_SKIP));
    assert_int_equal(greedy.current[0] + greedy.current[1], 0);
    greedy_search_ops.release(&greedy);
}

/* As lookahead needs it: what becomes of a copy does not touch the original. */
static void a_copy_goes_its_own_way(void **state)
{
    uint8_t alternatives[MAXIMUM];
    struct greedy_search greedy, copy;

    memset(alternatives, 2, sizeof(alternatives));
    greedy_search_start(&greedy, alternatives, MAXIMUM);
    for (int i = 0; i < 9; i++)
        greedy_search_ops.advance(&greedy, -1, i % 3 == 2 ? VERDICT_FAIL : VERDICT_PASS);
    greedy_search_ops.copy(&copy, &greedy);
    assert_memory_equal(copy.candidate, greedy.candidate, MAXIMUM);
    greedy_search_ops.advance(&copy, -1, VERDICT_FAIL);
    assert_memory_not_equal(copy.current, greedy.current, MAXIMUM);
    greedy_search_ops.advance(&greedy, -1, VERDICT_FAIL);
    while (copy.choice != 0) { /* the same verdicts lead both the same way */
        enum verdict verdict = copy.checks % 2 == 0 ? VERDICT_FAIL : VERDICT_PASS;

        assert_memory_equal(copy.candidate, greedy.candidate, MAXIMUM);
        assert_int_equal(greedy_search_ops.advance(&copy, -1, verdict),
                         greedy_search_ops.advance(&greedy, -1, verdict));
    }
    assert_int_equal(greedy.choice, 0);
    assert_memory_equal(copy.current, greedy.current, MAXIMUM);
    greedy_search_ops.release(&copy);
    greedy_search_ops.release(&greedy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_check_is_enough_when_nothing_matters),
        cmocka_unit_test(elements_that_matter_stay_and_all_others_get_the_first_alternative),
        cmocka_unit_test(an_element_gets_the_first_of_its_alternatives_that_is_possible),
        cmocka_unit_test(without_alternatives_there_is_nothing_to_try),
        cmocka_unit_test(what_cannot_be_checked_is_not_gone_on_with),
        cmocka_unit_test(a_copy_goes_its_own_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
