/* onnx/quantizer/integer_operators.h: operators that work on the integers of quantized tensors themselves, and which of
 * their inputs are scales of what.
 *
 * Source: ONNX, "Operators"; ONNX Runtime, "Contrib Operators" (com.microsoft).
 */
#ifndef ONNX_QUANTIZER_INTEGER_OPERATORS_H
#define ONNX_QUANTIZER_INTEGER_OPERATORS_H

#include "onnx/model/model.h"

enum { OPERAND_OMITTED = -1 }; /* in place of an input: the operator has none */

/* A tensor of integers that a node reads or makes. */
struct integer_operand {
    bool is_output;
    uint32_t place;        /* among the node's inputs, or outputs */
    int scale, zero_point; /* among its inputs, or OPERAND_OMITTED */
    bool computed;         /* the node computes the scale itself: DynamicQuantizeLinear */
    bool has_axis;         /* it may have a scale for each slice along `axis` (from the end when negative) */
    int64_t axis;
    const char *block_size; /* attribute; NULL: never in blocks */
    const char *bits;       /* attribute: how many of a byte's bits an element takes; NULL: `place` has its type */
    bool is_bias;
};

/* The i-th of them; false when there are no more, and for operators that are not known. */
bool integer_operand_of(const struct node *node, size_t i, struct integer_operand *ret);

/* Whether it is an operator of that kind. */
bool node_is_on_integers(const struct node *node);

#endif
