/* format/numpy/npy.h: NumPy's .npy files (NumPy Enhancement Proposal 1; numpy.lib.format), versions 1.0, 2.0 and 3.0.
 *
 * The module format/numpy/ turns NumPy's files, and arrays inside of Polygraphy's JSON, into tensors and back. It uses
 * tensors and format/json/.
 *
 * Reading understands either byte order, C and Fortran layout, booleans, integers, floats, complex numbers, and text:
 * '<U' (UTF-32) and '|S' (bytes) become string tensors. Object arrays (pickles), records and dates are refused.
 *
 * Writing gives C layout, little-endian, version 1.0, with NumPy's own header. NumPy has no name for some types; their
 * values are written, exactly, as those of a wider one: bfloat16, the float8 types and float4 as float32, int4 as int8,
 * uint4 as uint8. A string tensor becomes '<U<longest>', or '|S<longest>' when a text is not UTF-8. As in
 * NumPy, NUL characters at the end of a text get lost.
 */
#ifndef FORMAT_NUMPY_NPY_H
#define FORMAT_NUMPY_NPY_H

#include "base/file/file.h"
#include "base/text/text.h"
#include "tensor/values/tensor.h"

/* Makes a tensor of a whole .npy file in memory; what follows the array is ignored. When the data lie there as a tensor
 * has them, `ret` refers to them and they have to outlive it; otherwise it owns a converted copy. */
int npy_read(struct span file, struct tensor *ret, struct error *err);

/* The same for the file at `path`. The tensor refers to its mapping, and keeps it, or owns a converted copy. */
int npy_load(const char *path, struct tensor *ret, struct error *err);

/* The same for a file in malloc'd memory, which belongs to `ret` or is freed afterwards, also on an error. */
int npy_read_owned(uint8_t *data, size_t size, struct tensor *ret, struct error *err);

/* Where a written file goes, piece by piece. */
struct npy_sink {
    int (*add)(void *context, const void *data, size_t size, struct error *err);
    void *context;
};

/* Fails when the sink does, or with ERR_UNSUPPORTED for a tensor without a type. */
int npy_write(const struct tensor *tensor, const struct npy_sink *sink, struct error *err);

int npy_save(const struct tensor *tensor, const char *path, enum file_durability durability, struct error *err);

#endif
