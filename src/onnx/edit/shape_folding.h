/* onnx/edit/shape_folding.h: folds arithmetic on known shapes, without a runtime.
 *
 * Models read the shapes of their tensors and compute new ones. The Shape of a static shape is a constant; if only some
 * dimensions are static, the result of a Gather or Slice of them may still be.
 */
#ifndef ONNX_EDIT_SHAPE_FOLDING_H
#define ONNX_EDIT_SHAPE_FOLDING_H

#include "onnx/model/model.h"
#include "onnx/model/unused_names.h"

/* Replaces the outputs of `Shape`, and of `Gather` and `Slice` after it, by constants if the dimensions are known from
 * the types of values. Unused nodes stay. Adds the number of replaced outputs to `*count`. */
int model_fold_shapes(struct model *model, size_t *count, struct error *err);

/* Replaces `Cast`, a floating-point Add, Sub or Mul, and a `Cast` back by an integer operation if the operands come
 * from shapes: the result is the same, and exact for any size. New constants get names from `names`. Adds the number of
 * replacements to `*count`. */
int model_elide_casts(struct model *model, struct unused_names *names, size_t *count, struct error *err);

#endif
