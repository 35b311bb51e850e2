/* support/block_graph.c: see block_graph.h. */
#include "support/block_graph.h"

#include <stdlib.h>

#include "base/memory.h"

static const struct dag_edge inside[] = {
    {0, 1},   {0, 2},   {0, 3},   {1, 4},   {2, 5},   {3, 6},   {4, 7},   {5, 7},   {7, 8},
    {8, 9},   {6, 10},  {9, 10},  {10, 11}, {11, 12}, {12, 13}, {0, 13},  {13, 14}, {14, 15},
    {15, 16}, {16, 17}, {17, 18}, {18, 19}, {19, 20}, {20, 21}, {13, 21}, {21, 22},
};

void block_graph_init(struct dag *dag, size_t blocks)
{
    struct dag_edge *edges = memory_alloc_zero(blocks * (ARRAY_LEN(inside) + 1), sizeof(*edges));
    size_t count = 0;

    for (size_t i = 0; i < blocks; i++) {
        uint32_t base = (uint32_t)(i * BLOCK_GRAPH_NODES);

        for (size_t k = 0; k < ARRAY_LEN(inside); k++)
            edges[count++] = (struct dag_edge){base + inside[k].source, base + inside[k].target};
        if (i + 1 < blocks)
            edges[count++] = (struct dag_edge){base + BLOCK_GRAPH_NODES - 1, base + BLOCK_GRAPH_NODES};
    }
    dag_init(dag, blocks * BLOCK_GRAPH_NODES, edges, count);
    free(edges);
}

void block_graph_add_scopes(struct dag *dag)
{
    const size_t second_half = 13; /* after the branches are joined */

    dag->shared_scopes = memory_alloc_zero(dag->count, sizeof(*dag->shared_scopes));
    for (size_t i = 1; i < dag->count; i++) {
        size_t in_block = i % BLOCK_GRAPH_NODES;

        dag->shared_scopes[i] = in_block == 0             ? 1
                                : in_block == second_half ? 2
                                                          : BLOCK_GRAPH_SCOPES; /* block, 3, attention */
    }
}
