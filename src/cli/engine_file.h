/* cli/engine_file.h: an engine, built and saved as the command line says.
 *
 *   rc = engine_file_init(&file, context, err);
 *   rc = engine_file_network(&file, model, &network, err);
 *   rc = engine_file_build(&file, network, &engine, err);
 *   rc = engine_file_save_byproducts(&file, engine, err);
 *
 * A command that has a backend open its engine hands it `file.request`, which does all of that.
 */
#ifndef CLI_ENGINE_FILE_H
#define CLI_ENGINE_FILE_H

#include "base/container/arena.h"
#include "cli/command.h"
#include "cli/options/runners/engine.h"
#include "comparator/data/loader.h"
#include "engine/backend.h"

/* Settings as the options have them; a command may change those of `builder` between builds. It must not be moved. */
struct engine_file {
    const struct command_context *context;
    const struct engine_config_values *config;
    const struct engine_network_values *network_values;
    const struct engine_file_values *files;
    struct network_settings network;
    struct provider_settings providers;
    struct builder_settings builder; /* its providers are opened by the first build */
    struct engine_request request;

    struct data_loader *loader; /* of the sample; owned, like all that follows */
    struct timing_cache *cache; /* always there, so that a second build takes few times */
    struct calibration *calibration;
    struct tactic_replay *replay;
    struct input_profile *profile_items;
    const struct input_profile **profiles;
    size_t *profile_sizes;
    struct arena arena; /* of precisions that come out of a replay */
    bool shows_progress;
};

/* The beginning of engine_file_init(), for those who build an engine of their own settings: says which engine this
 * is. */
int engine_file_choose(const struct command_context *context, struct error *err);

/* Says once that this is the built-in engine, and which options mean nothing to it; loads the files that options name.
 * ERR_MISSING when POLYGRAPHY_TRT pins TensorRT, which is not there. After an error nothing is left. */
int engine_file_init(struct engine_file *file, const struct command_context *context, struct error *err);
void engine_file_release(struct engine_file *file);

/* For builds with the tactics of a replay: what decided on the precisions of its build decides on theirs, too. Where
 * that is not known, options do. ERR_INVALID names an option that was given and says something else. */
int engine_file_take_precision(struct engine_file *file, const struct tactic_options *precision, struct error *err);

/* The layers of a model, which is taken over also after an error. */
int engine_file_network(const struct engine_file *file, struct model *model, struct network **ret, struct error *err);

/* The engine refers to the network and to `file`, which have to outlive it. */
int engine_file_build(struct engine_file *file, const struct network *network, struct engine **ret, struct error *err);

/* Tactic replay, timing cache and calibration cache, to the paths that the options name; the engine itself to
 * --save-engine. */
int engine_file_save_byproducts(const struct engine_file *file, const struct engine *engine, struct error *err);

#endif
