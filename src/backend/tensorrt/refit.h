/* backend/tensorrt/refit.h: weights of an ONNX model for an engine that was built without its own, or gets others. */
#ifndef BACKEND_TENSORRT_REFIT_H
#define BACKEND_TENSORRT_REFIT_H

#include "backend/backend.h"
#include "backend/tensorrt/library.h"

/* Gives the engine, an ICudaEngine without execution contexts, the weights of the model that it was built of. From
 * TensorRT 10.0 on: ERR_UNSUPPORTED before, and where the engine was built without --refittable and --strip-plan.
 * ERR_BACKEND: TensorRT does not take the weights, or the model lacks some. */
int tensorrt_refit(const struct tensorrt *trt, void *engine, const struct backend_model *model, struct log *log,
                   struct error *err);

#endif
