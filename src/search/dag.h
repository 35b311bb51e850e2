/* search/dag.h: who depends on whom: a directed graph without cycles, whose elements are numbered in topological order. */
#ifndef SEARCH_DAG_H
#define SEARCH_DAG_H

#include "base/bitset.h"

struct dag {
    size_t count;
    struct dag_edges { /* neighbours of element i: items[first[i]] .. items[first[i + 1] - 1] */
        uint32_t *items;
        size_t *first;
    } sources, targets;
};

struct dag_edge {
    uint32_t source, target; /* source < target < count */
};

void dag_init(struct dag *dag, size_t count, const struct dag_edge *edges, size_t edge_count);
void dag_release(struct dag *dag);

enum dag_direction { DAG_ANCESTORS, DAG_DESCENDANTS };

/* `ret` (of dag->count) becomes the ancestors or descendants of `element`, itself included, that can be reached through
 * members of `within`. */
void dag_reach(const struct dag *dag, uint32_t element, enum dag_direction direction, const struct bitset *within,
               struct bitset *ret);

#endif
