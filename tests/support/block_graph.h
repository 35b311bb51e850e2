/* support/block_graph.h: a graph like that of a transformer, for tests of searches. */
#ifndef SUPPORT_BLOCK_GRAPH_H
#define SUPPORT_BLOCK_GRAPH_H

#include "search/graph/dag.h"

#define BLOCK_GRAPH_NODES 23 /* of a block */

/* Creates a chain of `blocks` blocks, each with an input, three branches that are joined, and residual connections. */
void block_graph_init(struct dag *dag, size_t blocks);

#define BLOCK_GRAPH_SCOPES 3 /* that nodes of one innermost scope share */

/* Adds scopes as for node names such as /block.3/attention/MatMul. */
void block_graph_add_scopes(struct dag *dag);

#endif
