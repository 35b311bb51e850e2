/* Isolation: the set that makes the difference is found, is 1-minimal, and takes about log2(n) checks. */
#include "support/unit_test.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "search/sets/set_isolation.h"

#define MAXIMUM 64

/* A configuration fails when it has all elements of at least one of these sets. */
struct rule {
    uint64_t sets[4];
    size_t count;
};

static uint64_t word_of(const struct bitset *set)
{
    return set->words[0];
}

static bool fails(const struct rule *rule, uint64_t configuration)
{
    for (size_t i = 0; i < rule->count; i++)
        if ((configuration & rule->sets[i]) == rule->sets[i])
            return true;
    return false;
}

/* What was seen, so that claims can be held against it. */
struct run {
    uint64_t found;
    size_t checks;
    bool necessary;
    uint64_t checked[1024];
    bool failed[1024];
};

static void isolate(const struct rule *rule, size_t count, struct run *ret)
{
    struct set_isolation search;
    bool more = set_isolation_start(&search, count);

    memset(ret, 0, sizeof(*ret));
    while (more) {
        uint64_t candidate = word_of(&search.candidate);
        bool failed = fails(rule, candidate);

        assert_true(ret->checks < ARRAY_LEN(ret->checked));
        assert_true(set_isolation_ops.remaining(&search) > 0);
        for (size_t i = 0; i < ret->checks; i++) /* nothing is checked twice but for the proof at the end */
            if (search.phase == ISOLATION_NARROW)
                assert_true(ret->checked[i] != candidate);
        ret->checked[ret->checks] = candidate;
        ret->failed[ret->checks++] = failed;
        more = set_isolation_ops.advance(&search, -1, failed ? VERDICT_FAIL : VERDICT_PASS);
    }
    assert_int_equal(search.checks, ret->checks);
    assert_int_equal(set_isolation_ops.remaining(&search), 0);
    ret->found = word_of(&search.found);
    ret->necessary = search.necessary;
    assert_int_equal(search.without, search.necessary ? VERDICT_PASS : VERDICT_FAIL);
    search_release(&set_isolation_ops, &search);
}

static uint64_t all_of(size_t count)
{
    return count == MAXIMUM ? UINT64_MAX : ((uint64_t)1 << count) - 1;
}

/* Whether a set was seen to fail (or to pass), counting what is known from the beginning. */
static bool was_seen(const struct run *run, size_t count, uint64_t set, bool failed)
{
    if (set == (failed ? all_of(count) : 0))
        return true;
    for (size_t i = 0; i < run->checks; i++)
        if (run->checked[i] == set && run->failed[i] == failed)
            return true;
    return false;
}

static void assert_proven(const struct run *run, size_t count)
{
    assert_true(was_seen(run, count, run->found, true));
    for (size_t i = 0; i < count; i++)
        if (run->found >> i & 1)
            assert_true(was_seen(run, count, run->found & ~((uint64_t)1 << i), false));
}

static size_t halvings(size_t count)
{
    size_t ret = 0;

    while (((size_t)1 << ret) < count)
        ret++;
    return ret;
}

static void one_culprit_is_found_with_log2_checks(void **state)
{
    for (size_t count = 1; count <= MAXIMUM; count++)
        for (size_t culprit = 0; culprit < count; culprit++) {
            struct rule rule = {.sets = {(uint64_t)1 << culprit}, .count = 1};
            struct run run;

            isolate(&rule, count, &run);
            assert_int_equal(run.found, rule.sets[0]);
            assert_true(run.necessary);
            assert_proven(&run, count);
            assert_in_range(run.checks, 0, halvings(count) + 2);
        }
}

static void two_that_only_fail_together_are_both_found(void **state)
{
    for (size_t count = 2; count <= 20; count++)
        for (size_t first = 0; first < count; first++)
            for (size_t second = first + 1; second < count; second++) {
                struct rule rule = {.sets = {(uint64_t)1 << first | (uint64_t)1 << second}, .count = 1};
                struct run run;

                isolate(&rule, count, &run);
                assert_int_equal(run.found, rule.sets[0]);
                assert_true(run.necessary);
                assert_proven(&run, count);
                assert_in_range(run.checks, 0, 2 * halvings(count) + 4);
            }
}

