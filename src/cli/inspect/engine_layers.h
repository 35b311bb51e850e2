/* cli/inspect/engine_layers.h: the layers of an engine, from any type of file. */
#ifndef CLI_INSPECT_ENGINE_LAYERS_H
#define CLI_INSPECT_ENGINE_LAYERS_H

#include "base/log.h"
#include "format/tensorrt/layer_info.h"

/* Reads the layers of the file at `path`: a plan file of the built-in engine, a TensorRT engine, or layer information.
 * Initializes `ret`. Only TensorRT can read its engines: errors are those of engine_layers_ask(). */
int engine_layers_load(const char *path, struct log *log, struct layer_info *ret, struct error *err);

/* Queries TensorRT for the layers of its engine at `path`. Fails with ERR_MISSING without TensorRT or a GPU,
 * ERR_BACKEND if TensorRT fails. */
int engine_layers_ask(const char *path, struct log *log, struct layer_info *ret, struct error *err);

#endif
