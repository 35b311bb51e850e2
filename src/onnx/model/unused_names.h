/* onnx/model/unused_names.h: names for new tensors and nodes that nothing in a model has, not even inside a body. */
#ifndef ONNX_MODEL_UNUSED_NAMES_H
#define ONNX_MODEL_UNUSED_NAMES_H

#include "onnx/model/model.h"

struct unused_names {
    struct arena *arena;
    struct name_map taken;
};

/* Gathers the names that the model has now; those that are made are remembered, and live in `arena`. */
void unused_names_init(struct unused_names *names, const struct model *model, struct arena *arena);
void unused_names_release(struct unused_names *names);

/* "<base><suffix>", with "_1", "_2", ... behind it where that is taken. */
struct text unused_names_make(struct unused_names *names, struct text base, const char *suffix);

#endif
