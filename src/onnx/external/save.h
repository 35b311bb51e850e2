/* onnx/external/save.h: moving initializers out of a model that is being written, into files beside it. */
#ifndef ONNX_EXTERNAL_SAVE_H
#define ONNX_EXTERNAL_SAVE_H

#include "base/file/file.h"
#include "onnx/model/subgraph.h"
#include "onnx/proto/pieces.h"

/* Where initializers go that should not stay in the model file. */
struct external_settings {
    bool save;             /* --save-external-data was given */
    const char *file_name; /* relative to the model; NULL: the model's name with ".data" behind it */
    uint64_t threshold;    /* bytes; smaller tensors stay inside */
    bool one_file_per_tensor;
};

struct external_save;

/* Prepares for `subgraph` as a model at `model_path`. A file that the subgraph's own external data are in is never
 * replaced: ERR_EXISTS. */
int external_save_open(const struct subgraph *subgraph, const char *model_path,
                       const struct external_settings *settings, enum file_durability durability,
                       struct external_save **ret, struct error *err);

/* Returns 1 when the initializer went outside (its description, referring there, was added to `out`), 0 when it
 * should stay in the model: it is small, holds strings or typed data, or is external already. */
int external_save_initializer(struct external_save *save, const struct initializer *initializer, struct piece_list *out,
                              struct error *err);

/* Puts the file in place that is still open: the only one, or that of the last tensor. */
int external_save_finish(struct external_save *save, struct error *err);

/* What was made is removed again unless `keep`. NULL is fine. */
void external_save_free(struct external_save *save, bool keep);

#endif
