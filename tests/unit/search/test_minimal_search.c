/* Tests of search/minimal_search.c: what it finds is 1-minimal, and takes few checks. */
#include <stdlib.h>

#include "base/memory.h"
#include "search/minimal_search.h"
#include "support/block_graph.h"
#include "support/unit_test.h"

#define MAX_CULPRITS 8

/* A check that fails when all culprits are there, or something else that a test needs. */
struct oracle {
    size_t culprits[MAX_CULPRITS];
    size_t count;
    size_t whole_from, whole_end; /* all of these are culprits, too */
    bool not_monotone;            /* an even number of elements fails only when element 0 is among them, too */
};

static uint64_t random_state;

static size_t random_below(size_t limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(random_state >> 33) % limit;
}

static bool fails(const struct oracle *oracle, const struct bitset *set)
{
    if (bitset_count(set) == 0)
        return false;
    for (size_t i = 0; i < oracle->count; i++)
        if (!bitset_has(set, oracle->culprits[i]))
            return false;
    for (size_t i = oracle->whole_from; i < oracle->whole_end; i++)
        if (!bitset_has(set, i))
            return false;
    return !oracle->not_monotone || bitset_count(set) % 2 == 1 || bitset_has(set, 0);
}

static void make_random(struct dag *dag, size_t count)
{
    struct dag_edge *edges = memory_alloc_zero(2 * count, sizeof(*edges));
    size_t edge_count = 0;

    for (uint32_t i = 1; i < count; i++)
        for (size_t k = 0; k < 2; k++)
            edges[edge_count++] = (struct dag_edge){(uint32_t)random_below(i), i};
    dag_init(dag, count, edges, edge_count);
    free(edges);
}

/* Runs a search to its end; returns the number of checks. */
static size_t solve(const struct dag *dag, const struct oracle *oracle, struct bitset *ret)
{
    struct minimal_search search;
    struct bitset all;
    bool more;
    size_t checks;

    bitset_init(&all, dag->count);
    bitset_fill(&all);
    assert_true(fails(oracle, &all));
    more = minimal_search_start(&search, dag, &all);
    while (more) {
        assert_true(search.checks < 100000);
        assert_true(bitset_count(&search.candidate) > 0);
        more = minimal_search_ops.advance(&search, -1, fails(oracle, &search.candidate) ? VERDICT_FAIL : VERDICT_PASS);
    }
    bitset_init_copy(ret, &search.current);
    checks = search.checks;
    search_release(&minimal_search_ops, &search);
    bitset_release(&all);
    return checks;
}

static void assert_one_minimal(const struct oracle *oracle, struct bitset *set)
{
    assert_true(fails(oracle, set));
    for (size_t i = bitset_next(set, 0); i < set->size; i = bitset_next(set, i + 1)) {
        bitset_remove(set, i);
        assert_false(fails(oracle, set));
        bitset_add(set, i);
    }
}

static void single_culprit_is_found_wherever_it_is(void **state)
{
    struct dag dag;

    (void)state;
    block_graph_init(&dag, 3);
    for (size_t i = 0; i < dag.count; i++) {
        struct oracle oracle = {.culprits = {i}, .count = 1};
        struct bitset found;

        solve(&dag, &oracle, &found);
        assert_int_equal(bitset_count(&found), 1);
        assert_true(bitset_has(&found, i));
        bitset_release(&found);
    }
    dag_release(&dag);
}

static void result_is_one_minimal_in_random_graphs(void **state)
{
    (void)state;
    random_state = 1;
    for (size_t round = 0; round < 300; round++) {
        struct oracle oracle = {.count = 1 + round % 4, .not_monotone = round % 3 == 0};
        struct bitset found;
        struct dag dag;

        make_random(&dag, 21 + 2 * random_below(40)); /* odd: the whole fails, too, when failures are not monotone */
        for (size_t i = 0; i < oracle.count; i++)
            oracle.culprits[i] = random_below(dag.count);
        solve(&dag, &oracle, &found);
        assert_one_minimal(&oracle, &found);
        bitset_release(&found);
        dag_release(&dag);
    }
}

