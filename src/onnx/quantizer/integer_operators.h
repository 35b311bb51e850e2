/* onnx/quantizer/integer_operators.h: operators that compute directly on quantized integers, and the scale and
 * zero-point inputs of each operand.
 *
 * Source: ONNX, "Operators"; ONNX Runtime, "Contrib Operators" (com.microsoft).
 */
#ifndef ONNX_QUANTIZER_INTEGER_OPERATORS_H
#define ONNX_QUANTIZER_INTEGER_OPERATORS_H

#include "onnx/model/model.h"

enum { OPERAND_OMITTED = -1 }; /* instead of an input index: the operator has no such input */

/* A quantized integer tensor that a node reads or produces. */
struct integer_operand {
    bool is_output;
    uint32_t place;        /* index among the node's inputs or outputs */
    int scale, zero_point; /* input indices, or OPERAND_OMITTED */
    bool computed;         /* the node computes the scale itself: DynamicQuantizeLinear */
    bool has_axis;         /* it may have a scale for each slice along `axis` (negative: from the end) */
    int64_t axis;
    const char *block_size; /* attribute; NULL: never in blocks */
    const char *bits;       /* attribute with the bits per element; NULL: the tensor's type determines them */
    bool is_bias;
};

/* The i-th integer operand of a node; false if there are no more, and for unknown operators. */
bool integer_operand_of(const struct node *node, size_t i, struct integer_operand *ret);

/* Whether the node's operator computes on quantized integers. */
bool node_is_on_integers(const struct node *node);

#endif
