/* onnx/edit/four_bit_identity.h: replaces Identity on 4-bit integers, for which ONNX Runtime has no kernel. */
#ifndef ONNX_EDIT_FOUR_BIT_IDENTITY_H
#define ONNX_EDIT_FOUR_BIT_IDENTITY_H

#include "onnx/model/model.h"

/* Replaces each Identity on int4 or uint4 by a Cast to the same type. ONNX Runtime has no kernel for such an Identity
 * and runs a model with one only if it can eliminate it, which it cannot if its output is an output of the model. Types
 * are inferred here, without a runtime. For models to be run, not for models to be saved. `ret_any` (may be NULL):
 * whether any node was replaced. */
int model_respell_four_bit_identities(struct model *model, bool *ret_any, struct error *err);

#endif
