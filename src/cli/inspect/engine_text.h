/* cli/inspect/engine_text.h: what `inspect model` shows of an engine. */
#ifndef CLI_INSPECT_ENGINE_TEXT_H
#define CLI_INSPECT_ENGINE_TEXT_H

#include "base/text/string_builder.h"
#include "engine/plan/engine.h"

/* Appends inputs, outputs and profiles, and with `layers` each layer: its ONNX nodes, tactic, precision, time,
 * tensors. */
void engine_to_text(const struct engine *engine, bool layers, struct string_builder *ret);

/* The same, with everything there is, as JSON. */
int engine_save_json(const struct engine *engine, const char *path, struct error *err);

#endif
