/* onnx/shrink/bodies.h: taking nodes out of bodies (of If, Loop, Scan, ...) and of the model's own functions.
 *
 * The module onnx/shrink/ lists what can be made simpler in a model, and does it for those parts that are chosen: nodes
 * of bodies, attributes, sizes of inputs, weights and their sparsity. A model comes in and is changed. It may use
 * onnx/external/ and what that may.
 *
 * A node that is taken out is bypassed: whoever read its output reads one of its inputs. What nothing reads any more
 * goes, too, with the constants it used. Bodies keep their inputs and outputs, so the node around them does not notice.
 */
#ifndef ONNX_SHRINK_BODIES_H
#define ONNX_SHRINK_BODIES_H

#include "onnx/model/model.h"

#define MOST_BYPASSES 2

struct inner_node {
    struct text name, op_type;
    uint8_t bypasses; /* inputs that can take the place of its output: 0 .. MOST_BYPASSES */
};

struct inner_node_list {
    struct inner_node *items;
    size_t count, capacity;
};

/* Appends the nodes of bodies, and of bodies inside them, in the order of the file; then those of functions.
 * ERR_CORRUPT when they are damaged or nested too deep. */
int inner_nodes_list(const struct model *model, struct inner_node_list *ret, struct error *err);

/* Takes out nodes: by a choice for each node of the list, in its order. 0 leaves it, n puts its n-th input (omitted
 * ones do not count) in its place. Types inside are forgotten. ERR_INVALID when names get in each other's way. After an
 * error the model can only be freed. */
int inner_nodes_bypass(struct model *model, const uint8_t *choices, struct error *err);

/* Replaces `If` nodes by one of their branches, by a choice for each node of the model: 0 leaves it, 1 takes the first
 * branch (`then`), 2 the other. Nodes are numbered anew. As above after an error. */
int branches_take(struct model *model, const uint8_t *choices, struct error *err);

#endif
