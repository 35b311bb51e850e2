/* onnx/edit/unbounded_shapes.h: tensors whose values become sizes at run time, with nothing that bounds them. An engine
 * has to be told the largest size before it can be built.
 */
#ifndef ONNX_EDIT_UNBOUNDED_SHAPES_H
#define ONNX_EDIT_UNBOUNDED_SHAPES_H

#include "onnx/model/subgraph.h"

/* Appends, each once, the tensors that a node computes and that Range, Pad, Tile, Expand or Resize take a size from,
 * unless a Min with a constant makes them, if that gives the result a dimension that none of the node's inputs has.
 * Types have to be inferred before. */
void unbounded_shapes_find(const struct model *model, struct value_list *ret);

#endif
