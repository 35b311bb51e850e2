/* onnx/model/foldable.h: which nodes may be computed beforehand when all that they read is constant. */
#ifndef ONNX_MODEL_FOLDABLE_H
#define ONNX_MODEL_FOLDABLE_H

#include "onnx/model/known_types.h"

/* False for random operators (in bodies, too), quantisation (a runtime wants to see it), nodes that make anything but
 * tensors, and calls of the model's own functions, which may hide any of these. `known` may be NULL. */
bool node_is_foldable(const struct model *model, const struct known_types *known, const struct node *node);

#endif
