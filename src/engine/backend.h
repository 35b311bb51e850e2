/* engine/backend.h: the built-in engine as a backend, used by `run --trt` without TensorRT.
 *
 * The module engine/ contains the built-in engine, which compiles and runs models in place of TensorRT. Its modules
 * depend only on those listed before them: network/, tactic/ and precision/, onednn/, plan/, run/, build/. This file
 * depends on all of them.
 */
#ifndef ENGINE_BACKEND_H
#define ENGINE_BACKEND_H

#include "engine/build/builder.h"
#include "engine/network/compile.h"

/* All settings of an engine build, for sessions and for callers that need the engine itself. These are the `settings`
 * of a struct backend_request for engine_backend; with NULL there only plan files can be opened. They must outlive the
 * engines. */
struct engine_settings {
    struct network_settings network;
    struct provider_settings providers;
    struct builder_settings builder; /* its providers are opened at the first build */
    bool is_built;                   /* the model must be a plan file */

    /* Called after an engine was built, so that the caller can save it; may be NULL. An error makes open() fail. */
    int (*built)(void *data, const struct engine *engine, struct error *err);
    void *data;
    bool profile; /* --profile: times of layers go to the log when the session is closed */
};

/* Builds an engine for a network from settings->network; the network must outlive it. Errors of providers_open() and
 * engine_build(). */
int engine_settings_build(struct engine_settings *settings, const struct network *network, struct engine **ret,
                          struct error *err);

/* Disables further decisions for builds: names as in engine/build/decisions.h, and across:TENSOR for a barrier. Lists
 * are allocated in the arena, names are borrowed. ERR_INVALID for a name of an unknown family; other unknown names are
 * reported by builds. */
int engine_settings_switch_off(struct engine_settings *settings, struct words names, struct arena *arena,
                               struct error *err);

/* Closes the providers. */
void engine_settings_release(struct engine_settings *settings);

/* Opens an ONNX model (which is built) or a plan file (detected by content). */
extern const struct backend engine_backend;

#endif
