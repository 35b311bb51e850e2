/* onnx/external/tensor.h: reads the values of a weight, inside the model or in external data. */
#ifndef ONNX_EXTERNAL_TENSOR_H
#define ONNX_EXTERNAL_TENSOR_H

#include "onnx/model/model.h"
#include "tensor/values/tensor.h"

/* Like tensor_proto_decode(), also for external data: `ret` then refers to a mapping of the file, which it owns.
 * ERR_CORRUPT if the file is shorter than the model requires; errors of external_data_path(). */
int external_tensor_read(const struct model *model, struct span message, struct tensor *ret, struct error *err);

/* Like external_tensor_read(), for data that live as long as the model, which maps each file once. The caller still
 * releases strings. */
int external_tensor_borrow(struct model *model, struct span message, struct tensor *ret, struct error *err);

/* Like external_tensor_read(), for a constant as model_write() writes it: `narrowed` float32 data are converted. */
int external_tensor_read_constant(const struct model *model, const struct initializer *initializer, struct tensor *ret,
                                  struct error *err);

/* Whether the data are in another file: `ret` is its location, which points into the model. */
bool external_tensor_location(struct span message, struct text *ret);

/* The mapped file (the model or its borrowed external data) that contains these bytes; NULL if none does. */
const struct file_map *external_tensor_map(const struct model *model, struct span bytes);

#endif
