/* onnx/model/constants.h: what the constants of a model hold, and new ones in place of nodes. */
#ifndef ONNX_MODEL_CONSTANTS_H
#define ONNX_MODEL_CONSTANTS_H

#include "onnx/model/model.h"
#include "tensor/values/tensor.h"

/* Reads a constant of integers, with its shape. False when `value` is no constant, is kept elsewhere (external data),
 * has another type, or has more than `limit` elements. */
bool constant_integers(const struct model *model, uint32_t value, size_t limit, int64_t *ret, struct shape *ret_shape);

/* Makes `value` a constant, with a copy of `tensor`: nothing computes it any more. The node that did stays, and has to
 * be removed or renamed before the model is written. */
int constant_replace(struct model *model, uint32_t value, const struct tensor *tensor, struct error *err);

/* Removes the nodes that no output of the model depends on. Inputs stay, used or not: they are the model's
 * interface. */
int model_remove_unneeded_nodes(struct model *model, struct error *err);

#endif
