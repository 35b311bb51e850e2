/* Tests of search/failure_rates.c: what is learned of a check, and that reductions that go by it do not lose the
 * bug. */
#include <stdlib.h>

#include "base/memory.h"
#include "search/doubtful_search.h"
#include "search/failure_rates.h"
#include "support/block_graph.h"
#include "support/unit_test.h"

static uint64_t random_state;

static bool happens(double probability)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(random_state >> 11) < probability * 9007199254740992.0;
}

static size_t random_below(size_t limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(random_state >> 33) % limit;
}

/* ---- Rates ---- */

static void original_is_run_until_it_has_failed_three_times(void **state)
{
    assert_int_equal(failure_rates_judge_bad((struct run_counts){3, 2}), SEQUENTIAL_OPEN);
    assert_int_equal(failure_rates_judge_bad((struct run_counts){4, 3}), SEQUENTIAL_PRESENT);
    assert_int_equal(failure_rates_judge_bad((struct run_counts){19, 0}), SEQUENTIAL_OPEN);
    assert_int_equal(failure_rates_judge_bad((struct run_counts){20, 0}), SEQUENTIAL_ABSENT);
    assert_int_equal(failure_rates_judge_bad((struct run_counts){20, 1}), SEQUENTIAL_PRESENT);
}

static void original_that_always_fails_is_run_five_times(void **state)
{
    assert_int_equal(failure_rates_judge_bad((struct run_counts){3, 3}), SEQUENTIAL_OPEN);
    assert_int_equal(failure_rates_judge_bad((struct run_counts){4, 4}), SEQUENTIAL_OPEN);
    assert_int_equal(failure_rates_judge_bad((struct run_counts){5, 5}), SEQUENTIAL_PRESENT);
}

static void good_one_may_fail_now_and_then(void **state)
{
    assert_int_equal(failure_rates_judge_good((struct run_counts){4, 0}), SEQUENTIAL_OPEN);
    assert_int_equal(failure_rates_judge_good((struct run_counts){5, 0}), SEQUENTIAL_ABSENT);
    assert_int_equal(failure_rates_judge_good((struct run_counts){5, 5}), SEQUENTIAL_PRESENT);
    assert_int_equal(failure_rates_judge_good((struct run_counts){19, 1}), SEQUENTIAL_OPEN);
    assert_int_equal(failure_rates_judge_good((struct run_counts){20, 3}), SEQUENTIAL_ABSENT);
    assert_int_equal(failure_rates_judge_good((struct run_counts){20, 15}), SEQUENTIAL_PRESENT);
}

static void reliable_check_needs_one_run_for_each_verdict(void **state)
{
    struct failure_rates rates;

    failure_rates_init(&rates, true);
    failure_rates_learn_bad(&rates, (struct run_counts){5, 5});
    assert_int_equal(failure_rates_judge(&rates, (struct run_counts){1, 0}, WEIGHTY_FAILURE), SEQUENTIAL_ABSENT);
    assert_int_equal(failure_rates_judge(&rates, (struct run_counts){1, 1}, WEIGHTY_FAILURE), SEQUENTIAL_PRESENT);
}

static void failures_are_confirmed_where_there_may_be_false_ones(void **state)
{
    struct failure_rates rates;

    failure_rates_init(&rates, false);
    failure_rates_learn_bad(&rates, (struct run_counts){5, 5});
    assert_int_equal(failure_rates_judge(&rates, (struct run_counts){1, 0}, WEIGHTY_FAILURE), SEQUENTIAL_ABSENT);
    assert_int_equal(failure_rates_judge(&rates, (struct run_counts){2, 2}, WEIGHTY_FAILURE), SEQUENTIAL_OPEN);
    assert_int_equal(failure_rates_judge(&rates, (struct run_counts){3, 3}, WEIGHTY_FAILURE), SEQUENTIAL_PRESENT);
    failure_rates_learn(&rates, (struct run_counts){400, 0}, VERDICT_PASS);
    assert_true(failure_rate_without_bug(&rates) == 0.01);
    assert_int_equal(failure_rates_judge(&rates, (struct run_counts){1, 1}, WEIGHTY_FAILURE), SEQUENTIAL_OPEN);
    assert_int_equal(failure_rates_judge(&rates, (struct run_counts){2, 2}, WEIGHTY_FAILURE), SEQUENTIAL_PRESENT);
}

