/* backend/trtexec/raw_tensor.h: tensors as trtexec has them in files: bytes without a header, in row-major order and in
 * the byte order of the machine.
 */
#ifndef BACKEND_TRTEXEC_RAW_TENSOR_H
#define BACKEND_TRTEXEC_RAW_TENSOR_H

#include "tensor/values/tensor.h"

/* The values of an input in the type that the engine takes in the place of its own: TensorRT has no float64 at all, and
 * up to 8 no int64; its parser does the same with the model. ERR_UNSUPPORTED for other types, and for values that are
 * beyond the narrower one. */
int raw_tensor_narrow(const char *name, const struct tensor *from, enum data_type type, struct tensor *ret,
                      struct error *err);

/* Maps a file, which may be removed then. ERR_BACKEND unless it has the size that the tensor takes. */
int raw_tensor_map(const char *path, enum data_type type, const struct shape *shape, struct tensor *ret,
                   struct error *err);

#endif
