/* Tests of polygraphy_reduce_graph(): what it finds, what it asks, and what it refuses. */
#include <polygraphy/reduce.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "support/unit_test.h"

#define MAX_ELEMENTS 64
#define MAX_CHECKS 1000

/* An oracle that fails when all culprits are there, and what it was asked. */
struct scripted {
    uint64_t culprits;   /* a bit for each */
    uint64_t untestable; /* sets that lack any of these, but not all */
    int32_t answer;      /* instead, from check `from` on */
    uint64_t from;       /* 0: never */
    uint64_t asked[MAX_CHECKS];
    size_t count, smallest;
};

static int32_t answer(void *context, const uint32_t *elements, size_t count, const struct polygraphy_progress *progress)
{
    struct scripted *script = context;
    uint64_t set = 0;

    assert_true(count > 0);
    assert_true(script->count < MAX_CHECKS);
    for (size_t i = 0; i < count; i++) {
        assert_true(i == 0 || elements[i] > elements[i - 1]);
        set |= (uint64_t)1 << elements[i];
    }
    for (size_t i = 0; i < script->count; i++)
        assert_true(script->asked[i] != set);
    script->asked[script->count++] = set;
    assert_int_equal(progress->check, script->count);
    assert_int_equal(progress->smallest == 0, progress->check == 1);
    assert_true(progress->check <= 2 || progress->smallest <= script->smallest);
    script->smallest = progress->smallest;
    if (script->from > 0 && progress->check >= script->from)
        return script->answer;
    if (script->untestable & set && (script->untestable & ~set))
        return POLYGRAPHY_UNTESTABLE;
    return (script->culprits & ~set) == 0 ? POLYGRAPHY_FAILS : POLYGRAPHY_PASSES;
}

/* A chain with bypasses. */
static size_t make_edges(uint32_t elements, struct polygraphy_edge *ret)
{
    size_t count = 0;

    for (uint32_t i = 1; i < elements; i++) {
        ret[count++] = (struct polygraphy_edge){i - 1, i};
        if (i >= 3 && i % 3 == 0)
            ret[count++] = (struct polygraphy_edge){i - 3, i};
    }
    return count;
}

struct search {
    struct polygraphy_edge edges[2 * MAX_ELEMENTS];
    struct polygraphy_graph_request request;
    struct polygraphy_graph_result result;
    struct polygraphy_error error;
    struct scripted script;
};

static void search_init(struct search *search, uint32_t elements)
{
    memset(search, 0, sizeof(*search));
    search->request = (struct polygraphy_graph_request){.element_count = elements,
                                                        .edges = search->edges,
                                                        .edge_count = make_edges(elements, search->edges),
                                                        .oracle = answer,
                                                        .context = &search->script};
}

static int32_t search_run(struct search *search)
{
    return polygraphy_reduce_graph(&search->request, &search->result, &search->error);
}

static uint64_t found(const struct search *search)
{
    uint64_t set = 0;

    for (size_t i = 0; i < search->result.element_count; i++)
        set |= (uint64_t)1 << search->result.elements[i];
    return set;
}

static void assert_refused(struct search *search, int32_t code, const char *part)
{
    assert_int_equal(search_run(search), code);
    assert_int_equal(search->error.code, code);
    if (strstr(search->error.message, part) == NULL)
        fail_msg("'%s' does not hold '%s'", search->error.message, part);
    assert_int_equal(search->script.count, 0);
    assert_null(search->result.elements);
    polygraphy_graph_result_release(&search->result);
}

static void culprits_are_found_wherever_they_are(void **state)
{
    for (uint32_t a = 0; a < 40; a++)
        for (uint32_t b = a; b < 40; b += 7) {
            struct search search;

            search_init(&search, 40);
            search.script.culprits = (uint64_t)1 << a | (uint64_t)1 << b;
            assert_int_equal(search_run(&search), 0);
            assert_int_equal(search.result.outcome, POLYGRAPHY_MINIMAL);
            assert_int_equal(search.result.checks, search.script.count);
            assert_true(found(&search) == search.script.culprits);
            polygraphy_graph_result_release(&search.result);
        }
}

static void graph_without_edges_is_searched_too(void **state)
{
    struct search search;

    search_init(&search, 30);
    search.request.edges = NULL;
    search.request.edge_count = 0;
    search.script.culprits = (uint64_t)1 << 4 | (uint64_t)1 << 21 | (uint64_t)1 << 29;
    assert_int_equal(search_run(&search), 0);
    assert_int_equal(search.result.outcome, POLYGRAPHY_MINIMAL);
    assert_true(found(&search) == search.script.culprits);
    polygraphy_graph_result_release(&search.result);
}

static void single_element_that_fails_is_minimal(void **state)
{
    struct search search;

    search_init(&search, 1);
    search.script.culprits = 1;
    assert_int_equal(search_run(&search), 0);
    assert_int_equal(search.result.outcome, POLYGRAPHY_MINIMAL);
    assert_int_equal(search.result.checks, 1);
    assert_true(found(&search) == 1);
    polygraphy_graph_result_release(&search.result);
}

