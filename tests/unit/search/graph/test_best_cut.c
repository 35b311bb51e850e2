/* Tests of search/graph/dag.c and best_cut.c: tables and bounds lead to the cut that a walk to every element would
 * find. */
#include <stdlib.h>

#include "base/memory.h"
#include "search/graph/best_cut.h"
#include "support/block_graph.h"
#include "support/simulated_jobs.h"
#include "support/unit_test.h"

enum { GRAPHS = 60 };

static uint64_t random_state;

static size_t random_below(size_t limit)
{
    return simulated_random(&random_state, limit);
}

/* A line with bypasses, a tree, two lines, or hardly anything; of up to 400 elements. */
static void make_graph(struct dag *dag, size_t kind)
{
    size_t count = 2 + random_below(399), edge_count = 0;
    struct dag_edge *edges = memory_alloc_zero(2 * count, sizeof(*edges));

    for (uint32_t i = 1; i < count; i++) {
        if (kind % 4 == 0)
            edges[edge_count++] = (struct dag_edge){i - 1, i};
        if (kind % 4 == 1 || random_below(5) == 0)
            edges[edge_count++] = (struct dag_edge){(uint32_t)random_below(i), i};
        if (kind % 4 == 2 && i > 1)
            edges[edge_count++] = (struct dag_edge){i - 2, i};
    }
    dag_init(dag, count, edges, edge_count);
    free(edges);
}

static void assert_same_members(const struct bitset *a, const struct bitset *b)
{
    assert_true(bitset_equal(a, b));
}

static void table_agrees_with_walks_in_what_cuts_leave(void **state)
{
    random_state = 1;
    for (size_t i = 0; i < GRAPHS; i++) {
        struct bitset current, reach, all;
        struct dag dag;

        make_graph(&dag, i);
        bitset_init(&current, dag.count);
        bitset_init(&reach, dag.count);
        bitset_fill(&current);
        for (size_t cut = 0; cut < 12; cut++) {
            enum dag_direction direction = cut % 3 == 0 ? DAG_ANCESTORS : DAG_DESCENDANTS;
            struct bitset left;

            assert_true(dag_is_convex(&dag, &current));
            for (size_t pivot = bitset_next(&current, 0); pivot < dag.count; pivot = bitset_next(&current, pivot + 1)) {
                dag_reach(&dag, (uint32_t)pivot, direction, &current, &reach);
                all = dag_closure(&dag, (uint32_t)pivot, direction);
                bitset_init_copy(&left, &current);
                bitset_intersect(&left, &all);
                assert_same_members(&left, &reach);
                bitset_release(&left);
            }
            size_t pivot = bitset_nth_previous(&current, dag.count, 1 + random_below(bitset_count(&current)));
            dag_reach(&dag, (uint32_t)pivot, direction, &current, &reach);
            if (bitset_count(&reach) > 1)
                bitset_assign(&current, &reach);
        }
        bitset_release(&current);
        bitset_release(&reach);
        dag_release(&dag);
    }
}

static void set_with_a_way_around_is_not_convex(void **state)
{
    static const struct dag_edge edges[] = {{0, 1}, {1, 2}, {2, 4}, {0, 3}, {3, 4}};
    struct bitset set;
    struct dag dag;

    dag_init(&dag, 5, edges, ARRAY_LEN(edges));
    bitset_init(&set, 5);
    assert_true(dag_is_convex(&dag, &set));
    bitset_add(&set, 0);
    bitset_add(&set, 4);
    assert_false(dag_is_convex(&dag, &set));
    bitset_add(&set, 1);
    bitset_add(&set, 2);
    assert_false(dag_is_convex(&dag, &set)); /* 0 -> 3 -> 4 */
    bitset_add(&set, 3);
    assert_true(dag_is_convex(&dag, &set));
    bitset_remove(&set, 0);
    assert_true(dag_is_convex(&dag, &set));
    bitset_remove(&set, 2); /* 1 -> 2 -> 4 */
    assert_false(dag_is_convex(&dag, &set));
    bitset_release(&set);
    dag_release(&dag);
}

