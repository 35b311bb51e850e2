/* cli/inspect/engine_layers.h: what an engine's layers are, whatever kind of file tells it. */
#ifndef CLI_INSPECT_ENGINE_LAYERS_H
#define CLI_INSPECT_ENGINE_LAYERS_H

#include "base/log.h"
#include "format/trtexec/layer_info.h"

/* Reads the layers of the file at `path`: a plan file of the built-in engine, an engine of TensorRT's, or layer
 * information. `ret` is made anew. An engine of TensorRT's tells nobody but TensorRT: errors are those of
 * engine_layers_ask(). */
int engine_layers_load(const char *path, struct log *log, struct layer_info *ret, struct error *err);

/* Has TensorRT tell the layers of its engine at `path`. ERR_MISSING where there is no trtexec, ERR_BACKEND when it does
 * not tell. */
int engine_layers_ask(const char *path, struct log *log, struct layer_info *ret, struct error *err);

#endif
