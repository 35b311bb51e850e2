/* search/graph/minimum_cut.h: a minimum cut of a flow network.
 *
 * An arc costs its capacity if it leads from the source's side to the sink's. Algorithm: augmenting along shortest
 * paths (Edmonds and Karp, "Theoretical Improvements in Algorithmic Efficiency for Network Flow Problems", 1972).
 */
#ifndef SEARCH_GRAPH_MINIMUM_CUT_H
#define SEARCH_GRAPH_MINIMUM_CUT_H

#include "base/container/bitset.h"

#define MINIMUM_CUT_SOURCE 0
#define MINIMUM_CUT_SINK 1

/* Capacity of an arc that is never cut. The sum of all other capacities must be less. */
#define MINIMUM_CUT_ENDLESS (UINT64_MAX / 2)

struct flow_network {
    size_t count; /* of nodes, the source and the sink included */
    struct {
        struct flow_arc {
            uint32_t to;
            uint32_t next;     /* next arc from the same node; UINT32_MAX: none */
            uint64_t capacity; /* residual capacity */
        } * items;             /* each arc is followed by its reverse */
        size_t count, capacity;
    } arcs;
    uint32_t *first; /* first arc of each node */
};

void flow_network_init(struct flow_network *network, size_t count);
void flow_network_release(struct flow_network *network);
void flow_network_add(struct flow_network *network, uint32_t from, uint32_t to, uint64_t capacity);

/* Sets `ret` (one bit for each node) to the source's side of a minimum cut, the smallest such set. Changes the
 * capacities. */
void minimum_cut(struct flow_network *network, struct bitset *ret);

#endif
