/* support/block_graph.h: a graph as that of a transformer, for searches to cut. */
#ifndef SUPPORT_BLOCK_GRAPH_H
#define SUPPORT_BLOCK_GRAPH_H

#include "search/dag.h"

#define BLOCK_GRAPH_NODES 23 /* of a block */

/* So many blocks one after the other, each with an input, three branches that meet, and bypasses. */
void block_graph_init(struct dag *dag, size_t blocks);

#endif
