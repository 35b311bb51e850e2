/* onnx/simplify/neutral_nodes.h: finds nodes that return one of their inputs unchanged. */
#ifndef ONNX_SIMPLIFY_NEUTRAL_NODES_H
#define ONNX_SIMPLIFY_NEUTRAL_NODES_H

#include "onnx/simplify/symbolic_sizes.h"

/* The value that the only output of `node` is equal to: an input, or a value before reshapes or casts in a row.
 * Adding 0 changes the sign of a zero, which does not count. `same_as` has for each value an equal one before it, or
 * itself. VALUE_NONE if none is known. */
uint32_t neutral_node_source(const struct symbolic_sizes *sizes, const struct node *node, const uint32_t *same_as);

#endif
