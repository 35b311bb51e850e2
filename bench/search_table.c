/* bench/search_table.c: what the modes of `debug reduce` find, and in how many checks.
 *
 *   search_table BLOCKS CASES
 *
 * The graph is that of a transformer with so many blocks. A check fails when all culprits are in the candidate, which
 * are placed by lot: so many cases for each line. Prints a table for docs/searching.md: mean and most nodes that are
 * left, mean number of checks, and how often the result is 1-minimal, for which every single node is left out
 * of it. As in the program the same candidate is checked once only. Fails when a result of the minimal search is not
 * 1-minimal.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../tests/support/block_graph.h"
#include "base/memory.h"
#include "search/index_search.h"
#include "search/minimal_search.h"

#define MOST_CULPRITS 4

enum mode { MODE_BISECT, MODE_LINEAR, MODE_MINIMAL, MODE_COUNT };

/* A check, and what it was asked. */
struct oracle {
    size_t culprits[MOST_CULPRITS], count;
    struct {
        struct bitset *items;
        size_t count, capacity;
    } asked;
};

struct tally {
    size_t nodes, largest, checks, minimal;
};

static size_t random_below(size_t limit)
{
    static uint64_t state = 1;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(state >> 33) % limit;
}

static bool fails(const struct oracle *oracle, const struct bitset *set)
{
    for (size_t i = 0; i < oracle->count; i++)
        if (!bitset_has(set, oracle->culprits[i]))
            return false;
    return true;
}

static enum verdict check(struct oracle *oracle, const struct bitset *set)
{
    bool known = false;

    for (size_t i = 0; !known && i < oracle->asked.count; i++)
        known = bitset_equal(&oracle->asked.items[i], set);
    if (!known)
        bitset_init_copy(VECTOR_APPEND(&oracle->asked), set);
    return fails(oracle, set) ? VERDICT_FAIL : VERDICT_PASS;
}

static void forget(struct oracle *oracle)
{
    for (size_t i = 0; i < oracle->asked.count; i++)
        bitset_release(&oracle->asked.items[i]);
    oracle->asked.count = 0;
}

/* By brute force: without any single one of its nodes it does not fail. */
static bool is_minimal(const struct oracle *oracle, struct bitset *set)
{
    bool ret = fails(oracle, set);

    for (size_t i = bitset_next(set, 0); ret && i < set->size; i = bitset_next(set, i + 1)) {
        bitset_remove(set, i);
        ret = !fails(oracle, set);
        bitset_add(set, i);
    }
    return ret;
}

/* ---- Bisection and linear search ---- */

/* What is left of `base`, whose output is what `output` makes, when `node` is the one to cut at. */
struct cut {
    const struct dag *dag;
    const struct bitset *base;
    uint32_t output;
};

/* The output is what `node` makes. */
static void cut_outputs(const struct cut *cut, uint32_t node, struct bitset *ret)
{
    dag_reach(cut->dag, node, DAG_ANCESTORS, cut->base, ret);
}

/* The inputs are what `node` reads. What does not depend on them is frozen, and so are they themselves. */
static void cut_inputs(const struct cut *cut, uint32_t node, struct bitset *ret)
{
    const struct dag_edges *sources = &cut->dag->sources;
    struct bitset rest, depends, reached;

    bitset_assign(ret, cut->base);
    if (sources->first[node] == sources->first[node + 1])
        return; /* it reads the input of the model */
    bitset_init_copy(&rest, cut->base);
    bitset_init(&depends, rest.size);
    bitset_init(&reached, rest.size);
    for (size_t i = sources->first[node]; i < sources->first[node + 1]; i++) {
        dag_reach(cut->dag, sources->items[i], DAG_DESCENDANTS, cut->base, &reached);
        bitset_unite(&depends, &reached);
        bitset_remove(&rest, sources->items[i]);
    }
    dag_reach(cut->dag, cut->output, DAG_ANCESTORS, &rest, ret);
    bitset_intersect(ret, &depends);
    bitset_release(&rest);
    bitset_release(&depends);
    bitset_release(&reached);
}

/* One phase; `current` and `output` become what the smallest failing candidate had. */
static void search_phase(const struct dag *dag, enum index_mode mode, enum index_direction direction,
                         struct oracle *oracle, struct bitset *current, uint32_t *output)
{
    size_t count = bitset_count(current), at = 0;
    uint32_t *nodes = memory_alloc_zero(count, sizeof(*nodes));
    struct cut cut = {dag, current, *output};
    struct index_search search;
    struct bitset candidate;
    bool more = count > 0;

