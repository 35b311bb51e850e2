/* format/numpy/npy_header.h: the header of a .npy file, a Python dict that describes the data. */
#ifndef FORMAT_NUMPY_NPY_HEADER_H
#define FORMAT_NUMPY_NPY_HEADER_H

#include "base/text/text.h"
#include "tensor/values/tensor.h"

enum npy_text { NPY_NO_TEXT, NPY_UTF32, NPY_BYTES };

struct npy_header {
    enum data_type type; /* DATA_STRING for both kinds of text */
    enum npy_text text;
    size_t item_size; /* bytes of an element; never 0 */
    bool big_endian;
    bool fortran_order; /* the first dimension varies fastest */
    struct shape shape;
    size_t elements;
    size_t data_offset; /* verified: elements * item_size bytes follow */
};

int npy_header_read(struct span file, struct npy_header *ret, struct error *err);

/* Appends the header (magic number, version, length, dict) of a little-endian array in C layout. `item_size` is used
 * for text only. `type` must be a type that NumPy has. */
void npy_header_write(enum data_type type, enum npy_text text, size_t item_size, const struct shape *shape,
                      struct string_builder *ret);

#endif
