/* onnx/quantizer/likeness.h: whether a node of a quantized model and one of a float model compute the same. */
#ifndef ONNX_QUANTIZER_LIKENESS_H
#define ONNX_QUANTIZER_LIKENESS_H

#include "onnx/model/model.h"

/* The float operator of a node: QLinearConv is a Conv. */
struct text node_float_operator(const struct node *node);

/* The tensors that it computes with: of an operator on integers, without scales and zero points. VALUE_NONE where
 * one is omitted. */
size_t node_operand_count(const struct model *model, const struct node *node); /* up to the last that is not omitted */
uint32_t node_operand(const struct model *model, const struct node *node, size_t i);

/* Whether operators, operands and the attributes that both have are the same. An attribute that one of them leaves out
 * is taken to have the value that the other one has; graphs, tensors and lists of texts are not compared. */
bool nodes_are_alike(const struct model *a_model, const struct node *a, const struct model *b_model,
                     const struct node *b);

#endif
