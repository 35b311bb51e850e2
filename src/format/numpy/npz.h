/* format/numpy/npz.h: NumPy's .npz files: zip archives (PKWARE, APPNOTE.TXT) with a .npy file for each array.
 *
 * Members are stored, as numpy.savez() writes them, or deflated, as numpy.savez_compressed() does. The name of an array
 * is that of its member without ".npy"; other members are ignored. Checksums are verified. Written archives have stored
 * members, aligned to 64 bytes, so that a mapped file can be used without copying; the same arrays give the same bytes.
 */
#ifndef FORMAT_NUMPY_NPZ_H
#define FORMAT_NUMPY_NPZ_H

#include "base/file/file.h"
#include "base/text/string_builder.h"
#include "tensor/values/tensor.h"

/* Appends all arrays of the file at `path` to `ret`. Stored arrays with the layout of tensors refer to its mapping,
 * which lives as long as any of them. ERR_CORRUPT for a damaged archive, or a member that claims more bytes than its
 * compressed data can contain. On an error `ret` may contain some arrays. */
int npz_load(const char *path, struct tensor_list *ret, struct error *err);

/* Like npz_load(), for a file in memory, which must outlive the tensors. */
int npz_parse(struct span file, struct tensor_list *ret, struct error *err);

/* Reads the first array of an archive in memory; `ret` owns its data. */
int npz_read_first(struct span file, struct tensor *ret, struct error *err);

/* Writes array by array. */
struct npz_writer {
    struct file_writer file;
    struct string_builder directory; /* directory entries of the members so far */
    uint64_t count;
};

int npz_writer_open(struct npz_writer *writer, const char *path, struct error *err);

/* Names must differ. Types that NumPy lacks are written as in npy.h. */
int npz_writer_add(struct npz_writer *writer, const char *name, const struct tensor *tensor, struct error *err);

/* Commits the file. */
int npz_writer_commit(struct npz_writer *writer, enum file_durability durability, struct error *err);
void npz_writer_release(struct npz_writer *writer); /* without commit no file is left */

#endif
