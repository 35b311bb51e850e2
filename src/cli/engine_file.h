/* cli/engine_file.h: an engine, built and saved as the command line says.
 *
 *   rc = engine_file_init(&file, context, &settings->engine, &settings->file, err);
 *   rc = network_build(model, &file.request.network, &network, err);
 *   rc = engine_settings_build(&file.request, network, &engine, err);
 *   rc = engine_file_save_byproducts(&file, engine, err);
 *
 * A command that has a backend open its engine hands it `file.request`, with which it does all of that. Engines refer
 * to the network and to `file`, which have to outlive them.
 */
#ifndef CLI_ENGINE_FILE_H
#define CLI_ENGINE_FILE_H

#include "base/container/arena.h"
#include "cli/parse/command.h"
#include "cli/options/runners/engine.h"
#include "comparator/data/loader.h"
#include "engine/backend.h"

/* Settings as the options have them; a command may change those of `request.builder` between builds. It must not be
 * moved. */
struct engine_file {
    const struct command_context *context;
    const struct engine_values *values;
    const struct model_file_settings *model;
    struct engine_settings request;

    struct data_loader *loader; /* of the sample; owned, like all that follows */
    struct timing_cache *cache; /* always there, so that a second build takes few times */
    struct calibration *calibration;
    struct tactic_replay *replay;
    struct arena arena; /* of precisions that come out of a replay */
    bool shows_progress;
};

/* Says once that this is the built-in engine, and which options mean nothing to it; loads the files that options name.
 * Whether it is the one that is wanted was decided before (cli/trt.h). After an error nothing is left. */
int engine_file_init(struct engine_file *file, const struct command_context *context,
                     const struct engine_values *values, const struct model_file_settings *model, struct error *err);
/* The same for a session whose engines are not this program's: to ask which layers there are and what they can compute
 * in, and to build what scores them. Says nothing, takes no times, and leaves aside what the options say of tactics,
 * plug-ins and caches. */
int engine_file_init_aside(struct engine_file *file, const struct command_context *context,
                           const struct engine_values *values, const struct model_file_settings *model,
                           struct error *err);

void engine_file_release(struct engine_file *file);

/* For builds with the tactics of a replay: what decided on the precisions of its build decides on theirs, too. Where
 * that is not known, options do. ERR_INVALID names an option that was given and says something else. */
int engine_file_take_precision(struct engine_file *file, const struct tactic_options *precision, struct error *err);

/* Tactic replay, timing cache and calibration cache, to the paths that the options name; the engine itself to
 * --save-engine. */
int engine_file_save_byproducts(const struct engine_file *file, const struct engine *engine, struct error *err);

/* How the network of the built-in engine is made: constants are folded as engine_file_init() has it, by ONNX Runtime in
 * a process of its own where the command has it so. For commands that build no engine. */
int engine_file_network(const struct command_context *context, const struct model_file_settings *file,
                        const struct model *model, struct network_settings *ret, struct error *err);

/* For reference values, whatever the options on engines say: every node in float32, by tactics that do not depend on
 * time, so that a session which is resumed gets the values that it had. Says once that this is the built-in engine.
 * `loader` gives the data to build with; it has to outlive `ret`, which is given back with
 * engine_settings_release(). */
int engine_file_golden(struct engine_settings *ret, const struct command_context *context,
                       const struct model_file_settings *file, struct data_loader *loader, struct error *err);

#endif
