/* onnx/edit/four_bit_identity.h: copies of 4-bit integers in words that ONNX Runtime has a kernel for. */
#ifndef ONNX_EDIT_FOUR_BIT_IDENTITY_H
#define ONNX_EDIT_FOUR_BIT_IDENTITY_H

#include "onnx/model/model.h"

/* Makes a Cast to its own type of each Identity of int4 or uint4. ONNX Runtime has no kernel for such an Identity: it
 * runs models with one only where it can leave it out, which it cannot when its output is an output of the model. Types
 * are found out without a runtime. For models that are run, not for those that are saved. `ret_any` (may be NULL):
 * whether there was one. */
int model_respell_four_bit_identities(struct model *model, bool *ret_any, struct error *err);

#endif
