/* format/numpy/npz.h: NumPy's .npz files: zip archives (PKWARE, APPNOTE.TXT) with a .npy file for each array.
 *
 * Members are stored, as numpy.savez() writes them, or deflated, as numpy.savez_compressed() does. Arrays are called
 * what their members are without ".npy"; other members are passed over. Checksums are verified. Written archives have
 * stored members, each beginning at a multiple of 64 bytes, so that whoever maps the file can use arrays where they
 * lie; the same arrays give the same bytes.
 */
#ifndef FORMAT_NUMPY_NPZ_H
#define FORMAT_NUMPY_NPZ_H

#include "base/file/file.h"
#include "base/text/string_builder.h"
#include "tensor/values/tensor.h"

/* Appends all arrays of the file at `path` to `ret`. Stored ones that are laid out as tensors are refer to its mapping,
 * which lives as long as any of them. ERR_CORRUPT for an archive that is damaged, or in which a member claims more
 * bytes than its compressed ones can give. On an error `ret` may hold some. */
int npz_load(const char *path, struct tensor_list *ret, struct error *err);

/* The same for a file in memory, which has to outlive the tensors. */
int npz_parse(struct span file, struct tensor_list *ret, struct error *err);

/* Reads the first array of an archive in memory; `ret` owns its data. */
int npz_read_first(struct span file, struct tensor *ret, struct error *err);

/* Writes array by array. */
struct npz_writer {
    struct file_writer file;
    struct string_builder directory; /* what the end of the file says of the members so far */
    uint64_t count;
};

int npz_writer_open(struct npz_writer *writer, const char *path, struct error *err);

/* Names must differ. Types that NumPy has not are written as in npy.h. */
int npz_writer_add(struct npz_writer *writer, const char *name, const struct tensor *tensor, struct error *err);

/* Puts the file in place. */
int npz_writer_commit(struct npz_writer *writer, enum file_durability durability, struct error *err);
void npz_writer_release(struct npz_writer *writer); /* without commit no file is left */

#endif
