/* cli/debug/engine_builds.h: what `debug build`, `debug tactics` and `debug precision` have in common: a network from
 * the command line, built many times.
 */
#ifndef CLI_DEBUG_ENGINE_BUILDS_H
#define CLI_DEBUG_ENGINE_BUILDS_H

#include "cli/engine_file.h"
#include "debug/candidate/engine_maker.h"

/* It must not be moved. Zeros can be released. */
struct engine_builds {
    struct engine_file file;
    struct network *network;
    uint64_t seed;       /* of the first iteration's choices */
    bool times_are_kept; /* what one build has timed, the next one need not */
};

/* ERR_INVALID when the model is an engine. */
int engine_builds_check_model(const struct model_values *model, struct error *err);

/* Loads the model and makes its network: once, for all builds. After an error nothing is left. */
int engine_builds_init(struct engine_builds *builds, const struct command_context *context,
                       const struct engine_values *values, const struct model_file_settings *source, struct error *err);
void engine_builds_release(struct engine_builds *builds);

/* Builds by what `builds` says. The engines refer to it. */
struct engine_maker engine_builds_maker(struct engine_builds *builds);

#endif