static void large_graph_has_no_table(void **state)
{
    struct dag dag;

    dag_init(&dag, 100000, NULL, 0);
    assert_null(dag.closures[DAG_ANCESTORS]);
    assert_null(dag.closures[DAG_DESCENDANTS]);
    dag_release(&dag);
}

/* By a walk to every suspect that is looked at. */
static bool find_by_walks(const struct cut_question *question, struct best_cut *ret)
{
    size_t suspects = bitset_count(question->suspects), step = suspects / 256 + 1, rank = 0;
    struct bitset reach;
    bool found = false;

    bitset_init(&reach, question->dag->count);
    for (size_t i = bitset_next(question->suspects, 0); i < reach.size; i = bitset_next(question->suspects, i + 1)) {
        size_t inside, balance;

        if (rank++ % step != 0 || bitset_has(question->refused, i))
            continue;
        dag_reach(question->dag, (uint32_t)i, question->direction, question->current, &reach);
        inside = bitset_count_common(&reach, question->suspects);
        balance = inside < suspects - inside ? inside : suspects - inside;
        if ((found && balance <= ret->balance) || bitset_equal(&reach, question->current))
            continue;
        found = true;
        *ret = (struct best_cut){(uint32_t)i, balance};
    }
    bitset_release(&reach);
    return found;
}

/* Once with the table, and once as if the set were not convex. */
static void assert_cut_is_best(struct cut_question *question)
{
    struct best_cut expected = {0, 0}, cut = {0, 0};
    bool found = find_by_walks(question, &expected);
    struct bitset left, walked;

    bitset_init(&left, question->dag->count);
    bitset_init(&walked, question->dag->count);
    for (int i = 0; i < 2; i++) {
        question->is_convex = i == 0;
        assert_int_equal(best_cut_find(question, &cut), found);
        if (found) {
            assert_int_equal(cut.pivot, expected.pivot);
            assert_int_equal(cut.balance, expected.balance);
            cut_make(question, cut.pivot, i == 0 ? &left : &walked);
        }
    }
    assert_same_members(&left, &walked);
    bitset_release(&left);
    bitset_release(&walked);
}

static void best_cut_is_that_of_walks_to_every_suspect(void **state)
{
    random_state = 5;
    for (size_t i = 0; i < 5 * GRAPHS; i++) {
        struct bitset current, suspects, refused;
        struct dag dag;

        make_graph(&dag, i);
        bitset_init(&current, dag.count);
        bitset_init(&refused, dag.count);
        bitset_fill(&current);
        bitset_init_copy(&suspects, &current);
        for (size_t k = 0; k < 8 && bitset_count(&suspects) > 0; k++) {
            struct cut_question question = {&dag,    i % 2 ? DAG_ANCESTORS : DAG_DESCENDANTS, &current, true, &suspects,
                                            &refused};
            struct bitset left;
            struct best_cut cut;

            assert_cut_is_best(&question);
            question.is_convex = true;
            if (!best_cut_find(&question, &cut))
                break;
            bitset_init(&left, dag.count);
            cut_make(&question, cut.pivot, &left);
            switch (random_below(3)) {
            case 0:
                bitset_assign(&current, &left);
                bitset_intersect(&suspects, &left);
                break;
            case 1:
                bitset_subtract(&suspects, &left);
                break;
            default:
                bitset_add(&refused, cut.pivot);
                break;
            }
            bitset_release(&left);
        }
        bitset_release(&current);
        bitset_release(&suspects);
        bitset_release(&refused);
        dag_release(&dag);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_agrees_with_walks_in_what_cuts_leave),
        cmocka_unit_test(set_with_a_way_around_is_not_convex),
        cmocka_unit_test(large_graph_has_no_table),
        cmocka_unit_test(best_cut_is_that_of_walks_to_every_suspect),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
