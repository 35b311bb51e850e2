/* debug/reduce/node_scopes.h: the modules that a model's nodes come from, by their names.
 *
 * Exporters name a node by where it stands in the program: the scopes of /layer.3/attn/MatMul are layer, 3 and attn.
 * Nodes of one scope are often innocent together.
 */
#ifndef DEBUG_REDUCE_NODE_SCOPES_H
#define DEBUG_REDUCE_NODE_SCOPES_H

#include "onnx/model/model.h"

/* For each node, how many scopes, from the outermost one on, it has in common with the node before it (struct dag's
 * shared_scopes). A node without a name stands where the one before it does. NULL when no node has a scope. To be
 * freed. */
uint32_t *node_scopes_shared(const struct model *model);

#endif
