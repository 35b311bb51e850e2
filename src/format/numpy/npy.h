/* format/numpy/npy.h: NumPy's .npy files (NumPy Enhancement Proposal 1; numpy.lib.format), versions 1.0, 2.0 and 3.0.
 *
 * The module format/numpy/ reads and writes NumPy's files, and arrays in Polygraphy's JSON. It depends on tensor/ and
 * format/json/.
 *
 * Reading supports either byte order, C and Fortran layout, booleans, integers, floats, complex numbers, and text: '<U'
 * (UTF-32) and '|S' (bytes) become string tensors. Object arrays (pickles), records and dates are refused.
 *
 * Writing gives C layout, little-endian, version 1.0, with NumPy's own header. NumPy lacks some types; their values are
 * written exactly in a wider type: bfloat16, the float8 types and float4 as float32, int4 as int8, uint4 as uint8. A
 * string tensor becomes '<U<longest>', or '|S<longest>' if a text is not UTF-8. As in NumPy, trailing NUL characters of
 * a text are lost.
 */
#ifndef FORMAT_NUMPY_NPY_H
#define FORMAT_NUMPY_NPY_H

#include "base/file/file.h"
#include "base/text/text.h"
#include "tensor/values/tensor.h"

/* Reads a .npy file in memory; bytes after the array are ignored. If the data have the layout of a tensor, `ret` refers
 * to them, and they must outlive it; otherwise it owns a converted copy. */
int npy_read(struct span file, struct tensor *ret, struct error *err);

/* Like npy_read(), for the file at `path`. The tensor owns the mapping or a converted copy. */
int npy_load(const char *path, struct tensor *ret, struct error *err);

/* Like npy_read(), for a file in malloc'd memory, which `ret` then owns or which is freed, also on an error. */
int npy_read_owned(uint8_t *data, size_t size, struct tensor *ret, struct error *err);

/* Receives a written file piece by piece. */
struct npy_sink {
    int (*add)(void *context, const void *data, size_t size, struct error *err);
    void *context;
};

/* Writes a .npy file to a sink. Returns errors of the sink, and ERR_UNSUPPORTED for a tensor without a type. */
int npy_write(const struct tensor *tensor, const struct npy_sink *sink, struct error *err);

int npy_save(const struct tensor *tensor, const char *path, enum file_durability durability, struct error *err);

#endif
