/* format/numpy/npz.h: NumPy's .npz files: zip archives (PKWARE, APPNOTE.TXT) with a .npy file for each array.
 *
 * Members are stored, as numpy.savez() writes them, or deflated, as numpy.savez_compressed() does. The name of an array
 * is that of its member without ".npy"; other members are ignored. Checksums are verified. Written archives have stored
 * members, aligned to 64 bytes, so that a mapped file can be used without copying; the same arrays give the same bytes.
 */
#ifndef FORMAT_NUMPY_NPZ_H
#define FORMAT_NUMPY_NPZ_H

#include "base/file/shared_map.h"
#include "tensor/values/tensor.h"

/* An open archive, whose arrays are read one by one: it needs eight bytes of memory for each. */
struct npz {
    struct shared_map *map; /* NULL: the archive is in borrowed memory */
    struct span file;
    size_t *entries; /* offset of each array's entry in the directory, in the directory's order */
    size_t count, capacity;
};

/* Checks the directory. ERR_CORRUPT for a damaged archive, a member that claims more bytes than its compressed data can
 * contain, or no array at all. */
int npz_open(const char *path, struct npz *ret, struct error *err);

/* Like npz_open(), for a file in memory, which must outlive `ret` and the tensors. */
int npz_open_memory(struct span file, struct npz *ret, struct error *err);
void npz_close(struct npz *npz); /* harmless on a zeroed struct; tensors that were read stay */

/* The name of an array, in the archive's bytes. */
struct text npz_name(const struct npz *npz, size_t index);

/* The bytes of an array in the archive. */
struct span npz_packed(const struct npz *npz, size_t index);

/* Reads an array. If it is stored, with the layout of tensors, `ret` refers to the mapping, which lives as long as any
 * such tensor; else it owns its data. ERR_CORRUPT if the checksum differs. */
int npz_read(const struct npz *npz, size_t index, struct tensor *ret, struct error *err);

/* Appends all arrays of the file at `path` to `ret`. ERR_CORRUPT also if two have the same name. On an error `ret` may
 * contain some arrays. */
int npz_load(const char *path, struct tensor_list *ret, struct error *err);

/* Reads the first array of an archive in memory; `ret` owns its data. */
int npz_read_first(struct span file, struct tensor *ret, struct error *err);

/* Writes array by array, in constant memory: the directory is made from the members' headers in the end. */
struct npz_writer {
    struct file_writer file;
    uint64_t count;
};

/* ERR_UNSUPPORTED for a pipe. */
int npz_writer_open(struct npz_writer *writer, const char *path, struct error *err);

/* Names must differ. Types that NumPy lacks are written as in npy.h. */
int npz_writer_add(struct npz_writer *writer, const char *name, const struct tensor *tensor, struct error *err);

/* Commits the file. */
int npz_writer_commit(struct npz_writer *writer, enum file_durability durability, struct error *err);
void npz_writer_release(struct npz_writer *writer); /* without commit no file is left */

#endif
