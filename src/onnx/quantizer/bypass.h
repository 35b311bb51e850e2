/* onnx/quantizer/bypass.h: removes quantizers from a model. */
#ifndef ONNX_QUANTIZER_BYPASS_H
#define ONNX_QUANTIZER_BYPASS_H

#include "base/container/bitset.h"
#include "onnx/quantizer/twins.h"

/* Why a quantizer cannot be bypassed; NULL if it can. `twin` may be NULL. */
const char *quantizer_why_it_stays(const struct quantizer *quantizer, const struct quantizer_twin *twin);

/* Bypasses the quantizers in `off`: consumers of the dequantized tensor read the float tensor instead, after a Relu or
 * Clip if the quantizer's range replaced one. A stored constant is replaced by that of the float model, which must
 * outlive the model. `twins` may be NULL. Inputs and outputs keep their names. `model` is the model in which the
 * quantizers were found, or a copy of it; nodes are renumbered. ERR_UNSUPPORTED for a quantizer that cannot be
 * bypassed; after an error the model can only be freed. */
int quantizers_bypass(struct model *model, const struct quantizers *quantizers, const struct bitset *off,
                      const struct quantizer_twins *twins, struct error *err);

#endif
