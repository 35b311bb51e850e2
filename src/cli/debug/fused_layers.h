/* cli/debug/fused_layers.h: which nodes the runner of `debug kernels` computes together. */
#ifndef CLI_DEBUG_FUSED_LAYERS_H
#define CLI_DEBUG_FUSED_LAYERS_H

#include "backend/backend.h"
#include "debug/kernels/layers.h"
#include "engine/backend.h"

/* ONNX Runtime: the nodes of the model as it rewrites it. Layouts are left out, since they give tensors other names:
 * the optimization level is extended at the most. Errors of files, and of the runtime, which cannot save what a
 * provider has compiled. */
int fused_layers_of_onnxrt(const struct model *model, const struct backend_request *request, struct fused_layers *ret,
                           struct error *err);

/* The built-in engine: its layers. Errors of network_build(). */
int fused_layers_of_engine(const struct model *model, const struct engine_settings *settings, struct fused_layers *ret,
                           struct error *err);

#endif
