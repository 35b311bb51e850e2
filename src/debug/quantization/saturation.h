/* debug/quantization/saturation.h: 8-bit products that saturate. On x86-64 processors without VNNI kernels of ONNX
 * Runtime add two products of uint8 and int8 in 16 bits, and int8 activations become uint8 before that. */
#ifndef DEBUG_QUANTIZATION_SATURATION_H
#define DEBUG_QUANTIZATION_SATURATION_H

#include "onnx/model/model.h"

/* The entry of ONNX Runtime's session configuration that has it multiply uint8 by uint8 instead, whose products do not
 * saturate. On processors that do not saturate it has no effect. */
#define SATURATION_SETTING "session.x64quantprecision=1"

#define SATURATION_CAUSE "uint8 x int8 products saturate on this processor (no VNNI)"
#define SATURATION_FIXES                                                                                               \
    "7-bit weights (reduce_range), uint8 weights, ONNX Runtime's " SATURATION_SETTING                                  \
    ", or int8 activations with session.qdqisint8allowed=1"

/* The sentence about the cause, for where an experiment has shown it. */
#define SATURATION_SENTENCE SATURATION_CAUSE "; fixes: " SATURATION_FIXES

/* Whether a runtime may multiply 8-bit numbers for this model: it has quantized tensors, not in blocks, and a node that
 * multiplies. Whether the products are uint8 x int8 and large enough to saturate is not looked at. */
bool saturation_is_possible(const struct model *model);

#endif
