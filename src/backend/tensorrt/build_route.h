/* backend/tensorrt/build_route.h: knobs of TensorRT's compiler (--build-route), from 11.1 on. */
#ifndef BACKEND_TENSORRT_BUILD_ROUTE_H
#define BACKEND_TENSORRT_BUILD_ROUTE_H

#include "backend/tensorrt/settings.h"

/* Passes settings->build_route to `config`, an IBuilderConfig. Of several words on one knob the last counts.
 * ERR_UNSUPPORTED before TensorRT 11.1; ERR_INVALID names the first knob or value that TensorRT does not list, or what
 * it refuses. A knob is a wish: TensorRT may decide otherwise, and does not report it. */
int tensorrt_set_build_route(void *config, const struct tensorrt_settings *settings, struct error *err);

#endif
