/* tests/tensorrt_stand_in/entry_points.c: the functions that libnvinfer exports, but for the builder's. */
#include <stdlib.h>

#include "tensorrt_stand_in/engine.h"

/* Declares and defines a function that a program finds by its name. */
#define ENTRY_POINT(type, name, parameters)                                                                            \
    __attribute__((visibility("default"))) type name parameters;                                                       \
    type name parameters

ENTRY_POINT(void *, createInferRuntime_INTERNAL, (void *logger, int32_t version))
{
    report_set_logger(logger);
    if (version != release_get()->version) {
        report_error("kINVALID_ARGUMENT", "createInferRuntime: Error Code 3: the library's version is %d, not %d",
                     release_get()->version, version);
        return NULL;
    }
    if (has_fault("small-pointer") || getenv("CUDA_STAND_IN_ERROR") != NULL) {
        report_error("kFAILED_INITIALIZATION",
                     "createInferRuntime: Error Code 6: API Usage Error (CUDA initialization "
                     "failure with error: %s)",
                     getenv("CUDA_STAND_IN_ERROR") != NULL ? getenv("CUDA_STAND_IN_ERROR") : "35");
        return (void *)(uintptr_t)0x228;
    }
    return runtime_new();
}

ENTRY_POINT(void *, createInferRefitter_INTERNAL, (struct object * engine, void *logger, int32_t version))
{
    report_set_logger(logger);
    return version == release_get()->version ? refitter_new((struct stand_in_engine *)engine) : NULL;
}

ENTRY_POINT(int32_t, getInferLibVersion, (void))
{
    return release_get()->version;
}

ENTRY_POINT(int32_t, getInferLibMajorVersion, (void))
{
    return release_get()->is_rtx ? release_get()->version / 10000 : release_get()->number / 100;
}

ENTRY_POINT(int32_t, getInferLibMinorVersion, (void))
{
    return release_get()->is_rtx ? release_get()->version / 100 % 100 : release_get()->number % 100;
}

ENTRY_POINT(int32_t, getInferLibPatchVersion, (void))
{
    return release_get()->patch;
}

ENTRY_POINT(void *, getPluginRegistry, (void))
{
    return plugin_registry();
}

ENTRY_POINT(bool, initLibNvInferPlugins, (void *logger, const char *name_space))
{
    report_set_logger(logger);
    return name_space != NULL;
}