static void verdict_that_the_search_goes_on_from_takes_more_runs(void **state)
{
    struct failure_rates rates;

    failure_rates_init(&rates, false);
    failure_rates_learn_bad(&rates, (struct run_counts){20, 16});
    assert_int_equal(failure_rates_judge(&rates, (struct run_counts){3, 0}, WEIGHTY_FAILURE), SEQUENTIAL_ABSENT);
    assert_int_equal(failure_rates_judge(&rates, (struct run_counts){3, 0}, WEIGHTY_PASS), SEQUENTIAL_OPEN);
    assert_int_equal(failure_rates_judge(&rates, (struct run_counts){3, 0}, WEIGHTY_BOTH), SEQUENTIAL_OPEN);
    assert_int_equal(failure_rates_judge(&rates, (struct run_counts){2, 2}, WEIGHTY_FAILURE), SEQUENTIAL_OPEN);
    assert_int_equal(failure_rates_judge(&rates, (struct run_counts){2, 2}, WEIGHTY_BOTH), SEQUENTIAL_OPEN);
    assert_int_equal(failure_rates_judge(&rates, (struct run_counts){2, 2}, WEIGHTY_PASS), SEQUENTIAL_PRESENT);
}

static void check_that_fails_and_passes_is_not_reliable(void **state)
{
    struct failure_rates rates;

    failure_rates_init(&rates, true);
    failure_rates_learn_bad(&rates, (struct run_counts){5, 5});
    failure_rates_learn(&rates, (struct run_counts){2, 1}, VERDICT_FAIL);
    assert_int_equal(failure_rates_judge(&rates, (struct run_counts){1, 0}, WEIGHTY_FAILURE), SEQUENTIAL_OPEN);
}

static void rate_that_falls_is_followed_until_nothing_can_be_told(void **state)
{
    struct failure_rates rates;

    failure_rates_init(&rates, false);
    failure_rates_learn_bad(&rates, (struct run_counts){4, 3});
    failure_rates_learn(&rates, (struct run_counts){40, 4}, VERDICT_PASS);
    assert_true(failure_rates_differ(&rates));
    for (size_t i = 0; i < 20; i++)
        failure_rates_learn(&rates, (struct run_counts){20, 3}, VERDICT_FAIL);
    assert_true(failure_rate_with_bug(&rates) < 0.2);
    assert_false(failure_rates_differ(&rates));
}

/* ---- Reductions ---- */

struct flaky_check {
    size_t culprits[3];
    double present, absent;
    size_t runs;
};

static bool has_bug(const struct flaky_check *check, const struct bitset *set)
{
    for (size_t i = 0; i < ARRAY_LEN(check->culprits); i++)
        if (!bitset_has(set, check->culprits[i]))
            return false;
    return true;
}

static void run_once(struct flaky_check *check, bool bug, struct run_counts *counts)
{
    check->runs++;
    counts->runs++;
    counts->fails += happens(bug ? check->present : check->absent) ? 1 : 0;
}

static void calibrate(struct flaky_check *check, struct failure_rates *rates)
{
    struct run_counts counts = {0};

    do
        run_once(check, true, &counts);
    while (failure_rates_judge_bad(counts) == SEQUENTIAL_OPEN);
    failure_rates_learn_bad(rates, counts);
}

static enum verdict decide(struct flaky_check *check, struct failure_rates *rates, const struct bitset *candidate,
                           bool second)
{
    bool bug = has_bug(check, candidate);
    struct run_counts counts = {0};
    enum sequential_state state;

    do {
        run_once(check, bug, &counts);
        state = failure_rates_judge(rates, counts, second ? WEIGHTY_SECOND_LOOK : WEIGHTY_FAILURE);
    } while (state == SEQUENTIAL_OPEN);
    enum verdict verdict = state == SEQUENTIAL_PRESENT  ? VERDICT_FAIL
                           : state == SEQUENTIAL_ABSENT ? VERDICT_PASS
                                                        : VERDICT_SKIP;
    failure_rates_learn(rates, counts, verdict);
    return verdict;
}

