/* cli/inspect/model_json.h: a complete model as JSON.
 *
 * The module cli/inspect/ contains the subtools of `inspect`, one file each: they read a model, an engine or data, and
 * write text, or JSON with --json. It may use the shared code of cli/ and its other modules.
 */
#ifndef CLI_INSPECT_MODEL_JSON_H
#define CLI_INSPECT_MODEL_JSON_H

#include "cli/inspect/model_text.h"
#include "format/json/writer.h"
#include "onnx/model/subgraph.h"

/* Writes the model as `inspect model --show layers attrs` shows it, with the values of tensors if `settings` requests
 * them, and a list "unbounded_dds" unless `unbounded` is NULL. */
int inspect_model_save(struct model *model, const struct graph_text_settings *settings,
                       const struct value_list *unbounded, const char *path, struct error *err);

/* The same to a writer, with the path of the model. */
int inspect_model_write(struct model *model, const struct graph_text_settings *settings, const char *path,
                        struct json_writer *json, struct error *err);

#endif
