/* onnx/edit/bounds.h: tensors whose values become sizes at run time, with nothing that bounds them, and bounds for
 * them. An engine has to be told the largest size before it can be built.
 */
#ifndef ONNX_EDIT_BOUNDS_H
#define ONNX_EDIT_BOUNDS_H

#include "onnx/model/subgraph.h"

/* Appends, each once, the tensors that a node computes and that Range, Pad, Tile, Expand or Resize take a size from,
 * unless a Min with a constant makes them, if that gives the result a dimension that none of the node's inputs has.
 * Types have to be inferred before. */
void unbounded_shapes_find(const struct model *model, struct value_list *ret);

struct upper_bound {
    uint32_t value; /* an integer tensor that a node makes; each once */
    int64_t bound;
};

/* Puts a `Min` right behind the node that makes each value. All who read the value read the bounded one, under the old
 * name. ERR_UNSUPPORTED when the model's operator set has no Min of integers (below 12). */
int upper_bounds_set(struct model *model, const struct upper_bound *bounds, size_t count, struct error *err);

#endif
