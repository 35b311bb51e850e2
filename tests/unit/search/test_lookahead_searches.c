/* Tests of search/lookahead.c under the searches of the program: any number of checks at a time leads the same way, and
 * more of them lead there sooner. */
#include <stdlib.h>

#include "base/memory.h"
#include "search/doubtful_search.h"
#include "search/index_search.h"
#include "search/sets/precision_search.h"
#include "search/sets/set_isolation.h"
#include "support/block_graph.h"
#include "support/simulated_jobs.h"
#include "support/unit_test.h"

enum { CASES = 200, MOST_CULPRITS = 4 };

/* Verdicts by lot, but always the same one on the same candidate; or by what is to blame. */
struct oracle {
    uint64_t seed;
    size_t failures; /* of 8 */
    size_t culprits[MOST_CULPRITS], count;
    struct hash (*identify)(const void *search, int64_t *ret_nodes);
};

static enum verdict check_by_lot(void *data, const void *search)
{
    const struct oracle *oracle = data;
    int64_t nodes;
    struct hash mixed = hash_combine(oracle->identify(search, &nodes), (struct hash){oracle->seed, 0});

    if (mixed.high % 16 == 0)
        return VERDICT_SKIP;
    return mixed.low % 8 < oracle->failures ? VERDICT_FAIL : VERDICT_PASS;
}

static struct hash hash_of_set(const struct bitset *set)
{
    return hash_bytes(set->words, bitset_words(set) * sizeof(*set->words));
}

/* ---- The searches ---- */

/* Several places to cut at leave the same nodes. */
static struct hash identify_index(const void *search, int64_t *ret_nodes)
{
    const struct index_search *index_search = search;

    *ret_nodes = index_search->next / 3;
    return (struct hash){(uint64_t)(index_search->next / 2), 7};
}

static struct hash identify_minimal(const void *search, int64_t *ret_nodes)
{
    const struct minimal_search *minimal = search;

    *ret_nodes = (int64_t)bitset_count(&minimal->candidate);
    return hash_of_set(&minimal->candidate);
}

static struct hash identify_doubtful(const void *search, int64_t *ret_nodes)
{
    const struct doubtful_search *doubtful = search;
    const struct bitset *candidate = doubtful_search_candidate(doubtful);
    struct hash looks_again = {doubtful->looks_again, 0};

    *ret_nodes = (int64_t)bitset_count(candidate);
    return hash_combine(hash_of_set(candidate), looks_again);
}

static struct hash identify_isolation(const void *search, int64_t *ret_nodes)
{
    *ret_nodes = 0;
    return hash_of_set(&((const struct set_isolation *)search)->candidate);
}

static struct hash identify_precision(const void *search, int64_t *ret_nodes)
{
    *ret_nodes = 0;
    return hash_of_set(&((const struct precision_search *)search)->candidate);
}

/* ---- The same way ---- */

/* Three ways to the same end: one check at a time, and several that end in any order. */
static void assert_same_way(struct simulated_search *subject, const void *search, struct oracle *oracle)
{
    static const size_t jobs[] = {1, 2, 7};
    struct simulated_outcome outcomes[ARRAY_LEN(jobs)];
    uint64_t random = oracle->seed;

    oracle->identify = subject->identify;
    subject->check = check_by_lot;
    subject->data = oracle;
    for (size_t i = 0; i < ARRAY_LEN(jobs); i++) {
        void *copy = memory_alloc(subject->ops->size);

        search_copy(subject->ops, copy, search);
        outcomes[i] = simulate_jobs(subject, copy, jobs[i], &random);
        search_release(subject->ops, copy);
        free(copy);
        assert_true(hash_equal(outcomes[i].way, outcomes[0].way));
        assert_int_equal(outcomes[i].requests, outcomes[0].requests);
    }
    assert_true(outcomes[0].checks <= outcomes[0].requests); /* one at a time, and none in vain */
}

static struct oracle oracle_of_case(size_t i)
{
    return (struct oracle){.seed = i + 1, .failures = 1 + i % 7};
}

static void lead_index_search_the_same_way(enum index_mode mode)
{
    struct simulated_search subject = {.ops = &index_search_ops, .identify = identify_index};

    for (size_t i = 0; i < CASES; i++) {
        struct oracle oracle = oracle_of_case(i);
        struct index_search search;

        index_search_start(&search, mode, i % 2 ? INDEX_FOR_INPUTS : INDEX_FOR_OUTPUTS, 1 + (int64_t)i);
        assert_same_way(&subject, &search, &oracle);
        index_search_ops.release(&search);
    }
}

static void bisection_goes_the_same_way_with_any_number_of_jobs(void **state)
{
    lead_index_search_the_same_way(INDEX_BISECT);
}

static void linear_search_goes_the_same_way_with_any_number_of_jobs(void **state)
{
    lead_index_search_the_same_way(INDEX_LINEAR);
}

static void minimal_search_goes_the_same_way_with_any_number_of_jobs(void **state)
{
    struct simulated_search subject = {.ops = &minimal_search_ops, .identify = identify_minimal};

    for (size_t i = 0; i < CASES; i++) {
        struct oracle oracle = oracle_of_case(i);
        struct minimal_search search;
        struct bitset all;
        struct dag dag;

        block_graph_init(&dag, 1 + i % 3);
        bitset_init(&all, dag.count);
        bitset_fill(&all);
        assert_true(minimal_search_start(&search, &dag, &all));
        assert_same_way(&subject, &search, &oracle);
        search_release(&minimal_search_ops, &search);
        bitset_release(&all);
        dag_release(&dag);
    }
}

