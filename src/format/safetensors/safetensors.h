/* format/safetensors/safetensors.h: files of named tensors, mapped without copying (safetensors, "Format").
 *
 * The module format/safetensors/ reads and writes that format; tensors refer to the mapped file. It depends on tensor/
 * and format/json/, and does not interpret names.
 *
 * 8 bytes: the size N of the header, little-endian. N bytes: a JSON object, blanks behind it allowed, that gives for
 * each tensor {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, counted from the end of the header; the
 * member "__metadata__" maps strings to strings. The rest is data, little-endian and row-major, without gaps or
 * overlaps.
 *
 * The format has no type for strings, complex128, int4 and uint4. bfloat16, float8 and float4 keep their types.
 */
#ifndef FORMAT_SAFETENSORS_SAFETENSORS_H
#define FORMAT_SAFETENSORS_SAFETENSORS_H

#include "base/file/shared_map.h"
#include "base/text/string_builder.h"
#include "tensor/values/tensor.h"

struct safetensors_metadata {
    char *name, *value; /* owned */
};

/* An open file, whose tensors are read one by one: it needs eight bytes of memory for each. */
struct safetensors {
    struct shared_map *map; /* NULL: the file is in borrowed memory */
    struct text header;
    struct span data;
    size_t *members; /* offset of each tensor's member in the header, in the order of the tensors' data */
    size_t count;
    struct safetensors_metadata *metadata;
    size_t metadata_count, metadata_capacity;
    bool has_metadata; /* the header has that member, which may be empty */
};

/* Whether a file of this name is written as safetensors (".safetensors"). */
bool safetensors_is_name(const char *path);

/* Whether the file at `path` has the signature of one. False for pipes and files that cannot be read. */
bool safetensors_recognize(const char *path);

/* Maps the file and checks its header. */
int safetensors_open(const char *path, struct safetensors *ret, struct error *err);

/* Like safetensors_open(), for a file in memory, which must outlive `ret` and the tensors; `name` is for messages. */
int safetensors_open_memory(struct span file, const char *name, struct safetensors *ret, struct error *err);
void safetensors_release_metadata(struct safetensors *file); /* they may be as large as the names of all tensors */
void safetensors_close(struct safetensors *file); /* harmless on a zeroed struct; tensors that were read stay */

/* Appends the name of a tensor to `ret`. Two tensors may have one name. */
int safetensors_read_name(const struct safetensors *file, size_t index, struct string_builder *ret, struct error *err);

/* Makes `ret` refer to the mapping, which lives as long as any such tensor. The data need not be aligned. */
int safetensors_read(const struct safetensors *file, size_t index, struct tensor *ret, struct error *err);

/* The path of a loaded file that contains exactly these tensors under these names, so that it need not be written
 * again. NULL if there is none, or if its path now has another file. Valid as long as the tensors. */
const char *safetensors_find_file(const struct tensor_list *tensors);

const char *safetensors_find_metadata(const struct safetensors *file, const char *name); /* or NULL */

/* Metadata and tensor names in files of this program (docs/formats.md):
 *
 *   results   "<runner>/<iteration>/<output>", both numbers from 0 on; metadata "polygraphy": "results", and "runners":
 *             [{"name": ..., "runtimes": [seconds of each iteration, null where unknown]}, ...] as text
 *   inputs    "<iteration>/<input>"; metadata "polygraphy": "inputs", "iterations": how many, as text. A single
 *             iteration goes without the number, unless all names begin like one
 *   others    a file without "polygraphy" is one iteration: its tensors by their names */
#define SAFETENSORS_KIND "polygraphy"
#define SAFETENSORS_RESULTS "results"
#define SAFETENSORS_INPUTS "inputs"

bool safetensors_is_kind(const struct safetensors *file, const char *kind);

/* Removes "<number>/" from the start of a name. False if it has no such prefix, or the number is not below `count`. */
bool safetensors_take_number(const char **name, size_t count, size_t *ret);

/* Writes tensor by tensor, in constant memory. Space for the header is reserved before the data, and filled on the way;
 * if it is too small, the kernel copies the data after a larger one. */
struct safetensors_writer {
    struct file_writer file;
    struct string_builder header; /* the part of it that is not in the file */
    uint64_t header_written;      /* bytes that are */
    uint64_t room;                /* bytes left for the header */
    uint64_t data_size;
    bool has_begun;                  /* data were written: `room` is fixed */
    enum file_durability durability; /* FILE_DURABLE; may be changed before commit */
};

/* ERR_UNSUPPORTED for a pipe. */
int safetensors_writer_open(struct safetensors_writer *writer, const char *path, struct error *err);

/* Reserves header space for `tensors` more tensors, whose names have `name_bytes` bytes in total. */
void safetensors_writer_expect(struct safetensors_writer *writer, size_t tensors, size_t name_bytes);

/* ERR_UNSUPPORTED if the format lacks the type. Names must differ. */
int safetensors_writer_add(struct safetensors_writer *writer, const char *name, const struct tensor *tensor,
                           struct error *err);

/* Writes the header and commits the file. */
int safetensors_writer_commit(struct safetensors_writer *writer, const struct safetensors_metadata *metadata,
                              size_t metadata_count, struct error *err);
void safetensors_writer_release(struct safetensors_writer *writer); /* without commit no file is left */

#endif
