/* cli/inspect/model_json.h: a whole model as JSON.
 *
 * The module cli/inspect/ has the subtools of `inspect`, a file each: a model, an engine or data come in, and text goes
 * out, or JSON with --json. It may use what cli/ and its other modules have for all commands.
 */
#ifndef CLI_INSPECT_MODEL_JSON_H
#define CLI_INSPECT_MODEL_JSON_H

#include "cli/inspect/model_text.h"
#include "onnx/model/subgraph.h"

/* Writes what `inspect model --show layers attrs` shows, with the values of tensors if `settings` says so, and a list
 * "unbounded_dds" unless `unbounded` is NULL. */
int inspect_model_save(struct model *model, const struct graph_text_settings *settings,
                       const struct value_list *unbounded, const char *path, struct error *err);

#endif
