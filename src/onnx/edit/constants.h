/* onnx/edit/constants.h: reads constants of a model, replaces them, and replaces nodes by constants. */
#ifndef ONNX_EDIT_CONSTANTS_H
#define ONNX_EDIT_CONSTANTS_H

#include "base/container/bitset.h"
#include "onnx/model/model.h"
#include "tensor/values/tensor.h"

/* Reads a constant of integers, with its shape. False if `value` is not a constant, has external data, has another
 * type, or has more than `limit` elements. */
bool constant_integers(const struct model *model, uint32_t value, size_t limit, int64_t *ret, struct shape *ret_shape);

/* Makes `value` a constant with a copy of `tensor`, without a producer. Its former producer stays in the model; remove
 * it or rename its output before the model is written. */
int constant_replace(struct model *model, uint32_t value, const struct tensor *tensor, struct error *err);

/* Makes `value` a constant, or replaces its constant, by a TensorProto (its name is ignored) whose bytes must outlive
 * the model. A node that produces the value must be removed. */
void model_set_initializer(struct model *model, uint32_t value, struct span tensor);

/* Like model_set_initializer(), with a copy of `tensor`. ERR_MEMORY if it cannot be allocated. */
int model_set_tensor(struct model *model, uint32_t value, const struct tensor *tensor, struct error *err);

/* Like model_set_tensor(), for a tensor of this type (not strings) and shape. The caller fills `*ret`, tensor_bytes()
 * bytes aligned for the type. */
int model_new_tensor(struct model *model, uint32_t value, enum data_type type, const struct shape *shape, void **ret,
                     struct error *err);

/* Gives the constant of `value`, a TensorProto without data, `size` bytes of raw data, which the caller fills. Its
 * other fields stay. ERR_MEMORY if they cannot be allocated. */
int model_add_raw_data(struct model *model, uint32_t value, size_t size, void **ret, struct error *err);

/* Allocates memory that is freed with the model, for data that are too large for its arena. NULL if it cannot be
 * allocated. */
void *model_allocate(struct model *model, size_t size);

/* Writes a Constant node, named after its output, with a TensorProto (its name is ignored). */
void constant_node_write(struct string_builder *out, struct text output, struct span tensor);

/* Removes the constants of these values (a set). Required for values that a node produces from now on; unused constants
 * are never written anyway. */
void model_remove_initializers(struct model *model, const struct bitset *values);

#endif
