/* format/numpy/ndarray.h: arrays in Polygraphy's JSON files: a .npy file in base64. */
#ifndef FORMAT_NUMPY_NDARRAY_H
#define FORMAT_NUMPY_NDARRAY_H

#include "format/json/reader.h"
#include "format/json/writer.h"
#include "tensor/values/tensor.h"

/* Reads one array. */
int ndarray_read(struct json_reader *reader, json_t *value, struct tensor *ret, struct error *err);

/* Appends the arrays that are the members of an object to `ret`, under the members' names; each owns its data. A member
 * is an ndarray, or a LazyArray with one. Also accepted are .npz files in base64, and in very old files either kind as
 * Latin-1 text. ERR_UNSUPPORTED for torch tensors and TensorRT's formatted arrays. `what` is the word for members in
 * errors: "output". On an error `ret` may contain some arrays. */
int ndarray_read_members(struct json_reader *reader, json_t *object, const char *what, struct tensor_list *ret,
                         struct error *err);

/* Writes an ndarray. Fails only if the file cannot be written or the tensor has no type. */
int ndarray_write(struct json_writer *writer, const struct tensor *tensor, struct error *err);

/* Writes an ndarray inside a LazyArray, as in results. */
int ndarray_write_lazy(struct json_writer *writer, const struct tensor *tensor, struct error *err);

#endif
