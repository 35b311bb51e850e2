/* onnx/external/data.h: weights that lie in files of their own beside a model (ONNX, "External Data").
 *
 * The module onnx/external/ is about such files: which a model refers to, how they come to lie beside another one, what
 * they hold (tensor.h), and new ones for a model that is written (save.h). It may use onnx/edit/ and what that may.
 *
 * A model is untrusted: the files have to lie inside the model's folder. Absolute paths, `..` and links that lead out
 * are refused (CVE-2022-25882, CVE-2024-27318).
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

/* What a model in `folder` calls its external file `path`, malloc'd: `path` as it is when it is relative, else how it
 * is reached from the folder. ERR_INVALID when it lies outside. Nothing of it needs to exist. */
int external_data_location(const char *path, const char *folder, char **ret, struct error *err);

/* The real path of the external file `location` of `model`, malloc'd. ERR_CORRUPT when it leads out of the model's
 * folder, ERR_MISSING when it is not there, ERR_INVALID when it is no ordinary file. */
int external_data_path(const struct model *model, struct text location, char **ret, struct error *err);

/* The distinct files, relative to the model's folder, that the initializers of `subgraph` and the attributes of its
 * nodes refer to, those in bodies and in the model's functions included: these are written with every part. `ret` is
 * empty on entry; the texts point into the model. */
int external_data_locations(const struct subgraph *subgraph, struct text_list *ret, struct error *err);

/* Mixes the content of all files that the model refers to into *hash. */
int external_data_hash(const struct model *model, struct hash *hash, struct error *err);

/* How a file of external data comes to another folder. A link costs nothing, but whoever writes to it writes to the
 * original. */
enum external_transfer {
    EXTERNAL_COPY, /* by the kernel; a hard link to the original that is there already is replaced */
    /* where that can be: not on another file system, nor for what nodes hold themselves, where ONNX Runtime takes a
     * hard link for an attack */
    EXTERNAL_LINK,
};

/* Makes these files reachable for a copy of the subgraph in `folder`, under the same relative names: nothing to do when
 * they are there already. What was made is appended to `ret_made`, new folders in front of what is in them. A different
 * file of that name is not replaced: ERR_EXISTS. */
int external_data_provide(const struct subgraph *subgraph, const char *folder, enum external_transfer transfer,
                          struct path_list *ret_made, struct error *err);

/* Removes what was made; a folder only when it is empty. */
void path_list_remove(const struct path_list *list);
void path_list_release(struct path_list *list);

#endif