    for (size_t i = bitset_next(current, 0); i < current->size; i = bitset_next(current, i + 1))
        nodes[at++] = (uint32_t)i;
    bitset_init(&candidate, dag->count);
    index_search_start(&search, mode, direction, (int64_t)count);
    while (more) {
        (direction == INDEX_FOR_OUTPUTS ? cut_outputs : cut_inputs)(&cut, nodes[search.next], &candidate);
        more = index_search_advance(&search, (int64_t)bitset_count(&candidate), check(oracle, &candidate));
    }
    if (search.best_bad >= 0) {
        uint32_t best = nodes[search.best_bad];

        (direction == INDEX_FOR_OUTPUTS ? cut_outputs : cut_inputs)(&cut, best, &candidate);
        bitset_assign(current, &candidate);
        *output = direction == INDEX_FOR_OUTPUTS ? best : *output;
    }
    index_search_release(&search);
    bitset_release(&candidate);
    free(nodes);
}

/* ---- The table ---- */

static void reduce(const struct dag *dag, enum mode mode, struct oracle *oracle, struct bitset *ret)
{
    enum index_mode index_mode = mode == MODE_LINEAR ? INDEX_LINEAR : INDEX_BISECT;
    uint32_t output = (uint32_t)dag->count - 1;
    struct minimal_search search;
    bool more;

    bitset_init(ret, dag->count);
    bitset_fill(ret);
    if (mode != MODE_MINIMAL) {
        search_phase(dag, index_mode, INDEX_FOR_OUTPUTS, oracle, ret, &output);
        search_phase(dag, index_mode, INDEX_FOR_INPUTS, oracle, ret, &output);
        return;
    }
    more = minimal_search_start(&search, dag, ret);
    while (more)
        more = minimal_search_advance(&search, check(oracle, &search.candidate));
    bitset_assign(ret, &search.current);
    minimal_search_release(&search);
}

/* Different nodes, all of the same block or anywhere. */
static void place_culprits(const struct dag *dag, bool near, struct oracle *oracle)
{
    size_t block = random_below(dag->count / BLOCK_GRAPH_NODES) * BLOCK_GRAPH_NODES;

    for (size_t i = 0; i < oracle->count; i++) {
        bool is_new;

        do {
            oracle->culprits[i] = near ? block + random_below(BLOCK_GRAPH_NODES) : random_below(dag->count);
            is_new = true;
            for (size_t k = 0; k < i; k++)
                is_new &= oracle->culprits[k] != oracle->culprits[i];
        } while (!is_new);
    }
}

/* Returns whether all results of the minimal search are 1-minimal. */
static bool print_line(const struct dag *dag, size_t culprits, bool near, size_t cases)
{
    struct oracle oracle = {.count = culprits};
    struct tally tallies[MODE_COUNT] = {0};

    for (size_t i = 0; i < cases; i++) {
        place_culprits(dag, near, &oracle);
        for (enum mode mode = 0; mode < MODE_COUNT; mode++) {
            struct tally *tally = &tallies[mode];
            struct bitset found;
            size_t nodes;

            reduce(dag, mode, &oracle, &found);
            nodes = bitset_count(&found);
            tally->nodes += nodes;
            tally->largest = nodes > tally->largest ? nodes : tally->largest;
            tally->checks += oracle.asked.count;
            tally->minimal += is_minimal(&oracle, &found);
            forget(&oracle);
            bitset_release(&found);
        }
    }
    printf("| %zu %-12s |", culprits, culprits == 1 ? "anywhere" : near ? "in one block" : "anywhere");
    for (enum mode mode = 0; mode < MODE_COUNT; mode++)
        printf(" %.1f (%zu) | %.1f | %.0f %% |", (double)tallies[mode].nodes / (double)cases, tallies[mode].largest,
               (double)tallies[mode].checks / (double)cases, 100 * (double)tallies[mode].minimal / (double)cases);
    printf("\n");
    free(oracle.asked.items);
    return tallies[MODE_MINIMAL].minimal == cases;
}

int main(int argc, char **argv)
{
    size_t blocks = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
    size_t cases = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    bool all_minimal = true;
    struct dag dag;

    if (blocks == 0 || cases == 0) {
        fprintf(stderr, "usage: search_table BLOCKS CASES\n");
        return 2;
    }
    block_graph_init(&dag, blocks);
    printf("%zu nodes, means of %zu cases:\n\n", dag.count, cases);
    printf("| culprits | bisect: nodes (most) | checks | 1-minimal | linear: nodes (most) | checks | 1-minimal "
           "| minimal: nodes (most) | checks | 1-minimal |\n|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t culprits = 1; culprits <= MOST_CULPRITS; culprits++)
        for (int near = culprits > 1; near >= 0; near--)
            all_minimal &= print_line(&dag, culprits, near != 0, cases);
    dag_release(&dag);
    if (!all_minimal)
        fprintf(stderr, "search_table: a result of the minimal search is not 1-minimal\n");
    return all_minimal ? 0 : 1;
}
