/* search/graph/minimum_cut.c: see minimum_cut.h. */
#include "search/graph/minimum_cut.h"

#include <stdlib.h>

#include "base/memory.h"

#define NO_ARC UINT32_MAX

void flow_network_init(struct flow_network *network, size_t count)
{
    *network = (struct flow_network){.count = count, .first = memory_alloc(count * sizeof(*network->first))};
    for (size_t i = 0; i < count; i++)
        network->first[i] = NO_ARC;
}

void flow_network_release(struct flow_network *network)
{
    free(network->arcs.items);
    free(network->first);
}

static void add_flow_arc(struct flow_network *network, uint32_t from, uint32_t to, uint64_t capacity)
{
    *VECTOR_APPEND(&network->arcs) = (struct flow_arc){.to = to, .next = network->first[from], .capacity = capacity};
    network->first[from] = (uint32_t)network->arcs.count - 1;
}

void flow_network_add(struct flow_network *network, uint32_t from, uint32_t to, uint64_t capacity)
{
    add_flow_arc(network, from, to, capacity);
    add_flow_arc(network, to, from, 0);
}

struct path_search {
    uint32_t *arrived_by; /* the arc by which each node was reached */
    uint32_t *queue;
};

/* Breadth-first search from the source over arcs with residual capacity, up to the sink. */
static bool find_path(const struct flow_network *network, struct path_search *search, struct bitset *reached)
{
    size_t first = 0, count = 1;

    bitset_clear(reached);
    bitset_add(reached, MINIMUM_CUT_SOURCE);
    search->queue[0] = MINIMUM_CUT_SOURCE;
    while (first < count) {
        uint32_t node = search->queue[first++];

        for (uint32_t i = network->first[node]; i != NO_ARC; i = network->arcs.items[i].next) {
            const struct flow_arc *arc = &network->arcs.items[i];

            if (arc->capacity == 0 || bitset_has(reached, arc->to))
                continue;
            bitset_add(reached, arc->to);
            search->arrived_by[arc->to] = i;
            if (arc->to == MINIMUM_CUT_SINK)
                return true;
            search->queue[count++] = arc->to;
        }
    }
    return false;
}

static uint32_t start_of(const struct flow_network *network, uint32_t arc)
{
    return network->arcs.items[arc ^ 1].to;
}

/* Augments by the smallest residual capacity on the path. */
static void augment_flow_path(struct flow_network *network, const uint32_t *arrived_by)
{
    uint64_t most = UINT64_MAX;

    for (uint32_t node = MINIMUM_CUT_SINK; node != MINIMUM_CUT_SOURCE; node = start_of(network, arrived_by[node]))
        if (network->arcs.items[arrived_by[node]].capacity < most)
            most = network->arcs.items[arrived_by[node]].capacity;
    for (uint32_t node = MINIMUM_CUT_SINK; node != MINIMUM_CUT_SOURCE; node = start_of(network, arrived_by[node])) {
        network->arcs.items[arrived_by[node]].capacity -= most;
        network->arcs.items[arrived_by[node] ^ 1].capacity += most;
    }
}

void minimum_cut(struct flow_network *network, struct bitset *ret)
{
    struct path_search search = {.arrived_by = memory_alloc_zero(network->count, sizeof(*search.arrived_by)),
                                 .queue = memory_alloc_zero(network->count, sizeof(*search.queue))};

    while (find_path(network, &search, ret))
        augment_flow_path(network, search.arrived_by);
    free(search.arrived_by);
    free(search.queue);
}
