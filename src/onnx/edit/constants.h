/* onnx/edit/constants.h: what the constants of a model hold, and other ones in their place or in that of nodes. */
#ifndef ONNX_EDIT_CONSTANTS_H
#define ONNX_EDIT_CONSTANTS_H

#include "base/container/bitset.h"
#include "onnx/model/model.h"
#include "tensor/values/tensor.h"

/* Reads a constant of integers, with its shape. False when `value` is no constant, is kept elsewhere (external data),
 * has another type, or has more than `limit` elements. */
bool constant_integers(const struct model *model, uint32_t value, size_t limit, int64_t *ret, struct shape *ret_shape);

/* Makes `value` a constant, with a copy of `tensor`: nothing computes it any more. The node that did stays, and has to
 * be removed or renamed before the model is written. */
int constant_replace(struct model *model, uint32_t value, const struct tensor *tensor, struct error *err);

/* Makes `value` a constant, or another constant: a TensorProto, of whatever name, whose bytes have to outlive the
 * model. A node that makes the value has to go. */
void model_set_initializer(struct model *model, uint32_t value, struct span tensor);

/* The same with a copy of `tensor`. ERR_MEMORY when there is no room for it. */
int model_set_tensor(struct model *model, uint32_t value, const struct tensor *tensor, struct error *err);

/* The same with a tensor of this type (not strings) and shape, whose data, tensor_bytes() of them, the caller fills
 * in: they are aligned for the type. */
int model_new_tensor(struct model *model, uint32_t value, enum data_type type, const struct shape *shape, void **ret,
                     struct error *err);

/* Memory that is freed with the model, for what is too large for its arena. NULL when it cannot be had. */
void *model_allocate(struct model *model, size_t size);

/* These values (a set) are constants no longer. To be done for what a node makes from now on; constants that nothing
 * uses are never written anyway. */
void model_remove_initializers(struct model *model, const struct bitset *values);

#endif
