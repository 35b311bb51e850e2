/* backend/tensorrt/support.h: which nodes of a model TensorRT's parser supports, in the worker process. */
#ifndef BACKEND_TENSORRT_SUPPORT_H
#define BACKEND_TENSORRT_SUPPORT_H

#include "backend/tensorrt/library.h"
#include "backend/tensorrt/request.h"

/* Asks the parser (IParser::supportsModelV2) of a model in memory. Text lives in `arena`. ERR_UNSUPPORTED before
 * TensorRT 10.8; ERR_BACKEND when the parser refuses the model as a whole; errors of tensorrt_network_create(). */
int tensorrt_find_support(const struct tensorrt *trt, const struct tensorrt_settings *settings,
                          const struct backend_model *source, struct arena *arena, struct tensorrt_support *ret,
                          struct error *err);

#endif
