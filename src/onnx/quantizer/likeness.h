/* onnx/quantizer/likeness.h: whether a node of a quantized model and a node of a float model compute the same
 * function. */
#ifndef ONNX_QUANTIZER_LIKENESS_H
#define ONNX_QUANTIZER_LIKENESS_H

#include "onnx/model/model.h"

/* The float operator that corresponds to a node: Conv for QLinearConv. */
struct text node_float_operator(const struct node *node);

/* The operands of a node, for integer operators without scales and zero points. VALUE_NONE if omitted. */
size_t node_operand_count(const struct model *model, const struct node *node); /* up to the last present operand */
uint32_t node_operand(const struct model *model, const struct node *node, size_t i);

/* Whether operators, number of operands and common attributes are equal. An attribute that one node omits is assumed to
 * be equal; graphs, tensors and lists of strings are not compared. */
bool nodes_are_alike(const struct model *a_model, const struct node *a, const struct model *b_model,
                     const struct node *b);

#endif
