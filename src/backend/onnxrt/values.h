/* backend/onnxrt/values.h: our tensors as ONNX Runtime's values, and back. Element types have the same numbers and the
 * same bytes on both sides, so that the small floating types and packed 4-bit integers pass as they are. */
#ifndef BACKEND_ONNXRT_VALUES_H
#define BACKEND_ONNXRT_VALUES_H

#include "backend/onnxrt/library.h"
#include "tensor/values/tensor.h"

/* Makes a value that refers to the tensor's data, which have to outlive it. Strings are copied, and so are data that
 * are not aligned for their type, as those inside of a file may be. The caller releases the value. */
int onnxrt_value_new(const struct onnxrt *ort, const struct tensor *tensor, struct ort_value **ret, struct error *err);

/* Makes a tensor that refers to the data of `value` and owns it (a string tensor has copies). Takes `value` over, also
 * when it fails. */
int onnxrt_value_take(const struct onnxrt *ort, struct ort_value *value, struct tensor *ret, struct error *err);

/* Reads element type and shape. A negative dimension is not known before run time. */
int onnxrt_read_shape(const struct onnxrt *ort, const struct ort_tensor_info *info, enum data_type *ret_type,
                      struct shape *ret_shape, struct error *err);

#endif
