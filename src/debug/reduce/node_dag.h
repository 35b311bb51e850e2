/* debug/reduce/node_dag.h: the nodes of a model as a graph for searches to cut. */
#ifndef DEBUG_REDUCE_NODE_DAG_H
#define DEBUG_REDUCE_NODE_DAG_H

#include "onnx/model/model.h"
#include "search/dag.h"

/* Elements are the model's nodes, by number; an edge leads from a node to one that reads a tensor of it, also in a
 * body. A node that stands in front of what it reads (runtimes refuse such models) depends on nothing here. To be
 * released. */
void node_dag_init(struct dag *dag, const struct model *model);

#endif
