/* onnx/half/half_operators.h: which nodes can compute in float16 or bfloat16, and with what of theirs. */
#ifndef ONNX_HALF_HALF_OPERATORS_H
#define ONNX_HALF_HALF_OPERATORS_H

#include "onnx/model/model.h"
#include "tensor/values/data_type.h"

/* Before this operator set a Cast is told its type in words, and runtimes do not have it any more: nothing is
 * converted. Casts know bfloat16 from operator set 13 on. */
#define HALF_OPSET 6

/* Whether the operator of the node takes `half`, float16 or bfloat16, for each of its float32 tensors: one of ONNX's
 * own, without a body, whose types are known. float16: with that in all operator sets; bfloat16: in the model's. What
 * the types of the model's values are has to be inferred before. */
bool node_takes_half(const struct model *model, const struct node *node, enum data_type half);

/* The first version of ONNX's operator set in which the operator of the node takes bfloat16; 0: it does in none. */
int64_t node_bfloat16_opset(const struct node *node);

/* Which of its float32 inputs such a node wants narrowed. Scales of Resize stay: there, every bit decides about a
 * size. */
bool node_narrows_input(const struct node *node, size_t input);

/* Shapes do not depend on the type: what asks for one takes the tensor as it comes. */
bool node_takes_any_type(const struct node *node);

/* Whether the node, or a body of it, reads elements of a float32 tensor, or the node makes one. */
bool node_has_float32(const struct model *model, const struct node *node);

/* The element type of a value, from its description or, for a constant, from its data; UNDEFINED: not a dense tensor,
 * or not known. */
enum data_type value_element(const struct model *model, uint32_t value);

#endif
