/* Tests of search/doubtful_search.c: a search that was led astray goes back. */
#include <stdlib.h>

#include "search/doubtful_search.h"
#include "support/unit_test.h"

enum { NODES = 64, TRUSTED = 4 };

static void make_chain(struct dag *dag)
{
    struct dag_edge edges[NODES];

    for (uint32_t i = 0; i + 1 < NODES; i++)
        edges[i] = (struct dag_edge){i, i + 1};
    dag_init(dag, NODES, edges, NODES - 1);
}

static bool fails(const struct bitset *set)
{
    return bitset_has(set, 20) && bitset_has(set, 45);
}

/* Runs a search whose verdicts numbered `wrong` are not what they should be; returns how many there were. */
static size_t solve(size_t trusted, const size_t *wrong, size_t wrong_count, struct bitset *ret)
{
    struct doubtful_search search;
    struct bitset all;
    struct dag dag;
    size_t checks = 0;

    make_chain(&dag);
    bitset_init(&all, NODES);
    bitset_fill(&all);
    bool more = doubtful_search_start(&search, &dag, &all, trusted);
    while (more) {
        bool verdict = fails(doubtful_search_candidate(&search));

        for (size_t i = 0; i < wrong_count; i++)
            if (wrong[i] == checks)
                verdict = !verdict;
        checks++;
        assert_true(checks < 1000);
        more = doubtful_search_ops.advance(&search, -1, verdict ? VERDICT_FAIL : VERDICT_PASS);
    }
    bitset_init_copy(ret, &search.search.current);
    doubtful_search_ops.release(&search);
    bitset_release(&all);
    dag_release(&dag);
    return checks;
}

static void right_verdicts_lead_where_they_always_did(void **state)
{
    struct bitset plain, doubtful;
    size_t checks = solve(0, NULL, 0, &plain);
    size_t more_checks = solve(TRUSTED, NULL, 0, &doubtful);

    assert_true(bitset_equal(&plain, &doubtful));
    assert_int_equal(bitset_count(&plain), 2);
    assert_true(more_checks > checks);
    bitset_release(&plain);
    bitset_release(&doubtful);
}

static void single_wrong_acceptance_loses_nothing_wherever_it_is(void **state)
{
    size_t lost_by_plain_search = 0;

    for (size_t wrong = 0; wrong < 20; wrong++) {
        struct bitset plain, doubtful;

        solve(0, &wrong, 1, &plain);
        lost_by_plain_search += fails(&plain) ? 0 : 1;
        solve(TRUSTED, &wrong, 1, &doubtful);
        assert_true(fails(&doubtful));
        bitset_release(&plain);
        bitset_release(&doubtful);
    }
    assert_true(lost_by_plain_search > 0);
}

static void several_wrong_ones_in_a_row_are_all_taken_back(void **state)
{
    static const size_t wrong[] = {0, 1, 2};
    struct bitset plain, doubtful;

    solve(0, wrong, 3, &plain);
    assert_false(fails(&plain));
    solve(TRUSTED, wrong, 3, &doubtful);
    assert_true(fails(&doubtful));
    bitset_release(&plain);
    bitset_release(&doubtful);
}

static void what_nothing_confirms_is_taken_back_to_the_start(void **state)
{
    struct doubtful_search search;
    struct bitset all;
    struct dag dag;

    make_chain(&dag);
    bitset_init(&all, NODES);
    bitset_fill(&all);
    assert_true(doubtful_search_start(&search, &dag, &all, TRUSTED));
    for (size_t i = 0; i < TRUSTED; i++) {
        assert_false(search.looks_again);
        assert_true(doubtful_search_ops.advance(&search, -1, VERDICT_FAIL));
    }
    for (size_t i = 0; i < TRUSTED; i++) {
        assert_true(search.looks_again);
        assert_true(bitset_count(doubtful_search_candidate(&search)) < NODES);
        assert_true(doubtful_search_ops.advance(&search, -1, i % 2 == 0 ? VERDICT_PASS : VERDICT_SKIP));
    }
    assert_false(search.looks_again);
    assert_int_equal(bitset_count(&search.search.current), NODES);
    doubtful_search_ops.release(&search);
    bitset_release(&all);
    dag_release(&dag);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_verdicts_lead_where_they_always_did),
        cmocka_unit_test(single_wrong_acceptance_loses_nothing_wherever_it_is),
        cmocka_unit_test(several_wrong_ones_in_a_row_are_all_taken_back),
        cmocka_unit_test(what_nothing_confirms_is_taken_back_to_the_start),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
