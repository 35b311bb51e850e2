/* onnx/edit/shape_folding.h: arithmetic on shapes that are known, without running anything.
 *
 * Models ask for the shapes of their tensors, take them apart and put new ones together. Where a shape is static, what
 * asks for it is a constant; where only some dimensions are, those that a Gather or a Slice picks may be.
 */
#ifndef ONNX_EDIT_SHAPE_FOLDING_H
#define ONNX_EDIT_SHAPE_FOLDING_H

#include "onnx/model/model.h"

/* Makes the outputs of `Shape`, and of `Gather` and `Slice` behind it, constants where the dimensions are known: from
 * the descriptions of values. Nodes that are not needed any more stay. `*count` grows by one
 * for each. */
int model_fold_shapes(struct model *model, size_t *count, struct error *err);

/* Makes `Cast`, an Add, Sub or Mul in floating point, and a `Cast` back an operation on integers, where what it
 * computes on comes from shapes: the result is the same, and exact whatever its size. `*count` grows by one for
 * each. */
int model_elide_casts(struct model *model, size_t *count, struct error *err);

#endif
