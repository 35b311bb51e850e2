/* cli/engine_file.h: an engine, built and saved according to the command line.
 *
 *   rc = engine_file_init(&file, context, &settings->engine, &settings->file, err);
 *   rc = network_build(model, &file.request.network, &network, err);
 *   rc = engine_settings_build(&file.request, network, &engine, err);
 *   rc = engine_file_save_byproducts(&file, engine, err);
 *
 * A command that lets a backend open its engine passes `file.request` to it, which has the same effect. Engines refer
 * to the network and to `file`, which must outlive them.
 */
#ifndef CLI_ENGINE_FILE_H
#define CLI_ENGINE_FILE_H

#include "base/container/arena.h"
#include "cli/parse/command.h"
#include "cli/options/runners/engine.h"
#include "comparator/data/loader.h"
#include "engine/backend.h"

/* Settings from the options; a command may change those of `request.builder` between builds. Must not be moved. */
struct engine_file {
    const struct command_context *context;
    const struct engine_values *values;
    const struct model_file_settings *model;
    struct engine_settings request;

    struct data_loader *loader; /* shapes of the sample; owned, like the following members */
    struct timing_cache *cache; /* always used, so that a second build times few tactics */
    struct calibration *calibration;
    struct tactic_replay *replay;
    struct arena arena; /* memory of precisions from a replay */
    bool shows_progress;
};

/* Warns once that this is the built-in engine, and of options without effect on it; loads the files that options name.
 * Call it only if the built-in engine was selected (cli/trt.h). After an error nothing needs to be released. */
int engine_file_init(struct engine_file *file, const struct command_context *context,
                     const struct engine_values *values, const struct model_file_settings *model, struct error *err);
/* The same for a session with engines of another program: to list layers and the precisions that they support, and to
 * build the engine that ranks them. Logs nothing, times nothing, and ignores options on tactics, plug-ins and
 * caches. */
int engine_file_init_aside(struct engine_file *file, const struct command_context *context,
                           const struct engine_values *values, const struct model_file_settings *model,
                           struct error *err);

void engine_file_release(struct engine_file *file);

/* For builds with the tactics of a replay: uses the precision options in the replay, or the given ones if the replay
 * has none. Fails with ERR_INVALID if a given option contradicts the replay. */
int engine_file_take_precision(struct engine_file *file, const struct tactic_options *precision, struct error *err);

/* Saves the tactic replay, timing cache and calibration cache to the paths that the options name, and the engine to
 * --save-engine. */
int engine_file_save_byproducts(const struct engine_file *file, const struct engine *engine, struct error *err);

/* Settings of the built-in engine's network, for commands that build no engine: constants are folded as with
 * engine_file_init(), in a worker process if the command runs ONNX Runtime in one. */
int engine_file_network(const struct command_context *context, const struct model_file_settings *file,
                        const struct model *model, struct network_settings *ret, struct error *err);

/* Settings for reference values, independent of engine options: every node in float32, with tactics that do not depend
 * on timing, so that a resumed session gets the same values. Warns once that this is the built-in engine. `loader`
 * provides the data to build with and must outlive `ret`, which engine_settings_release() releases. */
int engine_file_golden(struct engine_settings *ret, const struct command_context *context,
                       const struct model_file_settings *file, struct data_loader *loader, struct error *err);

#endif
