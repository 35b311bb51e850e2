/* engine/backend.h: the built-in engine as a backend: `run --trt` while TensorRT is missing.
 *
 * The module engine/ stands in for TensorRT: a model comes in, an engine that runs it goes out. Its modules use only
 * what stands before them here: network/, tactic/ and precision/, onednn/, plan/, run/, build/. This file uses all of
 * them.
 */
#ifndef ENGINE_BACKEND_H
#define ENGINE_BACKEND_H

#include "engine/build/builder.h"
#include "engine/network/compile.h"

/* Everything that an engine is made with: the one way to build engines, for sessions and for those who want the engine
 * itself. `settings` of a struct backend_request for engine_backend; NULL there: only a plan file can be opened. It has
 * to outlive the engines. */
struct engine_settings {
    struct network_settings network;
    struct provider_settings providers;
    struct builder_settings builder; /* its providers are opened by the first build */
    bool is_built;                   /* the model is an engine already, a plan file: another one is an error */

    /* Called when an engine has been built, for the caller to save what it wants of it; NULL: nothing. An error ends
     * open(). */
    int (*built)(void *data, const struct engine *engine, struct error *err);
    void *data;
    bool profile; /* --profile: times of layers go to the log when the session is closed */
};

/* An engine for a network made with settings->network, which has to outlive it. Errors of providers_open() and
 * engine_build(). */
int engine_settings_build(struct engine_settings *settings, const struct network *network, struct engine **ret,
                          struct error *err);

/* Has builds do without these decisions, whatever the settings have them do without already: names as in
 * engine/build/decisions.h, and across:TENSOR for a barrier. The lists lie in the arena, the names stay the caller's.
 * ERR_INVALID for a name that belongs to no family of them; builds tell whether the others mean anything. */
int engine_settings_switch_off(struct engine_settings *settings, struct words names, struct arena *arena,
                               struct error *err);

/* Closes the providers. */
void engine_settings_release(struct engine_settings *settings);

/* Opens an ONNX model (it is built) or a plan file (told apart by content). */
extern const struct backend engine_backend;

#endif
