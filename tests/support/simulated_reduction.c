/* support/simulated_reduction.c: see simulated_reduction.h. */
#include "support/simulated_reduction.h"

#include <stdlib.h>

#include "base/memory.h"

/* ---- Bisection and linear search ---- */

/* Makes the output of `node` the output of the candidate. */
static void cut_outputs(struct simulated_reduction *reduction, uint32_t node)
{
    dag_reach(reduction->dag, node, DAG_ANCESTORS, &reduction->base, &reduction->candidate);
}

/* Makes the inputs of `node` the inputs of the candidate. They and everything that does not depend on them are
 * frozen. */
static void cut_inputs(struct simulated_reduction *reduction, uint32_t node)
{
    const struct dag_edges *sources = &reduction->dag->sources;
    struct bitset rest, depends, reached;

    bitset_assign(&reduction->candidate, &reduction->base);
    if (sources->first[node] == sources->first[node + 1])
        return; /* it reads the input of the model */
    bitset_init_copy(&rest, &reduction->base);
    bitset_init(&depends, rest.size);
    bitset_init(&reached, rest.size);
    for (size_t i = sources->first[node]; i < sources->first[node + 1]; i++) {
        dag_reach(reduction->dag, sources->items[i], DAG_DESCENDANTS, &reduction->base, &reached);
        bitset_unite(&depends, &reached);
        bitset_remove(&rest, sources->items[i]);
    }
    dag_reach(reduction->dag, reduction->output, DAG_ANCESTORS, &rest, &reduction->candidate);
    bitset_intersect(&reduction->candidate, &depends);
    bitset_release(&rest);
    bitset_release(&depends);
    bitset_release(&reached);
}

static uint32_t node_at(const struct simulated_reduction *reduction, int64_t index)
{
    return (uint32_t)bitset_nth_previous(&reduction->base, reduction->dag->count,
                                         (size_t)(reduction->index.count - index));
}

static void cut_at(struct simulated_reduction *reduction, int64_t index)
{
    (reduction->index.direction == INDEX_FOR_OUTPUTS ? cut_outputs : cut_inputs)(reduction, node_at(reduction, index));
}

/* Returns false when there is nothing to try. */
static bool begin_phase(struct simulated_reduction *reduction, enum index_direction direction)
{
    index_search_start(&reduction->index, reduction->mode == SIMULATED_BISECT ? INDEX_BISECT : INDEX_LINEAR, direction,
                       (int64_t)bitset_count(&reduction->base));
    if (reduction->index.next < 0)
        return false;
    cut_at(reduction, reduction->index.next);
    return true;
}

/* The result is the smallest candidate that failed. */
static bool end_phase(struct simulated_reduction *reduction)
{
    int64_t best = reduction->index.best_bad;
    enum index_direction direction = reduction->index.direction;

    if (best >= 0) {
        uint32_t node = node_at(reduction, best);

        cut_at(reduction, best);
        reduction->output = direction == INDEX_FOR_OUTPUTS ? node : reduction->output;
        bitset_assign(&reduction->base, &reduction->candidate);
    }
    index_search_ops.release(&reduction->index);
    return direction == INDEX_FOR_OUTPUTS && begin_phase(reduction, INDEX_FOR_INPUTS);
}

static bool advance_index(struct simulated_reduction *reduction, int64_t nodes, enum verdict verdict)
{
    if (!index_search_ops.advance(&reduction->index, nodes, verdict))
        return end_phase(reduction);
    cut_at(reduction, reduction->index.next);
    return true;
}

/* ---- All modes ---- */

static bool is_minimal(const struct simulated_reduction *reduction)
{
    return reduction->mode == SIMULATED_MINIMAL;
}

bool simulated_reduction_start(struct simulated_reduction *reduction, const struct dag *dag, enum simulated_mode mode)
{
    *reduction = (struct simulated_reduction){.dag = dag, .mode = mode, .output = (uint32_t)dag->count - 1};
    bitset_init(&reduction->base, dag->count);
    bitset_init(&reduction->candidate, dag->count);
    bitset_fill(&reduction->base);
    return is_minimal(reduction) ? minimal_search_start(&reduction->minimal, dag, &reduction->base)
                                 : begin_phase(reduction, INDEX_FOR_OUTPUTS);
}

void simulated_reduction_release(struct simulated_reduction *reduction)
{
    if (is_minimal(reduction))
        search_release(&minimal_search_ops, &reduction->minimal);
    else
        index_search_ops.release(&reduction->index);
    bitset_release(&reduction->base);
    bitset_release(&reduction->candidate);
}

const struct bitset *simulated_reduction_candidate(const struct simulated_reduction *reduction)
{
    return is_minimal(reduction) ? &reduction->minimal.candidate : &reduction->candidate;
}

static void copy(void *copied, const void *search)
{
    const struct simulated_reduction *from = search;
    struct simulated_reduction *ret = copied;

    *ret = *from;
    bitset_init_copy(&ret->base, &from->base);
    bitset_init_copy(&ret->candidate, &from->candidate);
    if (is_minimal(from))
        search_copy(&minimal_search_ops, &ret->minimal, &from->minimal);
    else
        index_search_ops.copy(&ret->index, &from->index);
}

static void release(void *search)
{
    simulated_reduction_release(search);
}

static bool advance(void *search, int64_t nodes, enum verdict verdict)
{
    struct simulated_reduction *reduction = search;
    bool more;

    if (!is_minimal(reduction))
        return advance_index(reduction, nodes, verdict);
    more = minimal_search_ops.advance(&reduction->minimal, nodes, verdict);
    bitset_assign(&reduction->base, &reduction->minimal.current);
    return more;
}

/* 0: for the other modes only the rate so far is known. */
static double expect(const void *search)
{
    const struct simulated_reduction *reduction = search;

    return is_minimal(reduction) ? minimal_search_ops.expect(&reduction->minimal) : 0;
}

static struct hash identify(const void *search, int64_t *ret_nodes)
{
    const struct bitset *candidate = simulated_reduction_candidate(search);

    *ret_nodes = (int64_t)bitset_count(candidate);
    return hash_bytes(candidate->words, bitset_words(candidate) * sizeof(*candidate->words));
}

static const struct search_ops ops = {
    .size = sizeof(struct simulated_reduction),
    .copy = copy,
    .release = release,
    .advance = advance,
    .expect = expect,
};

const struct simulated_search simulated_reduction_search = {.ops = &ops, .identify = identify};
