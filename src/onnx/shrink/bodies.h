/* onnx/shrink/bodies.h: removes nodes from bodies (of If, Loop, Scan, ...) and from the model's functions.
 *
 * The module onnx/shrink/ lists possible simplifications of a model and applies a selection of them: nodes of bodies,
 * attributes, sizes of inputs, weights and their sparsity. It depends on onnx/external/ and its dependencies.
 *
 * A removed node is bypassed: consumers of its output read one of its inputs. Nodes and constants that become unused
 * are removed, too. Bodies keep their inputs and outputs, so the enclosing node is not affected.
 */
#ifndef ONNX_SHRINK_BODIES_H
#define ONNX_SHRINK_BODIES_H

#include "onnx/model/model.h"

#define MOST_BYPASSES 2

struct inner_node {
    struct text name, op_type;
    uint8_t bypasses; /* number of inputs that can replace its output: 0 .. MOST_BYPASSES */
};

struct inner_node_list {
    struct inner_node *items;
    size_t count, capacity;
};

/* Appends the nodes of bodies, and of bodies inside them, in the order of the file; then those of functions.
 * ERR_CORRUPT when they are damaged or nested too deep. */
int inner_nodes_list(const struct model *model, struct inner_node_list *ret, struct error *err);

/* Removes nodes by a choice for each node of the list: 0 keeps it, n replaces it by its n-th input (omitted ones do
 * not count). Types inside bodies are dropped. ERR_INVALID on a name conflict. After an error the model can only be
 * freed. */
int inner_nodes_bypass(struct model *model, const uint8_t *choices, struct error *err);

/* Replaces `If` nodes by a choice for each node of the model: 0 keeps it, 1 selects `then_branch`, 2 `else_branch`.
 * Renumbers nodes. Adds the number of replaced nodes to `*count`. After an error the model can only be freed. */
int branches_take(struct model *model, const uint8_t *choices, size_t *count, struct error *err);

#endif
