/* onnx/model/operators.h: what is known of ONNX's operators: their names, and which may be computed beforehand. */
#ifndef ONNX_MODEL_OPERATORS_H
#define ONNX_MODEL_OPERATORS_H

#include "onnx/model/model.h"

/* Whether any version of ONNX's own operator set, up to 26, has an operator of this name. */
bool operator_is_standard(struct text op_type);

/* Whether a node may be computed beforehand when all that it reads is constant. False for random operators (in bodies,
 * too), quantisation (a runtime wants to see it), nodes that make anything but tensors, and calls of the model's own
 * functions, which may hide any of these. `known` may be NULL. */
bool node_is_foldable(const struct model *model, const struct known_types *known, const struct node *node);

#endif
