/* format/safetensors/safetensors.h: files of named tensors that are used where they lie (safetensors, "Format").
 *
 * The module format/safetensors/ reads and writes that format: in comes a mapped file, out go tensors that lie in it.
 * It uses tensors and format/json/; what names stand for, its callers know.
 *
 * 8 bytes: the size N of the header, little-endian. N bytes: a JSON object, blanks behind it allowed, that gives for
 * each tensor {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, counted from the end of the header; the
 * member "__metadata__" maps strings to strings. The rest is data, little-endian and row-major, without gaps or
 * overlaps.
 *
 * The format has no type for strings, complex128, int4 and uint4. bfloat16, float8 and float4 stay what they are.
 */
#ifndef FORMAT_SAFETENSORS_SAFETENSORS_H
#define FORMAT_SAFETENSORS_SAFETENSORS_H

#include "base/file/file.h"
#include "base/text/string_builder.h"
#include "tensor/values/tensor.h"

struct safetensors_metadata {
    char *name, *value; /* owned */
};

struct safetensors {
    struct tensor_list tensors; /* in the order of their data */
    struct safetensors_metadata *metadata;
    size_t metadata_count, metadata_capacity;
};

/* Whether a file of this name is written as safetensors: it ends in ".safetensors". */
bool safetensors_is_name(const char *path);

/* Whether the file at `path` looks like one. False for what cannot be read, or is a pipe. */
bool safetensors_recognize(const char *path);

/* Maps the file and checks its header. Tensors refer to the mapping, which lives as long as any of them: they can be
 * taken out of the list. Their data need not be aligned. */
int safetensors_load(const char *path, struct safetensors *ret, struct error *err);

/* The same for a file in memory, which has to outlive the tensors; `name` is for messages. */
int safetensors_parse(struct span file, const char *name, struct safetensors *ret, struct error *err);
void safetensors_release(struct safetensors *file);

/* The path of a file that is loaded and holds just these tensors, where they lie, under these names: whoever wants a
 * file of them can take it. NULL when there is none, or when another file is at its path by now. Valid as long as the
 * tensors are. */
const char *safetensors_find_file(const struct tensor_list *tensors);

const char *safetensors_find_metadata(const struct safetensors *file, const char *name); /* or NULL */

/* What this program's own files say of themselves, and how their tensors are called (docs/formats.md):
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

/* Takes "<number>/" off the front of a name. False when it does not begin like that, or the number is not below
 * `count`. */
bool safetensors_take_number(const char **name, size_t count, size_t *ret);

/* Writes tensor by tensor. Room for the header is left in front of the data; when it turns out too small, the data are
 * copied, by the kernel, behind a larger one. */
struct safetensors_writer {
    struct file_writer file;
    struct string_builder header; /* the tensors so far */
    uint64_t room;                /* bytes left for the header */
    uint64_t data_size;
    bool has_begun;                  /* data were written: it is too late to change `room` */
    enum file_durability durability; /* FILE_DURABLE, unless it is changed before commit */
};

int safetensors_writer_open(struct safetensors_writer *writer, const char *path, struct error *err);

/* Leaves room for as many tensors with names of as many bytes in all, in addition to what was expected before. */
void safetensors_writer_expect(struct safetensors_writer *writer, size_t tensors, size_t name_bytes);

/* ERR_UNSUPPORTED when the format has no such type. Names must differ. */
int safetensors_writer_add(struct safetensors_writer *writer, const char *name, const struct tensor *tensor,
                           struct error *err);

/* Writes the header and puts the file in place. */
int safetensors_writer_commit(struct safetensors_writer *writer, const struct safetensors_metadata *metadata,
                              size_t metadata_count, struct error *err);
void safetensors_writer_release(struct safetensors_writer *writer); /* without commit no file is left */

#endif
