/* onnx/quantizer/twins.h: matches tensors of a quantized model with those of its float model.
 *
 * Both graphs are walked from their outputs and inputs, ignoring QuantizeLinear, DequantizeLinear and Identity: inputs
 * and outputs of equal operators with equal attributes are paired by position. If several candidates fit, an equal name
 * decides; else nothing is paired.
 */
#ifndef ONNX_QUANTIZER_TWINS_H
#define ONNX_QUANTIZER_TWINS_H

#include "onnx/quantizer/quantizers.h"

struct quantizer_twin {
    uint32_t tensor;     /* value of the float model; VALUE_NONE: not matched */
    const char *why_not; /* why it was not matched */
    /* Bounds of a Relu or Clip of the float model that is missing in the quantized model: tools remove it if the range
     * of the following quantizer has the same effect. The twin is its output. -INFINITY, INFINITY: none. */
    float least, largest;
};

struct quantizer_twins {
    struct model *float_model;
    struct quantizer_twin *items; /* one entry for each quantizer */
    size_t count;
    struct arena arena;
};

/* Matches all quantizers. Constants of both models must have been lowered. The twin of a stored constant is a constant
 * of the same shape with similar values. */
void quantizers_match(const struct quantizers *quantizers, struct model *model, struct model *float_model,
                      struct quantizer_twins *ret);
void quantizer_twins_release(struct quantizer_twins *twins);

#endif
