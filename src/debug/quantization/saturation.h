/* debug/quantization/saturation.h: saturation of 8-bit products. On x86-64 processors without VNNI, ONNX Runtime's
 * kernels add pairs of uint8 x int8 products in 16 bits; int8 activations become uint8 before. */
#ifndef DEBUG_QUANTIZATION_SATURATION_H
#define DEBUG_QUANTIZATION_SATURATION_H

#include "onnx/model/model.h"

/* Entry of ONNX Runtime's session configuration that selects uint8 x uint8 products, which do not saturate. It has no
 * effect on processors that do not saturate. */
#define SATURATION_SETTING "session.x64quantprecision=1"

#define SATURATION_CAUSE "uint8 x int8 products saturate on this processor (no VNNI)"
#define SATURATION_FIXES                                                                                               \
    "7-bit weights (reduce_range), uint8 weights, ONNX Runtime's " SATURATION_SETTING                                  \
    ", or int8 activations with session.qdqisint8allowed=1"

/* Sentence about the cause, after an experiment has proven it. */
#define SATURATION_SENTENCE SATURATION_CAUSE "; fixes: " SATURATION_FIXES

/* Whether a runtime may multiply 8-bit numbers for this model: it has quantized tensors without blocks, and a node that
 * multiplies. Types and sizes of the products are not examined. */
bool saturation_is_possible(const struct model *model);

#endif
