/* onnx/half/half_operators.h: which nodes can compute in float16 or bfloat16, and which of their inputs. */
#ifndef ONNX_HALF_HALF_OPERATORS_H
#define ONNX_HALF_HALF_OPERATORS_H

#include "onnx/model/model.h"
#include "tensor/values/data_type.h"

/* Before this operator set the type of a Cast is a string, which runtimes no longer support: nothing is converted.
 * Casts support bfloat16 from operator set 13 on. */
#define HALF_OPSET 6

/* Whether the node's operator supports `half`, float16 or bfloat16, for each of its float32 tensors: a standard ONNX
 * operator, without a body, with known types. float16 must be supported in all operator sets, bfloat16 in the model's.
 * Requires inferred types. */
bool node_takes_half(const struct model *model, const struct node *node, enum data_type half);

/* The first ONNX operator set in which the node's operator supports bfloat16; 0: none. */
int64_t node_bfloat16_opset(const struct node *node);

/* Whether this float32 input of such a node is converted. Scales of Resize stay float32: a changed bit may change a
 * size. */
bool node_narrows_input(const struct node *node, size_t input);

/* Whether the node only reads the shape of its input (Shape, Size), so that its input may have any type. */
bool node_takes_any_type(const struct node *node);

/* Whether the node or one of its bodies reads elements of a float32 tensor, or the node produces one. */
bool node_has_float32(const struct model *model, const struct node *node);

/* The element type of a value, from its description or, for a constant, from its data; UNDEFINED: not a dense tensor,
 * or unknown. */
enum data_type value_element(const struct model *model, uint32_t value);

#endif
