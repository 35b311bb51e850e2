/* search/graph/dag.h: a directed acyclic graph (DAG) of dependencies, whose elements are numbered in topological order.
 *
 * The module search/graph/ contains the graph algorithms of searches: DAGs, best cuts, minimum cuts. It does not depend
 * on searches.
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
    /* transitive closures by enum dag_direction, a row of bits for each element; NULL: the graph is too large */
    uint64_t *closures[2];

    /* For each element, the number of scopes, counted from the outermost, that it shares with the previous element.
     * NULL: no scopes. Set after dag_init(); malloc'd, owned by the graph. */
    uint32_t *shared_scopes;
};

struct dag_edge {
    uint32_t source, target; /* source < target < count */
};

void dag_init(struct dag *dag, size_t count, const struct dag_edge *edges, size_t edge_count);
void dag_release(struct dag *dag);

enum dag_direction { DAG_ANCESTORS, DAG_DESCENDANTS };

/* All ancestors or descendants of `element`, itself included: a view into dag->closures, which must exist. */
struct bitset dag_closure(const struct dag *dag, uint32_t element, enum dag_direction direction);

/* Whether every path from one member to another stays within the set. */
bool dag_is_convex(const struct dag *dag, const struct bitset *set);

/* Sets `ret` (size dag->count) to the ancestors or descendants of `element`, itself included, that are reachable
 * through members of `within`. If `within` is convex and contains `element`, these are all ancestors or descendants in
 * it, since paths to them do not leave the set. */
void dag_reach(const struct dag *dag, uint32_t element, enum dag_direction direction, const struct bitset *within,
               struct bitset *ret);

#endif
