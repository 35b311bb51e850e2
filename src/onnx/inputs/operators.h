/* onnx/inputs/operators.h: what operators say about the sizes of their inputs and outputs. */
#ifndef ONNX_INPUTS_OPERATORS_H
#define ONNX_INPUTS_OPERATORS_H

#include "onnx/inputs/facts.h"

struct known_operator {
    const char *op_type;
    operator_facts function;
};

/* Tables that end with an entry without a name. The ones of ONNX's own domain: */
extern const struct known_operator elementwise_operators[]; /* elementwise.c */
extern const struct known_operator shape_operators[];       /* shapes.c: what moves elements, and computes shapes */
extern const struct known_operator moving_operators[];      /* moving.c: Transpose, Slice, Pad */
extern const struct known_operator index_operators[];       /* indices.c: Gather, Scatter and the like */
extern const struct known_operator layer_operators[];       /* layers.c: products, windows, reductions */

/* In any domain: attention, normalization, quantized weights. */
extern const struct known_operator attention_operators[];       /* attention.c */
extern const struct known_operator quantized_index_operators[]; /* indices.c */

#endif
