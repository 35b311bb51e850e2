/* onnx/quantizer/quantizers.h: the quantizers of a model.
 *
 * The module onnx/quantizer/ finds the quantizers of a model (this header), matches them with the tensors of a float
 * model (twins.h), bypasses them (bypass.h), and refines them with more bits or scales (refine.h). It depends on
 * onnx/external/ and its dependencies.
 *
 *   model_lower_constants(model, err);             (scales may be Constant nodes)
 *   quantizers_find(model, NULL, &quantizers);
 *   ...
 *   copy = model_copy(model);                      (numbers of nodes and values stay)
 *   quantizers_bypass(copy, &quantizers, &off, NULL, err);
 */
#ifndef ONNX_QUANTIZER_QUANTIZERS_H
#define ONNX_QUANTIZER_QUANTIZERS_H

#include "onnx/model/model.h"
#include "onnx/quantizer/quantizer.h"

struct quantizers {
    struct quantizer *items; /* in the order of the nodes */
    size_t count, capacity;
    /* number of QuantizeLinear and DequantizeLinear in bodies and functions, which are not listed */
    size_t inside;
    struct arena arena; /* names, scales, texts */
};

/* Finds all quantizers. It cannot fail: damage and inconsistencies become the quantizer's `problem`. `known` (may be
 * NULL) contains inferred shapes. Constant nodes must have been lowered to initializers. External scales stay mapped as
 * long as the model lives. Rules: ONNX, QuantizeLinear and DequantizeLinear 10 to 25; ONNX Runtime, "Contrib
 * Operators". */
void quantizers_find(struct model *model, const struct known_types *known, struct quantizers *ret);
void quantizers_release(struct quantizers *quantizers);

#endif
