/* onnx/write/model.h: writes a subgraph as an ONNX file.
 *
 * The module onnx/write/ encodes a subgraph, with known types and frozen values, as a file or in memory. It depends on
 * onnx/external/ and its dependencies.
 *
 * Unchanged parts are copied from the mapping, large ones by the kernel; only the header of the graph, changed inputs
 * and outputs, and frozen constants are new bytes. Unknown fields are preserved.
 */
#ifndef ONNX_WRITE_MODEL_H
#define ONNX_WRITE_MODEL_H

#include "onnx/external/save.h"

/* Writes `subgraph` to `path`. Graph outputs of unknown type are written without a type. ONNX files are limited to 2
 * GB: a larger one gets external data even if `external` (may be NULL) does not request it. `ret_hash` (may be NULL) is
 * the file's pieces_hash(), without external data. */
int model_write(const struct subgraph *subgraph, const char *path, const struct external_settings *external,
                enum file_durability durability, struct hash *ret_hash, struct error *err);

/* Like model_write(), to malloc'd memory, without external data. */
int model_write_memory(const struct subgraph *subgraph, char **ret, size_t *ret_size, struct error *err);

/* Custom writer of initializers: adds one (with tag and length) to `graph`, whose first byte is the graph's, and
 * returns 1; returns 0 for the default encoding. Spans added without a copy must outlive `graph`. */
struct initializer_writer {
    int (*write)(void *data, const struct initializer *initializer, struct piece_list *graph, struct error *err);
    void *data;
};

/* Encodes a model of any size as pieces. The caller initializes both lists; `graph` gets the content of the graph, and
 * `ret`, the whole model, refers to it. */
int model_write_pieces(const struct subgraph *subgraph, const struct initializer_writer *initializers,
                       struct piece_list *graph, struct piece_list *ret, struct error *err);

/* Writes `subgraph` to `path`, durably. Its external data are made available next to it, unless `ignore_external_data`:
 * then it refers to their current location. After an error no new files are left. */
int model_save(const struct subgraph *subgraph, const char *path, const struct external_settings *external,
               bool ignore_external_data, struct error *err);

#endif
