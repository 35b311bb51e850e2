/* search/graph/dag.c: see dag.h. */
#include "search/graph/dag.h"

#include <stdlib.h>

#include "base/memory.h"

/* Maximum size of the transitive closures: enough for 23,000 elements. */
#define MOST_CLOSURE_BYTES ((size_t)64 << 20)

/* Sorts the edges by one of their ends (counting sort). */
static void index_edges(struct dag_edges *ret, size_t count, const struct dag_edge *edges, size_t edge_count,
                        bool by_target)
{
    size_t *next SCOPED_FREE = NULL;

    ret->first = memory_alloc_zero(count + 1, sizeof(*ret->first));
    ret->items = memory_alloc_zero(edge_count + 1, sizeof(*ret->items));
    for (size_t i = 0; i < edge_count; i++)
        ret->first[(by_target ? edges[i].target : edges[i].source) + 1]++;
    for (size_t i = 0; i < count; i++)
        ret->first[i + 1] += ret->first[i];
    next = memory_alloc_zero(count + 1, sizeof(*next));
    for (size_t i = 0; i < edge_count; i++) {
        uint32_t key = by_target ? edges[i].target : edges[i].source;

        ret->items[ret->first[key] + next[key]++] = by_target ? edges[i].source : edges[i].target;
    }
}

static size_t words_per_element(const struct dag *dag)
{
    return (dag->count + 63) / 64;
}

/* A row is the union of the neighbours' rows and the element. Only the half of a row on the neighbours' side is
 * touched, so the other half needs no physical memory. */
static void make_row(struct dag *dag, uint32_t element, enum dag_direction direction)
{
    const struct dag_edges *edges = direction == DAG_ANCESTORS ? &dag->sources : &dag->targets;
    size_t words = words_per_element(dag);
    uint64_t *row = dag->closures[direction] + element * words;

    row[element / 64] |= (uint64_t)1 << element % 64;
    for (size_t i = edges->first[element]; i < edges->first[element + 1]; i++) {
        size_t neighbour = edges->items[i];
        const uint64_t *other = dag->closures[direction] + neighbour * words;
        size_t first = direction == DAG_ANCESTORS ? 0 : neighbour / 64;
        size_t end = direction == DAG_ANCESTORS ? neighbour / 64 + 1 : words;

        for (size_t k = first; k < end; k++)
            row[k] |= other[k];
    }
}

static void make_closures(struct dag *dag)
{
    size_t row_bytes = words_per_element(dag) * sizeof(uint64_t);

    if (dag->count == 0 || row_bytes > MOST_CLOSURE_BYTES / dag->count)
        return;
    for (size_t i = 0; i < 2; i++)
        dag->closures[i] = memory_alloc_zero(dag->count, row_bytes);
    for (size_t i = 0; i < dag->count; i++) {
        make_row(dag, (uint32_t)i, DAG_ANCESTORS);
        make_row(dag, (uint32_t)(dag->count - 1 - i), DAG_DESCENDANTS);
    }
}

void dag_init(struct dag *dag, size_t count, const struct dag_edge *edges, size_t edge_count)
{
    *dag = (struct dag){.count = count};
    index_edges(&dag->sources, count, edges, edge_count, true);
    index_edges(&dag->targets, count, edges, edge_count, false);
    make_closures(dag);
}

void dag_release(struct dag *dag)
{
    free(dag->sources.items);
    free(dag->sources.first);
    free(dag->targets.items);
    free(dag->targets.first);
    free(dag->closures[DAG_ANCESTORS]);
    free(dag->closures[DAG_DESCENDANTS]);
    free(dag->shared_scopes);
    *dag = (struct dag){0};
}

struct bitset dag_closure(const struct dag *dag, uint32_t element, enum dag_direction direction)
{
    return (struct bitset){dag->closures[direction] + element * words_per_element(dag), dag->count};
}

/* Searches a member that depends on an outside element which depends on a member. */
bool dag_is_convex(const struct dag *dag, const struct bitset *set)
{
    struct bitset outside; /* outside elements that depend on a member */
    bool ret = true;

    bitset_init(&outside, dag->count);
    for (size_t element = 0; ret && element < dag->count; element++)
        for (size_t i = dag->sources.first[element]; i < dag->sources.first[element + 1]; i++) {
            uint32_t source = dag->sources.items[i];

            if (bitset_has(set, element))
                ret &= !bitset_has(&outside, source);
            else if (bitset_has(set, source) || bitset_has(&outside, source))
                bitset_add(&outside, element);
        }
    bitset_release(&outside);
    return ret;
}

static void add_edge_neighbours(const struct dag_edges *edges, uint32_t element, const struct bitset *within,
                                struct bitset *ret)
{
    for (size_t i = edges->first[element]; i < edges->first[element + 1]; i++)
        if (bitset_has(within, edges->items[i]))
            bitset_add(ret, edges->items[i]);
}

/* Numbers are a topological order: a single pass over the set, away from the element, visits every member after all its
 * predecessors. */
void dag_reach(const struct dag *dag, uint32_t element, enum dag_direction direction, const struct bitset *within,
               struct bitset *ret)
{
    bitset_clear(ret);
    bitset_add(ret, element);
    if (direction == DAG_DESCENDANTS) {
        for (size_t i = element; i < dag->count; i = bitset_next(ret, i + 1))
            add_edge_neighbours(&dag->targets, (uint32_t)i, within, ret);
        return;
    }
    for (size_t word = element / 64 + 1; word-- > 0;)
        for (size_t bit = 64; bit-- > 0 && ret->words[word] != 0;)
            if (ret->words[word] >> bit & 1)
                add_edge_neighbours(&dag->sources, (uint32_t)(word * 64 + bit), within, ret);
}
