/* support/block_graph.h: a graph as that of a transformer, for searches to cut. */
#ifndef SUPPORT_BLOCK_GRAPH_H
#define SUPPORT_BLOCK_GRAPH_H

#include "search/graph/dag.h"

#define BLOCK_GRAPH_NODES 23 /* of a block */

/* So many blocks one after the other, each with an input, three branches that meet, and bypasses. */
void block_graph_init(struct dag *dag, size_t blocks);

#define BLOCK_GRAPH_SCOPES 3 /* that nodes of one innermost scope share */

/* As if the nodes had names such as /block.3/attention/MatMul. */
void block_graph_add_scopes(struct dag *dag);

#endif