static void two_culprits_in_276_nodes_take_at_most_45_checks_on_average(void **state)
{
    enum { CASES = 100 };
    size_t checks = 0;
    struct dag dag;

    (void)state;
    random_state = 7;
    block_graph_init(&dag, 12);
    for (size_t round = 0; round < CASES; round++) {
        struct oracle oracle = {.culprits = {random_below(dag.count), random_below(dag.count)}, .count = 2};
        struct bitset found;

        checks += solve(&dag, &oracle, &found);
        assert_one_minimal(&oracle, &found);
        bitset_release(&found);
    }
    print_message("mean checks: %.1f\n", (double)checks / CASES);
    assert_true(checks <= 45 * CASES);
    dag_release(&dag);
}

static void cut_that_cannot_be_checked_is_passed_over(void **state)
{
    struct oracle oracle = {.culprits = {30}, .count = 1};
    struct minimal_search search;
    struct bitset all;
    struct dag dag;
    bool more;

    (void)state;
    block_graph_init(&dag, 3);
    bitset_init(&all, dag.count);
    bitset_fill(&all);
    more = minimal_search_start(&search, &dag, &all);
    while (more) {
        bool refused = search.phase != MINIMAL_DELETE && search.pivot % 3 == 0;
        enum verdict verdict = fails(&oracle, &search.candidate) ? VERDICT_FAIL : VERDICT_PASS;

        more = minimal_search_ops.advance(&search, -1, refused ? VERDICT_SKIP : verdict);
    }
    assert_int_equal(bitset_count(&search.current), 1);
    assert_true(bitset_has(&search.current, 30));
    search_release(&minimal_search_ops, &search);
    bitset_release(&all);
    dag_release(&dag);
}

/* Elements in scopes of very different sizes, which nothing connects; `ret_first` says where they begin. */
static size_t make_scopes(struct dag *dag, size_t *ret_first, size_t most)
{
    size_t count = 0, scopes = 0;

    while (scopes < most - 1) {
        ret_first[scopes++] = count;
        count += 2 + random_below(25);
    }
    ret_first[scopes] = count;
    dag_init(dag, count, NULL, 0);
    return scopes;
}

static void give_scopes(struct dag *dag, const size_t *first, size_t scopes)
{
    dag->shared_scopes = memory_alloc_zero(dag->count, sizeof(*dag->shared_scopes));
    for (size_t i = 0; i < dag->count; i++)
        dag->shared_scopes[i] = 1;
    for (size_t i = 0; i < scopes; i++)
        dag->shared_scopes[first[i]] = 0;
}

/* One scope is guilty as a whole, all others are innocent. */
static void scopes_save_checks_where_they_are_guilty_as_a_whole(void **state)
{
    enum { CASES = 100, SCOPES = 16 };
    size_t plain = 0, scoped = 0;

    random_state = 3;
    for (size_t round = 0; round < CASES; round++) {
        size_t first[SCOPES + 1], scopes, guilty;
        struct oracle oracle = {0};
        struct bitset found;
        struct dag dag;

        scopes = make_scopes(&dag, first, SCOPES + 1);
        guilty = random_below(scopes);
        oracle.whole_from = first[guilty];
        oracle.whole_end = first[guilty + 1];
        plain += solve(&dag, &oracle, &found);
        bitset_release(&found);
        give_scopes(&dag, first, scopes);
        scoped += solve(&dag, &oracle, &found);
        assert_int_equal(bitset_count(&found), oracle.whole_end - oracle.whole_from);
        assert_one_minimal(&oracle, &found);
        bitset_release(&found);
        dag_release(&dag);
    }
    print_message("mean checks: %.1f without scopes, %.1f with them\n", (double)plain / CASES, (double)scoped / CASES);
    assert_true(scoped < plain);
}

