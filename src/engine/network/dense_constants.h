/* engine/network/dense_constants.h: sparse constants, written out. */
#ifndef ENGINE_NETWORK_DENSE_CONSTANTS_H
#define ENGINE_NETWORK_DENSE_CONSTANTS_H

#include "onnx/model/model.h"

/* Makes every sparse initializer of the model, and every Constant node with a sparse value, a dense initializer.
 * Renumbers nodes. ERR_CORRUPT for one whose positions lie outside of its shape. */
int model_make_constants_dense(struct model *model, struct error *err);

#endif
