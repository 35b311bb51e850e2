/* search/graph/dag.h: who depends on whom: a directed graph without cycles, whose elements are numbered in topological
 * order.
 *
 * The module search/graph/ holds what searches know of graphs: order, best cuts, minimum cuts. It knows no search.
 */
#ifndef SEARCH_GRAPH_DAG_H
#define SEARCH_GRAPH_DAG_H

#include "base/container/bitset.h"

struct dag {
    size_t count;
    struct dag_edges { /* neighbours of element i: items[first[i]] .. items[first[i + 1] - 1] */
        uint32_t *items;
        size_t *first;
    } sources, targets;
    /* by enum dag_direction: a row of bits for each element; NULL: the graph is too large for that */
    uint64_t *closures[2];

    /* For each element, how many of the scopes that it stands in, from the outermost one on, it shares with the element
     * before it. NULL: nothing is known of scopes. Set after dag_init(), and given to the graph (malloc'd). */
    uint32_t *shared_scopes;
};

struct dag_edge {
    uint32_t source, target; /* source < target < count */
};

void dag_init(struct dag *dag, size_t count, const struct dag_edge *edges, size_t edge_count);
void dag_release(struct dag *dag);

enum dag_direction { DAG_ANCESTORS, DAG_DESCENDANTS };

/* All ancestors or descendants of `element`, itself included: a view into dag->closures, which are there. */
struct bitset dag_closure(const struct dag *dag, uint32_t element, enum dag_direction direction);

/* Whether every path from one member to another stays within the set. */
bool dag_is_convex(const struct dag *dag, const struct bitset *set);

/* `ret` (of dag->count) becomes the ancestors or descendants of `element`, itself included, that can be reached through
 * members of `within`. In a convex set with `element` these are its members among all ancestors or descendants, since
 * paths to them do not leave the set. */
void dag_reach(const struct dag *dag, uint32_t element, enum dag_direction direction, const struct bitset *within,
               struct bitset *ret);

#endif