static void of_two_that_fail_each_by_itself_one_is_found_and_said_not_to_be_all(void **state)
{
    for (size_t count = 2; count <= 20; count++)
        for (size_t first = 0; first < count; first++)
            for (size_t second = first + 1; second < count; second++) {
                struct rule rule = {.sets = {(uint64_t)1 << first, (uint64_t)1 << second}, .count = 2};
                struct run run;

                isolate(&rule, count, &run);
                assert_true(run.found == rule.sets[0] || run.found == rule.sets[1]);
                assert_false(run.necessary);
                assert_proven(&run, count);
            }
}

static void any_monotone_rule_gives_a_set_that_is_proven(void **state)
{
    uint64_t random = 88172645463325252;

    for (size_t round = 0; round < 2000; round++) {
        size_t count = 1 + round % 40;
        struct rule rule = {.count = 1 + round % 3};
        struct run run;

        for (size_t i = 0; i < rule.count; i++)
            for (size_t k = 0; k <= round % 4; k++) {
                random ^= random << 13, random ^= random >> 7, random ^= random << 17;
                rule.sets[i] |= (uint64_t)1 << random % count;
            }
        isolate(&rule, count, &run);
        assert_proven(&run, count);
        assert_true(fails(&rule, run.found));
        assert_int_equal(run.necessary, !fails(&rule, all_of(count) & ~run.found));
    }
}

/* Fails when the number of elements is odd, or all are there: nothing about that is monotone. */
static void what_is_found_was_seen_to_fail_even_if_nothing_is_monotone(void **state)
{
    for (size_t count = 1; count <= 30; count++) {
        struct set_isolation search;
        bool more = set_isolation_start(&search, count), found_failed = count == 1;
        uint64_t failed[256];
        size_t failures = 0;

        while (more) {
            uint64_t candidate = word_of(&search.candidate);
            bool fail = __builtin_popcountll(candidate) % 2 == 1 || candidate == all_of(count);

            if (fail && failures < ARRAY_LEN(failed))
                failed[failures++] = candidate;
            assert_true(search.checks < 200);
            more = set_isolation_ops.advance(&search, -1, fail ? VERDICT_FAIL : VERDICT_PASS);
        }
        for (size_t i = 0; i < failures; i++)
            found_failed |= failed[i] == word_of(&search.found);
        assert_true(found_failed || word_of(&search.found) == all_of(count));
        search_release(&set_isolation_ops, &search);
    }
}

static void what_cannot_be_checked_counts_as_passed(void **state)
{
    struct set_isolation search;

    assert_true(set_isolation_start(&search, 8));
    assert_int_equal(word_of(&search.candidate), 0x0f);
    assert_true(set_isolation_ops.advance(&search, -1, VERDICT_SKIP));
    assert_int_equal(word_of(&search.candidate), 0x3f);
    search_release(&set_isolation_ops, &search);
}

/* The same elements without one of them: those behind it move up. */
static uint64_t without(uint64_t set, size_t element)
{
    uint64_t before = all_of(element);

    return (set & before) | ((set >> 1) & ~before);
}

/* As debug passes looks for the decisions of a compiler: what was found is left out, and it looks again. */
static void of_thirty_one_takes_eight_checks_and_two_take_sixteen(void **state)
{
    enum { COUNT = 30 };

    (void)state;
    for (size_t first = 0; first < COUNT; first++)
        for (size_t second = first; second < COUNT; second++) {
            struct rule rule = {.sets = {(uint64_t)1 << first, (uint64_t)1 << second}, .count = 2};
            struct run run;
            size_t checks, found;

            isolate(&rule, COUNT, &run);
            checks = run.checks;
            if (first == second) {
                assert_int_equal(run.found, rule.sets[0]);
                assert_true(checks <= 8);
                continue;
            }
            assert_true(run.found == rule.sets[0] || run.found == rule.sets[1]);
            found = run.found == rule.sets[0] ? first : second;
            rule = (struct rule){.sets = {without(rule.sets[found == first], found)}, .count = 1};
            isolate(&rule, COUNT - 1, &run);
            assert_int_equal(run.found, rule.sets[0]);
            assert_true(checks + run.checks + 1 <= 16); /* with the second one on again: the first is known already */
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_culprit_is_found_with_log2_checks),
        cmocka_unit_test(of_thirty_one_takes_eight_checks_and_two_take_sixteen),
        cmocka_unit_test(two_that_only_fail_together_are_both_found),
        cmocka_unit_test(of_two_that_fail_each_by_itself_one_is_found_and_said_not_to_be_all),
        cmocka_unit_test(any_monotone_rule_gives_a_set_that_is_proven),
        cmocka_unit_test(what_is_found_was_seen_to_fail_even_if_nothing_is_monotone),
        cmocka_unit_test(what_cannot_be_checked_counts_as_passed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