static void whole_that_passes_has_nothing_to_reduce(void **state)
{
    struct search search;

    search_init(&search, 20);
    search.script.answer = POLYGRAPHY_PASSES;
    search.script.from = 1;
    assert_int_equal(search_run(&search), 0);
    assert_int_equal(search.result.outcome, POLYGRAPHY_DOES_NOT_FAIL);
    assert_int_equal(search.result.checks, 1);
    assert_null(search.result.elements);
    assert_int_equal(search.result.element_count, 0);
    polygraphy_graph_result_release(&search.result);
}

static void sets_that_cannot_be_tested_are_passed_over(void **state)
{
    struct search search;

    search_init(&search, 40);
    search.script.culprits = (uint64_t)1 << 30;
    search.script.untestable = 0xF << 10; /* all four or none */
    assert_int_equal(search_run(&search), 0);
    assert_int_equal(search.result.outcome, POLYGRAPHY_MINIMAL);
    assert_true(found(&search) == search.script.culprits);
    polygraphy_graph_result_release(&search.result);
}

static void whole_that_cannot_be_tested_is_an_error(void **state)
{
    struct search search;

    search_init(&search, 20);
    search.script.answer = POLYGRAPHY_UNTESTABLE;
    search.script.from = 1;
    assert_int_equal(search_run(&search), POLYGRAPHY_ERROR_INVALID);
    assert_non_null(strstr(search.error.message, "cannot test the full set"));
    assert_int_equal(search.result.element_count, 0);
    polygraphy_graph_result_release(&search.result);
}

/* The last set that the script let fail. */
static uint64_t last_failure(const struct scripted *script, size_t checks)
{
    uint64_t set = 0;

    for (size_t i = 0; i < checks; i++)
        if ((script->culprits & ~script->asked[i]) == 0)
            set = script->asked[i];
    return set;
}

static void budget_ends_the_search_with_what_fails(void **state)
{
    uint64_t needed;
    struct search search;

    search_init(&search, 50);
    search.script.culprits = (uint64_t)1 << 11 | (uint64_t)1 << 37;
    assert_int_equal(search_run(&search), 0);
    needed = search.result.checks;
    polygraphy_graph_result_release(&search.result);
    for (uint64_t budget = 1; budget <= needed; budget++) {
        search_init(&search, 50);
        search.script.culprits = (uint64_t)1 << 11 | (uint64_t)1 << 37;
        search.request.max_checks = budget;
        assert_int_equal(search_run(&search), 0);
        assert_int_equal(search.result.checks, budget);
        assert_int_equal(search.result.outcome, budget < needed ? POLYGRAPHY_OUT_OF_CHECKS : POLYGRAPHY_MINIMAL);
        assert_true(found(&search) == last_failure(&search.script, budget));
        polygraphy_graph_result_release(&search.result);
    }
}

static void oracle_can_stop_the_search(void **state)
{
    for (uint64_t check = 1; check < 12; check++) {
        struct search search;

        search_init(&search, 50);
        search.script.culprits = (uint64_t)1 << 11 | (uint64_t)1 << 37;
        search.script.answer = POLYGRAPHY_STOP;
        search.script.from = check;
        assert_int_equal(search_run(&search), 0);
        assert_int_equal(search.result.outcome, POLYGRAPHY_STOPPED);
        assert_int_equal(search.result.checks, check);
        assert_true(found(&search) == last_failure(&search.script, check - 1));
        assert_int_equal(search.result.elements == NULL, check == 1);
        polygraphy_graph_result_release(&search.result);
    }
}

static void answer_that_is_none_is_an_error_and_keeps_what_was_found(void **state)
{
    struct search search;

    search_init(&search, 50);
    search.script.culprits = (uint64_t)1 << 11 | (uint64_t)1 << 37;
    search.script.answer = 17;
    search.script.from = 9;
    assert_int_equal(search_run(&search), POLYGRAPHY_ERROR_INVALID);
    assert_non_null(strstr(search.error.message, "check 9: the oracle returned 17"));
    assert_int_equal(search.result.outcome, POLYGRAPHY_STOPPED);
    assert_true(found(&search) == last_failure(&search.script, 8));
    polygraphy_graph_result_release(&search.result);
}

static void requests_that_make_no_sense_are_refused(void **state)
{
    struct search search;

    search_init(&search, 0);
    assert_refused(&search, POLYGRAPHY_ERROR_INVALID, "no elements");
    search_init(&search, 10);
    search.request.oracle = NULL;
    assert_refused(&search, POLYGRAPHY_ERROR_INVALID, "no oracle");
    search_init(&search, 10);
    search.request.edges = NULL;
    assert_refused(&search, POLYGRAPHY_ERROR_INVALID, "`edges` is NULL");
    search_init(&search, 10);
    search.request.element_count = POLYGRAPHY_MAX_ELEMENTS + 1;
    assert_refused(&search, POLYGRAPHY_ERROR_UNSUPPORTED, "16777217 elements");
}

