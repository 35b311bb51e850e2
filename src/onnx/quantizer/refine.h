/* onnx/quantizer/refine.h: refines quantizers with better scales, more scales, or more bits, as alternatives to a
 * bypass. */
#ifndef ONNX_QUANTIZER_REFINE_H
#define ONNX_QUANTIZER_REFINE_H

#include "base/container/bitset.h"
#include "onnx/quantizer/twins.h"

enum quantizer_refinement {
    REFINE_NOT,
    REFINE_FIT,         /* as many bits and scales, fitted to the values: 8 bits, or 4 bits in blocks */
    REFINE_PER_CHANNEL, /* 8 bits, one scale for each output channel of a weight */
    REFINE_16_BITS,     /* 4 and 8 bits become 16: the same range in finer steps that divide the old ones */
    REFINEMENTS,        /* count */
};

/* Known values of the quantizers' tensors. */
struct quantizer_knowledge {
    const struct model *model;
    const struct quantizers *quantizers;
    const struct quantizer_twins *twins; /* provide the float values of stored constants. NULL: none */
    const struct quantizer_range {
        float least, largest; /* observed range, after the model's Relu or Clip; NAN: none */
    } * ranges;               /* for each quantizer, used for activations. NULL: none */
};

/* Why this quantizer cannot be refined in this way, or NULL. */
const char *quantizer_why_not_refined(const struct quantizer_knowledge *knowledge, size_t quantizer,
                                      enum quantizer_refinement refinement);

/* Refines quantizers (`how`: one entry for each); quantizer_why_not_refined() must allow it. `model` is the model in
 * which they were found, or a copy of it; nodes and values keep their numbers, new values are appended. Before operator
 * set 21 ONNX has no 16-bit quantization: such nodes become com.microsoft's, which only ONNX Runtime supports
 * (*ret_microsoft, may be NULL). If an input or weight gets new 8-bit scales, an int32 bias of the node gets their
 * products as scales, which runtimes assume. After an error the model can only be freed. */
int quantizers_refine(struct model *model, const struct quantizer_knowledge *knowledge,
                      const enum quantizer_refinement *how, bool *ret_microsoft, struct error *err);

#endif
