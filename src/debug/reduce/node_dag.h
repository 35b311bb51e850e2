/* debug/reduce/node_dag.h: the nodes of a model as a graph for searches to cut, and the modules that they come from.
 *
 * Exporters name a node by where it stands in the program: the scopes of /layer.3/attn/MatMul are layer, 3 and attn.
 * Nodes of one scope are often innocent together.
 */
#ifndef DEBUG_REDUCE_NODE_DAG_H
#define DEBUG_REDUCE_NODE_DAG_H

#include "onnx/model/model.h"
#include "search/graph/dag.h"

/* Elements are the model's nodes, by number; an edge leads from a node to one that reads a tensor of it, also in a
 * body. A node that stands in front of what it reads (runtimes refuse such models) depends on nothing here. To be
 * released. */
void node_dag_init(struct dag *dag, const struct model *model);

/* For each node, how many scopes, from the outermost one on, it has in common with the node before it (struct dag's
 * shared_scopes). A node without a name stands where the one before it does. NULL when no node has a scope. To be
 * freed. */
uint32_t *node_dag_shared_scopes(const struct model *model);

#endif
