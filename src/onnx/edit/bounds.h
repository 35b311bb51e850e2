/* onnx/edit/bounds.h: finds tensors whose values become sizes at run time without an upper bound, and sets such bounds.
 * An engine needs the largest size of each dimension at build time.
 */
#ifndef ONNX_EDIT_BOUNDS_H
#define ONNX_EDIT_BOUNDS_H

#include "onnx/model/subgraph.h"

/* Appends, each once, the computed tensors from which Range, Pad, Tile, Expand or Resize read a size, if the result has
 * a dimension that none of the node's inputs has. Tensors produced by a Min with a constant are bounded and left out.
 * Requires inferred types. */
void unbounded_shapes_find(const struct model *model, struct value_list *ret);

struct upper_bound {
    uint32_t value; /* an integer tensor produced by a node; each once */
    int64_t bound;
};

/* Inserts a `Min` after the producer of each value. Consumers read the bounded value, which keeps the old name.
 * ERR_UNSUPPORTED if the model's operator set has no Min for integers (below 12). */
int upper_bounds_set(struct model *model, const struct upper_bound *bounds, size_t count, struct error *err);

#endif
