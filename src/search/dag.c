/* search/dag.c: see dag.h. */
#include "search/dag.h"

#include <stdlib.h>

#include "base/memory.h"

/* A counting sort of the edges by one of their ends. */
static void index_edges(struct dag_edges *ret, size_t count, const struct dag_edge *edges, size_t edge_count,
                        bool by_target)
{
    size_t *next;

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
    free(next);
}

void dag_init(struct dag *dag, size_t count, const struct dag_edge *edges, size_t edge_count)
{
    dag->count = count;
    index_edges(&dag->sources, count, edges, edge_count, true);
    index_edges(&dag->targets, count, edges, edge_count, false);
}

void dag_release(struct dag *dag)
{
    free(dag->sources.items);
    free(dag->sources.first);
    free(dag->targets.items);
    free(dag->targets.first);
    *dag = (struct dag){0};
}

static void add_neighbours(const struct dag_edges *edges, uint32_t element, const struct bitset *within,
                           struct bitset *ret)
{
    for (size_t i = edges->first[element]; i < edges->first[element + 1]; i++)
        if (bitset_has(within, edges->items[i]))
            bitset_add(ret, edges->items[i]);
}

/* Numbers are a topological order: one walk over the set, away from the element, sees every member after all those that could
 * have added it. */
void dag_reach(const struct dag *dag, uint32_t element, enum dag_direction direction, const struct bitset *within,
               struct bitset *ret)
{
    bitset_clear(ret);
    bitset_add(ret, element);
    if (direction == DAG_DESCENDANTS) {
        for (size_t i = element; i < dag->count; i = bitset_next(ret, i + 1))
            add_neighbours(&dag->targets, (uint32_t)i, within, ret);
        return;
    }
    for (size_t word = element / 64 + 1; word-- > 0;)
        for (size_t bit = 64; bit-- > 0 && ret->words[word] != 0;)
            if (ret->words[word] >> bit & 1)
                add_neighbours(&dag->sources, (uint32_t)(word * 64 + bit), within, ret);
}
