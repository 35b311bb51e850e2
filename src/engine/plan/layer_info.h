/* engine/plan/layer_info.h: exports an engine's layers as layer information in TensorRT's form. */
#ifndef ENGINE_PLAN_LAYER_INFO_H
#define ENGINE_PLAN_LAYER_INFO_H

#include "engine/plan/engine.h"
#include "format/tensorrt/layer_info.h"

/* Each layer with its ONNX nodes, its tactic ("onednn:jit:avx2") and that tactic's number, and the tensors that it
 * exchanges with others, in the types in which they are stored; then the engine's inputs and outputs. Layouts other
 * than row-major are named as oneDNN names them: "Half aBcd8b". `ret` is overwritten; release with
 * layer_info_release(). */
void engine_layer_info_make(const struct engine *engine, struct layer_info *ret);

/* Writes it to the file of --save-layer-info, durably, in the schema of TensorRT 8 to 10. */
int engine_layer_info_save(const struct engine *engine, const char *path, struct error *err);

#endif
