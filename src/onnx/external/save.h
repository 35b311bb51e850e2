/* onnx/external/save.h: moves initializers of a model that is being written into separate files. */
#ifndef ONNX_EXTERNAL_SAVE_H
#define ONNX_EXTERNAL_SAVE_H

#include "base/file/file.h"
#include "onnx/model/subgraph.h"
#include "onnx/proto/pieces.h"

/* Where initializers are stored outside the model file. */
struct external_settings {
    bool save;             /* --save-external-data was given */
    const char *file_name; /* relative to the model; NULL: the model's name with ".data" appended */
    uint64_t threshold;    /* bytes; smaller tensors stay in the model */
    bool one_file_per_tensor;
};

struct external_save;

/* Prepares for `subgraph` as a model at `model_path`. ERR_EXISTS if that would replace a file with external data of the
 * subgraph. */
int external_save_open(const struct subgraph *subgraph, const char *model_path,
                       const struct external_settings *settings, enum file_durability durability,
                       struct external_save **ret, struct error *err);

/* Returns 1 if the initializer was moved (a TensorProto that refers to the file was added to `out`), 0 if it stays in
 * the model: it is small, has strings or typed data, or is external already. */
int external_save_initializer(struct external_save *save, const struct initializer *initializer, struct piece_list *out,
                              struct error *err);

/* Commits the file that is still open: the only one, or that of the last tensor. */
int external_save_finish(struct external_save *save, struct error *err);

/* Removes created files unless `keep`. Accepts NULL. */
void external_save_free(struct external_save *save, bool keep);

#endif
