/* cli/inspect_model_json.h: a whole model as JSON. */
#ifndef CLI_INSPECT_MODEL_JSON_H
#define CLI_INSPECT_MODEL_JSON_H

#include "onnx/subgraph.h"

/* Writes what `inspect model --show layers attrs` shows, with the values of tensors if `weights` says so, and a list
 * "unbounded_dds" unless `unbounded` is NULL. */
int inspect_model_save(struct model *model, bool weights, const struct value_list *unbounded, const char *path,
                       struct error *err);

#endif
