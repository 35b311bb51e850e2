/* engine/network/spelling.h: canonicalizes constructs that ONNX allows in two forms, so that the engine handles a
 * single form.
 */
#ifndef ENGINE_NETWORK_SPELLING_H
#define ENGINE_NETWORK_SPELLING_H

#include "onnx/model/model.h"

/* Converts every sparse initializer, and every Constant node with a sparse value, to a dense initializer. Renumbers
 * nodes. ERR_CORRUPT for indices outside of the shape. */
int model_make_constants_dense(struct model *model, struct error *err);

/* Replaces every Sum of two tensors by an Add. Nodes keep their numbers. */
int model_respell_sums(struct model *model, struct error *err);

#endif
