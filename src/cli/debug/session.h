/* cli/debug/session.h: settings of sessions that all `debug` commands share.
 *
 * The module cli/debug/ contains the subcommands of `debug`, one file each. Inputs: options and files. A tool of debug/
 * does the work. Outputs: log lines, files and the exit status. It may use cli/ and its modules for all commands.
 */
#ifndef CLI_DEBUG_SESSION_H
#define CLI_DEBUG_SESSION_H

#include "cli/options/groups.h"
#include "cli/parse/command.h"
#include "debug/session/session.h"
#include "onnx/model/model.h"

/* Options of all searches in the short help, after those of the command. */
#define DEBUG_SEARCH_ESSENTIAL "-j --load-debug-replay --show-output --json --report -v"

/* Option groups that the commands share, whose settings have the members `debug`, `file` and `engine`: those of all
 * searches, those of what --json, --report and --junit write, and those of commands that build engines. */
/* clang-format off */
#define DEBUG_SEARCH_GROUPS(type, check, intermediate) \
    COMMAND_GROUP(type, debug.common.logging, logging_options), \
    COMMAND_GROUP(type, debug, check), \
    COMMAND_GROUP(type, debug, artifact_options), \
    COMMAND_GROUP(type, debug, intermediate), \
    COMMAND_GROUP(type, debug, iteration_options), \
    COMMAND_GROUP(type, debug, replay_options)
#define DEBUG_RESULT_GROUPS(type) \
    COMMAND_GROUP(type, debug.json, json_options), \
    COMMAND_GROUP(type, debug.report, report_options), \
    COMMAND_GROUP(type, debug.common.junit, junit_options)
#define DEBUG_ENGINE_GROUPS(type, config) \
    COMMAND_GROUP(type, file.model, inspect_model_options), \
    COMMAND_GROUP(type, file.inference, shape_inference_options), \
    COMMAND_GROUP(type, file.load, onnx_load_options), \
    COMMAND_GROUP(type, file.data, data_loader_options), \
    COMMAND_GROUP(type, file.onnxrt, onnxrt_library_options), \
    COMMAND_GROUP(type, engine, config), \
    COMMAND_GROUP(type, engine, engine_network_options), \
    COMMAND_GROUP(type, engine, engine_cache_options), \
    COMMAND_GROUP(type, engine, tensorrt_options)
/* clang-format on */

/* Session settings from the options for the check, candidates, artifacts, replays and the model (`file`; NULL for a
 * command without one); also enables questions and progress on the terminal, and sets this program's path. Borrows from
 * the context and the settings. */
struct session_settings debug_session_settings(const struct command_context *context, const struct debug_values *debug,
                                               const struct model_file_settings *file);

/* Combines `hash` with the options that influence the builder, `config` being the command's group
 * (engine_config_options or that of debug precision): their words, and the content of plug-ins and replays that they
 * name. Excluded are precisions, which commands also set, and options that only save time or write files. */
int debug_hash_builder_options(const struct command_context *context, const struct option_group *config,
                               struct hash *hash, struct error *err);

/* Combines `hash` with the content of ONNX Runtime's library that answers with these settings, if there is one: another
 * release is another runtime, under the same path, too. */
void debug_hash_runtime(const struct onnxrt_settings *settings, struct hash *hash);

/* Called in the fork server of checks that run this program with these words (NULL-terminated): loads the libraries of
 * their runners once for all, unless they name another ONNX Runtime. Libraries that fail to load are reported by the
 * check. */
void debug_preload_libraries(void *words);

/* Watches the external data of the model, which the check can modify through links. Missing files are reported where
 * they are needed. */
void debug_session_watch_data(struct debug_session *session, struct model *model);

#endif
