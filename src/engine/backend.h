/* engine/backend.h: the built-in engine as a backend: `run --trt` while TensorRT is missing. */
#ifndef ENGINE_BACKEND_H
#define ENGINE_BACKEND_H

#include "engine/build/builder.h"
#include "engine/network/compile.h"

/* What request->engine of a backend_request points to. NULL there: defaults, which only a plan file can be opened
 * with. */
struct engine_request {
    const struct network_settings *network;
    const struct provider_settings *providers;
    struct builder_settings *builder; /* providers are filled in by open() */
    /* Called when an engine has been built, for the caller to save what it wants of it; NULL: nothing. An error ends
     * open(). */
    int (*built)(void *data, const struct engine *engine, struct error *err);
    void *data;
    bool profile; /* --profile: times of layers go to the log when the session is closed */
};

/* Opens an ONNX model (it is built) or a plan file (told apart by content). */
extern const struct backend engine_backend;

#endif