static enum verdict decide_by_one_run(struct flaky_check *check, const struct bitset *candidate)
{
    struct run_counts counts = {0};

    run_once(check, has_bug(check, candidate), &counts);
    return counts.fails > 0 ? VERDICT_FAIL : VERDICT_PASS;
}

/* Returns whether the result has the bug. */
static bool reduce(struct flaky_check *check, bool once, size_t *nodes)
{
    enum { BLOCKS = 9, TRUSTED = 6 };
    struct doubtful_search search;
    struct failure_rates rates;
    struct bitset all;
    struct dag dag;
    bool more, kept;

    block_graph_init(&dag, BLOCKS);
    for (size_t i = 0; i < ARRAY_LEN(check->culprits); i++)
        check->culprits[i] = random_below(dag.count);
    bitset_init(&all, dag.count);
    bitset_fill(&all);
    failure_rates_init(&rates, false);
    calibrate(check, &rates);
    more = doubtful_search_start(&search, &dag, &all, once ? 0 : TRUSTED);
    while (more && failure_rates_differ(&rates)) {
        const struct bitset *candidate = doubtful_search_candidate(&search);
        enum verdict verdict =
            once ? decide_by_one_run(check, candidate) : decide(check, &rates, candidate, search.looks_again);

        more = doubtful_search_ops.advance(&search, -1, verdict);
    }
    kept = has_bug(check, &search.search.current);
    *nodes += bitset_count(&search.search.current);
    doubtful_search_ops.release(&search);
    bitset_release(&all);
    dag_release(&dag);
    return kept;
}

enum { REDUCTIONS = 200 };

static size_t count_kept(double present, double absent, bool once, double *ret_runs)
{
    struct flaky_check check = {.present = present, .absent = absent};
    size_t kept = 0, nodes = 0;

    for (size_t i = 0; i < REDUCTIONS; i++)
        kept += reduce(&check, once, &nodes) ? 1 : 0;
    *ret_runs = (double)check.runs / REDUCTIONS;
    print_message("failure rates %g and %g, %s: %zu of %d keep the bug, %.1f runs, %.2f nodes\n", present, absent,
                  once ? "one run each" : "as many runs as needed", kept, REDUCTIONS, *ret_runs,
                  (double)nodes / REDUCTIONS);
    return kept;
}

static void reductions_with_a_flaky_check_keep_the_bug(void **state)
{
    static const struct {
        double present, absent, most_runs;
    } cases[] = {{0.8, 0.05, 200}, {0.9, 0.1, 200}, {0.6, 0, 300}, {1, 0, 100}};

    random_state = 5;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        double runs;
        size_t kept = count_kept(cases[i].present, cases[i].absent, false, &runs);

        assert_true(kept * 100 >= 98 * REDUCTIONS);
        assert_true(runs <= cases[i].most_runs);
    }
}

static void reductions_with_one_run_for_each_verdict_lose_it(void **state)
{
    double runs;

    random_state = 6;
    assert_true(count_kept(0.8, 0.05, true, &runs) * 100 < 70 * REDUCTIONS);
    assert_true(count_kept(0.9, 0.1, true, &runs) * 100 < 50 * REDUCTIONS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(original_is_run_until_it_has_failed_three_times),
        cmocka_unit_test(original_that_always_fails_is_run_five_times),
        cmocka_unit_test(good_one_may_fail_now_and_then),
        cmocka_unit_test(reliable_check_needs_one_run_for_each_verdict),
        cmocka_unit_test(failures_are_confirmed_where_there_may_be_false_ones),
        cmocka_unit_test(verdict_that_the_search_goes_on_from_takes_more_runs),
        cmocka_unit_test(check_that_fails_and_passes_is_not_reliable),
        cmocka_unit_test(rate_that_falls_is_followed_until_nothing_can_be_told),
        cmocka_unit_test(reductions_with_a_flaky_check_keep_the_bug),
        cmocka_unit_test(reductions_with_one_run_for_each_verdict_lose_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
