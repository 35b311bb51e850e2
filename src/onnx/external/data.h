/* onnx/external/data.h: weights in separate files next to a model (ONNX, "External Data").
 *
 * The module onnx/external/ contains access to such files: listing those of a model, making them available to a copy in
 * another folder, reading tensors (tensor.h), and writing new ones (save.h). It depends on onnx/edit/ and its
 * dependencies.
 *
 * A model is untrusted: the files must be inside the model's folder. Absolute paths, `..` and links that leave the
 * folder are refused (CVE-2022-25882, CVE-2024-27318).
 */
#ifndef ONNX_EXTERNAL_DATA_H
#define ONNX_EXTERNAL_DATA_H

#include "onnx/model/subgraph.h"

struct text_list {
    struct text *items;
    size_t count, capacity;
};

struct path_list {
    char **items; /* malloc'd */
    size_t count, capacity;
};

/* True for an absolute path, one with `..` in it, and an empty one. */
bool external_data_leads_out(const char *location);

/* The location that a model in `folder` stores for its external file `path`, malloc'd: `path` unchanged if it is
 * relative, else relative to the folder. ERR_INVALID if it is outside. Neither has to exist. */
int external_data_location(const char *path, const char *folder, char **ret, struct error *err);

/* The real path of the external file `location` of `model`, malloc'd. ERR_CORRUPT if it is outside the model's folder,
 * ERR_MISSING if it does not exist, ERR_INVALID if it is not a regular file. */
int external_data_path(const struct model *model, struct text location, char **ret, struct error *err);

/* The distinct files, relative to the model's folder, that the initializers of `subgraph` and the attributes of its
 * nodes refer to, including those in bodies and in the model's functions, which are written with every subgraph. `ret`
 * must be empty on entry; the texts point into the model. */
int external_data_locations(const struct subgraph *subgraph, struct text_list *ret, struct error *err);

/* The same for all tensors of a mapped model, without indexing it, up to the first damaged field. `file_name` is for
 * errors. */
int external_data_list(const struct file_map *map, const char *file_name, struct text_list *ret, struct error *err);

/* Mixes the content of all files that the model refers to into *hash. */
int external_data_hash(const struct model *model, struct hash *hash, struct error *err);

/* How a file of external data is made available in another folder. A hard link costs nothing, but a program that writes
 * to it changes the original. */
enum external_transfer {
    EXTERNAL_COPY, /* by the kernel; an existing hard link to the original is replaced */
    /* if possible: not across file systems, nor for tensors in attributes, where ONNX Runtime rejects hard links as an
     * attack */
    EXTERNAL_LINK,
};

/* Makes the external data of the subgraph available in `folder`, under the same relative names; existing files are
 * reused. Created files are appended to `ret_made`, new folders before their content. ERR_EXISTS if a different file
 * has that name. */
int external_data_provide(const struct subgraph *subgraph, const char *folder, enum external_transfer transfer,
                          struct path_list *ret_made, struct error *err);

/* Removes the created files and those created folders that are empty. */
void path_list_remove(const struct path_list *list);
void path_list_release(struct path_list *list);

#endif
