/* onnx/model/unused_names.h: unique names for new tensors and nodes, also different from names in bodies. */
#ifndef ONNX_MODEL_UNUSED_NAMES_H
#define ONNX_MODEL_UNUSED_NAMES_H

#include "onnx/model/model.h"

struct unused_names {
    struct arena *arena;
    struct name_map taken;
};

/* Collects all names of the model. New names are recorded, too, and allocated in `arena`. */
void unused_names_init(struct unused_names *names, const struct model *model, struct arena *arena);
void unused_names_release(struct unused_names *names);

/* "<base><suffix>", with "_1", "_2", ... appended if that is taken. */
struct text unused_names_make(struct unused_names *names, struct text base, const char *suffix);

#endif
