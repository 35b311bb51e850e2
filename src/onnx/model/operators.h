/* onnx/model/operators.h: names of the standard ONNX operators, and which nodes may be constant-folded. */
#ifndef ONNX_MODEL_OPERATORS_H
#define ONNX_MODEL_OPERATORS_H

#include "onnx/model/model.h"

/* Whether any version of the standard operator set, up to 26, contains an operator of this name. */
bool operator_is_standard(struct text op_type);

/* Whether the values at this place among a node's inputs decide the shape of its result, or which elements it has:
 * pads, sizes, axes, indices, starts and ends, repeats, counts. Source: ONNX, "Operators". */
bool node_input_decides_shape(const struct node *node, size_t input);

/* Whether a node of the main graph, or one in its bodies, produces random values. */
bool node_is_random(const struct node *node);

/* Whether a node may be constant-folded if all its reads are constant. False for random operators (also in bodies),
 * quantization (runtimes need to see it), nodes that produce values other than tensors, calls of the model's functions,
 * which may contain any of these, and nodes of a function whose attributes its caller gives. `known` may be NULL. */
bool node_is_foldable(const struct model *model, const struct known_types *known, const struct node *node);

#endif
