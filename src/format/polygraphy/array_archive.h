/* format/polygraphy/array_archive.h: input data or results in an archive of named arrays, .npz or safetensors, read
 * iteration by iteration.
 *
 * Names of arrays and metadata of safetensors are explained in format/safetensors/safetensors.h. A .npz file has no
 * metadata: if all its names begin with a number and a slash, it has several iterations, else one.
 */
#ifndef FORMAT_POLYGRAPHY_ARRAY_ARCHIVE_H
#define FORMAT_POLYGRAPHY_ARRAY_ARCHIVE_H

#include "format/numpy/npz.h"
#include "format/safetensors/safetensors.h"
#include "tensor/values/tensor.h"

enum archive_format { ARCHIVE_NONE, ARCHIVE_NPZ, ARCHIVE_SAFETENSORS };

/* The format by the file's signature. ARCHIVE_NONE for other files, and those that cannot be read. */
enum archive_format array_archive_format(const char *path);

struct archived_runner {
    char *name;
    size_t first; /* its first set of arrays */
    size_t iterations;
    double *runtimes; /* seconds; NaN where unknown */
};

struct array_archive {
    enum archive_format format;
    struct npz npz;
    struct safetensors tensors;
    char *path;
    bool holds_inputs; /* the metadata say so; a file of another program may be either */
    bool holds_results;
    struct archived_runner *runners; /* of results */
    size_t runner_count;
    size_t count;  /* sets of arrays: iterations of inputs; of results those of the first runner, then the next one's */
    bool numbered; /* the names begin with numbers */
    size_t *firsts;       /* of each set: its first one in `arrays`; and their number */
    size_t *arrays;       /* indices of arrays in the archive, set by set */
    struct span resident; /* of the mapping: what was read since its pages were dropped */
};

/* ERR_CORRUPT for a damaged archive, or names that do not fit the metadata. */
int array_archive_open(const char *path, enum archive_format format, struct array_archive *ret, struct error *err);

/* Like array_archive_open(), for a safetensors file in memory, which must outlive the tensors. */
int array_archive_open_memory(struct span file, const char *name, struct array_archive *ret, struct error *err);
void array_archive_close(struct array_archive *archive); /* harmless on a zeroed struct; tensors that were read stay */

/* Appends the arrays of a set to `ret`, which is empty. */
int array_archive_read(struct array_archive *archive, size_t set, struct tensor_list *ret, struct error *err);

#endif
