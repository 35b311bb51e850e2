/* cli/debug/session.h: how a `debug` command begins and ends.
 *
 * The module cli/debug/ has the subtools of `debug`, a file each. Options and files come in; a tool of debug/ does the
 * work; what it found goes to the log, to files and into the exit status. It may use what cli/ and its other modules
 * have for all commands.
 */
#ifndef CLI_DEBUG_SESSION_H
#define CLI_DEBUG_SESSION_H

#include "cli/options/groups.h"
#include "cli/parse/command.h"
#include "debug/session/session.h"
#include "onnx/model/model.h"

/* What a page of help has of all searches, behind what it has of this one. */
#define DEBUG_SEARCH_ESSENTIAL "-j", "--load-debug-replay", "--show-output", "--json", "--report", "-v"

/* What the options say to the session, of the check, candidates, artifacts and replays, and of the model (`file`, NULL
 * for a command without one); also lets it ask the user on the terminal, show its progress there, and find this
 * program. Borrows from the context and the settings. */
struct session_settings debug_session_settings(const struct command_context *context, const struct debug_values *debug,
                                               const struct model_file_settings *file);

/* Combines `hash` with the options that decide what a builder makes of the model, `config` being the command's group
 * (engine_config_options or that of debug precision): their words, and the content of the plug-ins and replays that
 * they name. Precisions are not among them, which commands set as well, nor what only saves time or is written. */
int debug_hash_builder_options(const struct command_context *context, const struct option_group *config,
                               struct hash *hash, struct error *err);

/* In the fork server of checks that run this program with these words (NULL-terminated): what their runners use is
 * loaded once for all of them, unless they name an ONNX Runtime of their own. What cannot be loaded is left to the
 * check to complain about. */
void debug_preload_libraries(void *words);

/* Has the session watch the external data of the model: linked to candidates, they are within reach of the check. What
 * cannot be found is left to those who need it. */
void debug_session_watch_data(struct debug_session *session, struct model *model);

#endif
