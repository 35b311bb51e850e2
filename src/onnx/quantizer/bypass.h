/* onnx/quantizer/bypass.h: a model without some of its quantizers. */
#ifndef ONNX_QUANTIZER_BYPASS_H
#define ONNX_QUANTIZER_BYPASS_H

#include "base/container/bitset.h"
#include "onnx/quantizer/twins.h"

/* Why a quantizer cannot be left out; NULL when it can. `twin` may be NULL. */
const char *quantizer_why_it_stays(const struct quantizer *quantizer, const struct quantizer_twin *twin);

/* Leaves out those in `off`: who read what was dequantized reads the float tensor itself, behind its Relu or Clip where
 * the quantizer did the work of one. A stored constant becomes that of the float model, which has to outlive the model.
 * `twins` may be NULL. Inputs and outputs keep their names. `model` is the one in which the quantizers were found, or a
 * copy of it; nodes are renumbered. ERR_UNSUPPORTED for one that stays; after an error the model can only be freed. */
int quantizers_bypass(struct model *model, const struct quantizers *quantizers, const struct bitset *off,
                      const struct quantizer_twins *twins, struct error *err);

#endif
