/* onnx/quantizer/twins.h: the tensors of a float model that those of a quantized model were made of.
 *
 * Both graphs are walked from their outputs and inputs, with QuantizeLinear, DequantizeLinear and Identity left out:
 * what the same operators with the same attributes make or read in the same places is paired. Where several fit, equal
 * names decide if they name one of these; else nothing is paired.
 */
#ifndef ONNX_QUANTIZER_TWINS_H
#define ONNX_QUANTIZER_TWINS_H

#include "onnx/quantizer/quantizers.h"

struct quantizer_twin {
    uint32_t tensor;     /* of the float model; VALUE_NONE: not matched */
    const char *why_not; /* then */
    /* What a Relu or Clip of the float model lets through that the quantized model does not have: tools leave out one
     * whose work the range of the quantizer behind it does. The twin is what it makes. -INFINITY, INFINITY: there is
     * none. */
    float least, largest;
};

struct quantizer_twins {
    struct model *float_model;
    struct quantizer_twin *items; /* one for each quantizer */
    size_t count;
    struct arena arena;
};

/* Constants of both models have been lowered. The twin of a stored constant is a constant of its shape, whose values
 * are like it. */
void quantizers_match(const struct quantizers *quantizers, struct model *model, struct model *float_model,
                      struct quantizer_twins *ret);
void quantizer_twins_release(struct quantizer_twins *twins);

#endif
