/* onnx/quantizer/quantizers.h: the quantizers of a model.
 *
 * The module onnx/quantizer/ finds the quantizers of a model (here), matches them with the tensors of a float model,
 * leaves them out, and gives them more bits or more scales. A model comes in; a list of quantizers, or a changed model,
 * goes out. It may use onnx/external/ and what that may.
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
    size_t inside;      /* QuantizeLinear and DequantizeLinear in bodies and functions, which are not looked at */
    struct arena arena; /* names, scales, texts */
};

/* Finds all of them; it cannot fail: what is damaged or makes no sense is a quantizer's `problem`. `known` (may be
 * NULL) says more of shapes than the model, whose Constant nodes have become initializers. External scales are mapped
 * for as long as the model lives. Rules: ONNX, QuantizeLinear and DequantizeLinear 10 to 25; ONNX Runtime, "Contrib
 * Operators". */
void quantizers_find(struct model *model, const struct known_types *known, struct quantizers *ret);
void quantizers_release(struct quantizers *quantizers);

#endif
