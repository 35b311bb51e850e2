/* format/numpy/npz.h: NumPy's .npz files: zip archives of .npy files. */
#ifndef FORMAT_NUMPY_NPZ_H
#define FORMAT_NUMPY_NPZ_H

#include "base/text/text.h"
#include "tensor/values/tensor.h"

/* Reads the first array of an archive in memory; `ret` owns its data. Entries may be stored or deflated, as NumPy
 * writes them. ERR_CORRUPT for an entry that claims more bytes than its compressed ones can give. */
int npz_read_first(struct span file, struct tensor *ret, struct error *err);

#endif
