/* cli/inspect/model_json.h: a whole model as JSON. */
#ifndef CLI_INSPECT_MODEL_JSON_H
#define CLI_INSPECT_MODEL_JSON_H

#include "onnx/model/graph_text.h"
#include "onnx/model/subgraph.h"

/* Writes what `inspect model --show layers attrs` shows, with the values of tensors if `settings` says so, and a list
 * "unbounded_dds" unless `unbounded` is NULL. */
int inspect_model_save(struct model *model, const struct graph_text_settings *settings,
                       const struct value_list *unbounded, const char *path, struct error *err);

#endif