/* Chunks of the first size end where the outermost scope does, if it is near. */
static void chunks_end_where_scopes_do(void **state)
{
    struct minimal_search search;
    struct bitset all;
    struct dag dag;

    dag_init(&dag, 40, NULL, 0);
    dag.shared_scopes = memory_alloc_zero(dag.count, sizeof(*dag.shared_scopes));
    for (size_t i = 1; i < dag.count; i++)
        dag.shared_scopes[i] = i == 17 ? 1 : i % 6 == 0 ? 2 : 3;
    bitset_init(&all, dag.count);
    bitset_fill(&all);
    assert_true(minimal_search_start(&search, &dag, &all)); /* nothing to cut */
    assert_int_equal(search.phase, MINIMAL_DELETE);
    assert_int_equal(search.chunk, 20);
    assert_int_equal(bitset_count(&search.candidate), 17);
    assert_true(minimal_search_ops.advance(&search, -1, VERDICT_FAIL));
    assert_int_equal(search.chunk, 9);
    assert_int_equal(bitset_count(&search.candidate), 6);
    search_release(&minimal_search_ops, &search);
    bitset_release(&all);
    dag_release(&dag);
}

static void few_culprits_are_expected_where_they_may_be(void **state)
{
    struct minimal_search search;
    struct bitset all;
    struct dag dag;

    dag_init(&dag, 32, NULL, 0);
    bitset_init(&all, dag.count);
    bitset_fill(&all);
    assert_true(minimal_search_start(&search, &dag, &all));
    assert_true(minimal_search_ops.expect(&search) == 0.5);
    minimal_search_ops.advance(&search, -1, VERDICT_PASS); /* there is a culprit in the half that was left out */
    assert_true(minimal_search_ops.expect(&search) > 0.7);
    minimal_search_ops.advance(&search, -1, VERDICT_PASS); /* and in the other one */
    assert_int_equal(search.chunk, 8);
    assert_true(minimal_search_ops.expect(&search) == 0.5);
    minimal_search_ops.advance(&search, -1, VERDICT_FAIL); /* then the first one is in the other quarter */
    assert_true(minimal_search_ops.expect(&search) < 0.1);
    search_release(&minimal_search_ops, &search);
    bitset_release(&all);
    dag_release(&dag);
}

static void copy_goes_its_own_way(void **state)
{
    struct oracle oracle = {.culprits = {5, 60}, .count = 2};
    struct minimal_search search, copy;
    struct bitset all;
    struct dag dag;

    (void)state;
    block_graph_init(&dag, 3);
    bitset_init(&all, dag.count);
    bitset_fill(&all);
    assert_true(minimal_search_start(&search, &dag, &all));
    search_copy(&minimal_search_ops, &copy, &search);
    while (minimal_search_ops.advance(&copy, -1, fails(&oracle, &copy.candidate) ? VERDICT_FAIL : VERDICT_PASS))
        ;
    assert_int_equal(search.checks, 0);
    assert_int_equal(bitset_count(&search.current), dag.count);
    assert_int_equal(bitset_count(&copy.current), 2);
    search_release(&minimal_search_ops, &search);
    search_release(&minimal_search_ops, &copy);
    bitset_release(&all);
    dag_release(&dag);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_culprit_is_found_wherever_it_is),
        cmocka_unit_test(result_is_one_minimal_in_random_graphs),
        cmocka_unit_test(two_culprits_in_276_nodes_take_at_most_45_checks_on_average),
        cmocka_unit_test(cut_that_cannot_be_checked_is_passed_over),
        cmocka_unit_test(scopes_save_checks_where_they_are_guilty_as_a_whole),
        cmocka_unit_test(chunks_end_where_scopes_do),
        cmocka_unit_test(few_culprits_are_expected_where_they_may_be),
        cmocka_unit_test(copy_goes_its_own_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
