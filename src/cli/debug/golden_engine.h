/* cli/debug/golden_engine.h: the built-in engine as the one that gives reference values: `debug reduce --golden
 * trt`. */
#ifndef CLI_DEBUG_GOLDEN_ENGINE_H
#define CLI_DEBUG_GOLDEN_ENGINE_H

#include "cli/command.h"
#include "comparator/data/loader.h"
#include "engine/backend.h"

/* What an engine is made with: every node in float32, by tactics that do not depend on time, so that a session which is
 * resumed gets the values that it had. It must not be moved. */
struct golden_engine {
    struct network_settings network;
    struct provider_settings providers;
    struct builder_settings builder;
    struct engine_request request;
};

/* Says once that this is the built-in engine. `loader` gives the data to build with; it has to outlive `ret`.
 * ERR_MISSING when POLYGRAPHY_TRT pins TensorRT, which is not there. */
int golden_engine_init(struct golden_engine *ret, const struct command_context *context, struct data_loader *loader,
                       struct error *err);

/* For engine_backend: `golden` has to outlive sessions. */
struct backend_request golden_engine_request(const struct golden_engine *golden, const struct command_context *context);

#endif
