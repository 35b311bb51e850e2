/* backend/onnxrt/settings.c: see settings.h. */
#include "backend/onnxrt/settings.h"

const struct onnxrt_settings *onnxrt_settings_of(const struct backend_request *request)
{
    static const struct onnxrt_settings defaults;

    return request->settings != NULL ? request->settings : &defaults;
}

struct onnxrt_settings onnxrt_settings_unoptimized(const struct backend_request *request)
{
    struct onnxrt_settings ret = *onnxrt_settings_of(request);

    ret.execution = (struct onnxrt_execution){0};
    ret.optimization_level = 0;
    return ret;
}