static void doubtful_search_goes_the_same_way_with_any_number_of_jobs(void **state)
{
    struct simulated_search subject = {.ops = &doubtful_search_ops, .identify = identify_doubtful};

    for (size_t i = 0; i < CASES; i++) {
        struct oracle oracle = oracle_of_case(i);
        struct doubtful_search search;
        struct bitset all;
        struct dag dag;

        block_graph_init(&dag, 1);
        bitset_init(&all, dag.count);
        bitset_fill(&all);
        assert_true(doubtful_search_start(&search, &dag, &all, 1 + i % 5));
        assert_same_way(&subject, &search, &oracle);
        doubtful_search_ops.release(&search);
        bitset_release(&all);
        dag_release(&dag);
    }
}

static void isolation_goes_the_same_way_with_any_number_of_jobs(void **state)
{
    struct simulated_search subject = {.ops = &set_isolation_ops, .identify = identify_isolation};

    for (size_t i = 0; i < CASES; i++) {
        struct oracle oracle = oracle_of_case(i);
        struct set_isolation search;

        assert_true(set_isolation_start(&search, 2 + i % 90));
        assert_same_way(&subject, &search, &oracle);
        search_release(&set_isolation_ops, &search);
    }
}

static void precision_search_goes_the_same_way_with_any_number_of_jobs(void **state)
{
    struct simulated_search subject = {.ops = &precision_search_ops, .identify = identify_precision};

    for (size_t i = 0; i < CASES; i++) {
        struct oracle oracle = oracle_of_case(i);
        struct precision_search search;

        precision_search_start(&search, (enum precision_mode)(i % 3), 1 + i % 80, i % 2 == 0);
        assert_same_way(&subject, &search, &oracle);
        search_release(&precision_search_ops, &search);
    }
}

/* ---- Sooner ---- */

static enum verdict check_culprits(void *data, const void *search)
{
    const struct oracle *oracle = data;

    for (size_t i = 0; i < oracle->count; i++)
        if (!bitset_has(&((const struct minimal_search *)search)->candidate, oracle->culprits[i]))
            return VERDICT_PASS;
    return VERDICT_FAIL;
}

/* Mean rounds to find three of 200 elements which nothing connects, so that there is nothing to cut. */
static double rounds_of_deletion(size_t jobs)
{
    struct oracle oracle = {.count = 3};
    struct simulated_search subject = {
        .ops = &minimal_search_ops, .identify = identify_minimal, .check = check_culprits, .data = &oracle};
    uint64_t random = 11;
    size_t rounds = 0;
    struct bitset all;
    struct dag dag;

    dag_init(&dag, 200, NULL, 0);
    bitset_init(&all, dag.count);
    bitset_fill(&all);
    for (size_t i = 0; i < CASES; i++) {
        struct minimal_search search;

        for (size_t k = 0; k < oracle.count; k++)
            oracle.culprits[k] = simulated_random(&random, dag.count);
        assert_true(minimal_search_start(&search, &dag, &all));
        rounds += simulate_jobs(&subject, &search, jobs, NULL).rounds;
        search_release(&minimal_search_ops, &search);
    }
    bitset_release(&all);
    dag_release(&dag);
    print_message("%zu jobs: %.1f rounds\n", jobs, (double)rounds / CASES);
    return (double)rounds / CASES;
}

static void deletion_takes_few_rounds_with_many_jobs(void **state)
{
    assert_true(rounds_of_deletion(1) < 40);
    assert_true(rounds_of_deletion(4) <= 17);
    assert_true(rounds_of_deletion(8) <= 13);
    assert_true(rounds_of_deletion(16) <= 10);
}

static enum verdict check_index(void *data, const void *search)
{
    return ((const struct index_search *)search)->next >= *(const int64_t *)data ? VERDICT_FAIL : VERDICT_PASS;
}

static struct hash identify_place(const void *search, int64_t *ret_nodes)
{
    const struct index_search *index_search = search;

    *ret_nodes = index_search->next + 1;
    return (struct hash){(uint64_t)index_search->next, 0};
}

/* With as many jobs as a whole level of the tree has decisions above it, that level is one round. */
static void bisection_takes_whole_levels_at_a_time(void **state)
{
    static const struct {
        size_t jobs, rounds;
    } cases[] = {{1, 10}, {3, 5}, {7, 4}, {15, 3}};
    int64_t first_failing;
    struct simulated_search subject = {
        .ops = &index_search_ops, .identify = identify_place, .check = check_index, .data = &first_failing};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        size_t rounds = 0, count = 0;

        for (first_failing = 3; first_failing < 1000; first_failing += 83, count++) {
            struct index_search search;

            index_search_start(&search, INDEX_BISECT, INDEX_FOR_OUTPUTS, 1000);
            rounds += simulate_jobs(&subject, &search, cases[i].jobs, NULL).rounds;
            assert_int_equal(search.best_bad, first_failing);
            index_search_ops.release(&search);
        }
        print_message("%zu jobs: %.1f rounds\n", cases[i].jobs, (double)rounds / (double)count);
        assert_true(rounds <= cases[i].rounds * count + count / 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bisection_goes_the_same_way_with_any_number_of_jobs),
        cmocka_unit_test(linear_search_goes_the_same_way_with_any_number_of_jobs),
        cmocka_unit_test(minimal_search_goes_the_same_way_with_any_number_of_jobs),
        cmocka_unit_test(doubtful_search_goes_the_same_way_with_any_number_of_jobs),
        cmocka_unit_test(isolation_goes_the_same_way_with_any_number_of_jobs),
        cmocka_unit_test(precision_search_goes_the_same_way_with_any_number_of_jobs),
        cmocka_unit_test(deletion_takes_few_rounds_with_many_jobs),
        cmocka_unit_test(bisection_takes_whole_levels_at_a_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
