/* backend/trtexec/layers.h: what the layers of an engine of TensorRT's are, asked of trtexec. */
#ifndef BACKEND_TRTEXEC_LAYERS_H
#define BACKEND_TRTEXEC_LAYERS_H

#include "backend/trtexec/program.h"
#include "base/log.h"
#include "format/trtexec/layer_info.h"

/* Has the engine at `path` loaded, and nothing run on it. `ret` is made anew. ERR_BACKEND when TensorRT does not take
 * the engine, whatever trtexec then says of success: it has told its layers, or it has failed. `log` may be NULL. */
int trtexec_ask_layers(const struct trtexec *program, const char *path, struct log *log, struct layer_info *ret,
                       struct error *err);

#endif
