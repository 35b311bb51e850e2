/* engine/network/spelling.h: what ONNX lets a model write in two ways is written in one, so that the rest of the engine
 * knows a single form.
 */
#ifndef ENGINE_NETWORK_SPELLING_H
#define ENGINE_NETWORK_SPELLING_H

#include "onnx/model/model.h"

/* Makes every sparse initializer of the model, and every Constant node with a sparse value, a dense initializer.
 * Renumbers nodes. ERR_CORRUPT for one whose positions lie outside of its shape. */
int model_make_constants_dense(struct model *model, struct error *err);

/* Makes every Sum of two tensors an Add. Nodes keep their numbers. */
int model_respell_sums(struct model *model, struct error *err);

#endif
