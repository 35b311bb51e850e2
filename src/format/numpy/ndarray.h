/* format/numpy/ndarray.h: arrays in Polygraphy's JSON files: a .npy file in base64. */
#ifndef FORMAT_NUMPY_NDARRAY_H
#define FORMAT_NUMPY_NDARRAY_H

#include "format/json/reader.h"
#include "format/json/writer.h"
#include "tensor/values/tensor.h"

/* Reads one array. */
int ndarray_read(struct json_reader *reader, json_t *value, struct tensor *ret, struct error *err);

/* Appends the arrays that are the members of an object to `ret`, under the members' names; each owns its data. A member
 * is an ndarray, or a LazyArray that holds one. Also understood are .npz files in base64, and either kind of file with
 * its bytes as the characters of the text, as very old files have them. Torch tensors and TensorRT's formatted arrays
 * are refused by name. `what` is how an error calls the members: "output". On an error `ret` may hold some of them. */
int ndarray_read_members(struct json_reader *reader, json_t *object, const char *what, struct tensor_list *ret,
                         struct error *err);

/* Writes an ndarray. Fails only when the file cannot be written or the tensor has no type. */
int ndarray_write(struct json_writer *writer, const struct tensor *tensor, struct error *err);

/* The same within a LazyArray, as results have it. */
int ndarray_write_lazy(struct json_writer *writer, const struct tensor *tensor, struct error *err);

#endif
