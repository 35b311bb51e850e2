/* debug/reduce/node_dag.h: the graph of a model's nodes for searches, and the scopes in their names.
 *
 * Exporters derive a node's name from its place in the program: the scopes of /layer.3/attn/MatMul are layer, 3 and
 * attn. Nodes of one scope can often be removed together.
 */
#ifndef DEBUG_REDUCE_NODE_DAG_H
#define DEBUG_REDUCE_NODE_DAG_H

#include "onnx/model/model.h"
#include "search/graph/dag.h"

/* Elements are the model's nodes, by number; an edge leads from a node to a consumer of one of its outputs, also in a
 * subgraph. A node that precedes its producer (runtimes reject such models) has no edge from it. Release the graph. */
void node_dag_init(struct dag *dag, const struct model *model);

/* For each node, the number of leading scopes that it shares with the previous node (struct dag's shared_scopes). A
 * node without a name has the scopes of the previous one. NULL if no node has a scope. Free it. */
uint32_t *node_dag_shared_scopes(const struct model *model);

#endif
