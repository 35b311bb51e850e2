/* onnx/write/model.h: a subgraph as an ONNX file, by spans.
 *
 * The module onnx/write/ makes the bytes of a model: a subgraph comes in, with what is known of types and with frozen
 * values; a file, or memory, goes out. It may use onnx/external/ and what that may.
 *
 * What is kept is copied from the mapping as it stands, the large parts by the kernel; only the header of the graph,
 * changed inputs and outputs, and frozen constants are new bytes. Everything that this program does not understand
 * survives.
 */
#ifndef ONNX_WRITE_MODEL_H
#define ONNX_WRITE_MODEL_H

#include "onnx/external/save.h"

/* Writes `subgraph` to `path`. Graph outputs whose type is not known are written without one. ONNX files end at 2
 * GB: a larger one gets external data even when `external` (may be NULL) does not ask for it. */
int model_write(const struct subgraph *subgraph, const char *path, const struct external_settings *external,
                enum file_durability durability, struct error *err);

/* The same into malloc'd memory, without external data. */
int model_write_memory(const struct subgraph *subgraph, char **ret, size_t *ret_size, struct error *err);

/* Who wants initializers written otherwise: adds one (tag and length included) to `graph`, whose first byte is the
 * graph's. Returns 1; 0 leaves it to the caller. What is added without a copy has to outlive `graph`. */
struct initializer_writer {
    int (*write)(void *data, const struct initializer *initializer, struct piece_list *graph, struct error *err);
    void *data;
};

/* The same as pieces, of any size. Both lists were initialised by the caller; `ret` refers to what `graph` holds, which
 * is the content of the graph alone. */
int model_write_pieces(const struct subgraph *subgraph, const struct initializer_writer *initializers,
                       struct piece_list *graph, struct piece_list *ret, struct error *err);

/* Writes `subgraph` to `path`, durably. External data that it refers to are made reachable beside it, unless
 * `ignore_external_data`: then it refers to them, wherever they are. After an error nothing new is left. */
int model_save(const struct subgraph *subgraph, const char *path, const struct external_settings *external,
               bool ignore_external_data, struct error *err);

#endif