static void edges_that_do_not_go_up_are_refused(void **state)
{
    struct search search;

    search_init(&search, 10);
    search.edges[2] = (struct polygraphy_edge){10, 11};
    assert_refused(&search, POLYGRAPHY_ERROR_INVALID, "edge 2 goes from 10 to 11, but there are 10 elements");
    search_init(&search, 10);
    search.edges[2] = (struct polygraphy_edge){3, UINT32_MAX};
    assert_refused(&search, POLYGRAPHY_ERROR_INVALID, "edge 2 goes from 3 to 4294967295");
    search_init(&search, 10);
    search.edges[3] = (struct polygraphy_edge){4, 4};
    assert_refused(&search, POLYGRAPHY_ERROR_INVALID, "edge 3 goes from 4 to 4");
    search_init(&search, 10);
    search.edges[4] = (struct polygraphy_edge){5, 2}; /* closes a cycle */
    assert_refused(&search, POLYGRAPHY_ERROR_INVALID, "edge 4 goes from 5 to 2: number the elements in topological");
}

static void error_need_not_be_wanted(void **state)
{
    struct search search;

    search_init(&search, 0);
    assert_int_equal(polygraphy_reduce_graph(&search.request, &search.result, NULL), POLYGRAPHY_ERROR_INVALID);
    polygraphy_graph_result_release(&search.result);
    polygraphy_graph_result_release(&search.result);
}

/* ---- Searches beside and within each other ---- */

static int32_t search_within(void *context, const uint32_t *elements, size_t count,
                             const struct polygraphy_progress *progress)
{
    struct search inner;

    search_init(&inner, 20);
    inner.script.culprits = 1 << 13;
    assert_int_equal(search_run(&inner), 0);
    assert_true(found(&inner) == inner.script.culprits);
    polygraphy_graph_result_release(&inner.result);
    return answer(context, elements, count, progress);
}

static void oracle_may_search_itself(void **state)
{
    struct search search;

    search_init(&search, 40);
    search.request.oracle = search_within;
    search.script.culprits = (uint64_t)1 << 3 | (uint64_t)1 << 33;
    assert_int_equal(search_run(&search), 0);
    assert_true(found(&search) == search.script.culprits);
    polygraphy_graph_result_release(&search.result);
}

/* cmocka's assertions belong to the main thread. */
static int32_t answer_quietly(void *context, const uint32_t *elements, size_t count,
                              const struct polygraphy_progress *progress)
{
    const uint32_t *culprit = context;

    (void)progress;
    for (size_t i = 0; i < count; i++)
        if (elements[i] == *culprit)
            return POLYGRAPHY_FAILS;
    return POLYGRAPHY_PASSES;
}

static void *search_many(void *data)
{
    struct polygraphy_edge edges[2 * MAX_ELEMENTS];
    uint32_t culprit = 0;
    struct polygraphy_graph_request request = {.element_count = MAX_ELEMENTS,
                                               .edges = edges,
                                               .edge_count = make_edges(MAX_ELEMENTS, edges),
                                               .oracle = answer_quietly,
                                               .context = &culprit};
    bool *right = data;

    *right = true;
    for (culprit = 0; culprit < MAX_ELEMENTS; culprit++) {
        struct polygraphy_graph_result result;

        *right &= polygraphy_reduce_graph(&request, &result, NULL) == 0 && result.outcome == POLYGRAPHY_MINIMAL &&
                  result.element_count == 1 && result.elements[0] == culprit;
        polygraphy_graph_result_release(&result);
    }
    return NULL;
}

static void several_threads_may_search_at_a_time(void **state)
{
    pthread_t threads[4];
    bool right[4] = {false};

    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, search_many, &right[i]), 0);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_true(right[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(culprits_are_found_wherever_they_are),
        cmocka_unit_test(graph_without_edges_is_searched_too),
        cmocka_unit_test(single_element_that_fails_is_minimal),
        cmocka_unit_test(whole_that_passes_has_nothing_to_reduce),
        cmocka_unit_test(sets_that_cannot_be_tested_are_passed_over),
        cmocka_unit_test(whole_that_cannot_be_tested_is_an_error),
        cmocka_unit_test(budget_ends_the_search_with_what_fails),
        cmocka_unit_test(oracle_can_stop_the_search),
        cmocka_unit_test(answer_that_is_none_is_an_error_and_keeps_what_was_found),
        cmocka_unit_test(requests_that_make_no_sense_are_refused),
        cmocka_unit_test(edges_that_do_not_go_up_are_refused),
        cmocka_unit_test(error_need_not_be_wanted),
        cmocka_unit_test(oracle_may_search_itself),
        cmocka_unit_test(several_threads_may_search_at_a_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
