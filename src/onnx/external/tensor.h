/* onnx/external/tensor.h: the values of a weight, wherever they lie. */
#ifndef ONNX_EXTERNAL_TENSOR_H
#define ONNX_EXTERNAL_TENSOR_H

#include "onnx/model/model.h"
#include "tensor/values/tensor.h"

/* Like tensor_proto_decode(), also for external data: `ret` then refers to a mapping of the file, which it owns.
 * ERR_CORRUPT when the file is shorter than the model says; else the errors of external_data_path(). */
int external_tensor_read(const struct model *model, struct span message, struct tensor *ret, struct error *err);

/* The same for data that are to live as long as the model, which maps each file once and for all. Strings are still the
 * caller's to release. */
int external_tensor_borrow(struct model *model, struct span message, struct tensor *ret, struct error *err);

/* Like external_tensor_read(), for a constant as it is written: float32 data that become float16 have become it. */
int external_tensor_read_constant(const struct model *model, const struct initializer *initializer, struct tensor *ret,
                                  struct error *err);

/* True when the data lie in another file: `ret` is its location, which points into the model. */
bool external_tensor_location(struct span message, struct text *ret);

/* The file, of the model or of its borrowed external data, in which these bytes are mapped; NULL: in none. */
const struct file_map *external_tensor_map(const struct model *model, struct span bytes);

#endif
