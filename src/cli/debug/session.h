/* cli/debug/session.h: how a `debug` command begins and ends.
 *
 * The room cli/debug/ has the subtools of `debug`, a file each. Options and files come in; a tool of debug/ does the
 * work; what it found goes to the log, to files and into the exit status. It may use what cli/ and its other rooms
 * have for all commands.
 */
#ifndef CLI_DEBUG_SESSION_H
#define CLI_DEBUG_SESSION_H

#include "cli/options/groups.h"
#include "cli/parse/command.h"
#include "debug/session/session.h"
#include "format/json/writer.h"
#include "onnx/model/model.h"

/* The exit status that tells a script, with --exit-code, that at least one iteration failed. 0: all passed; 1 and 2 are
 * errors as ever. */
#define EXIT_STATUS_FAILED_ITERATION 4

/* The same for tools that look for a failure: there was none to be found. */
#define EXIT_STATUS_NOT_REPRODUCED 4

/* What a page of help has of all searches, behind what it has of this one. */
#define DEBUG_SEARCH_ESSENTIAL "-j", "--load-debug-replay", "--show-output", "--json", "--report", "-v"

/* What the options say to the session, of the check, candidates, artifacts and replays, and of the model (`file`, NULL
 * for a command without one); also lets it ask the user on the terminal, show its progress there, and find this
 * program. Borrows from the context and the settings. */
struct session_settings debug_session_settings(const struct command_context *context, const struct debug_values *debug,
                                               const struct model_file_settings *file);

/* In the fork server of checks that run this program with these words (NULL-terminated): what their runners use is
 * loaded once for all of them, unless they name an ONNX Runtime of their own. What cannot be loaded is left to the
 * check to complain about. */
void debug_preload_libraries(void *words);

/* The result for other programs. */
struct debug_report {
    bool wanted; /* --json was given, and the file is open */
    struct json_writer json;
};

/* Opens the file that --json names. A session can take hours: this comes first, so that a result which cannot be saved
 * is said before anything is run. Nothing to close after an error. */
int debug_report_open(struct debug_report *report, const struct json_values *json, struct error *err);

/* Writes an object of what `add` (NULL: nothing) adds to it, and of the numbers of iterations of `session` (NULL:
 * without): "passed", "failed" and "skipped", and how the checks that were run have ended, "checks". The file is then
 * in place. Nothing happens when it is not wanted. */
int debug_report_save(struct debug_report *report, const struct debug_session *session,
                      void (*add)(const void *data, struct json_writer *writer), const void *data, struct error *err);

void debug_report_close(struct debug_report *report); /* without debug_report_save() no file is left */

/* Has the session watch the external data of the model: linked to candidates, they are within reach of the check. What
 * cannot be found is left to those who need it. */
void debug_session_watch_data(struct debug_session *session, struct model *model);

/* Turns the session's end into the command's: after an interruption the log says how to resume; after success it says
 * how the checks have ended, and --exit-code decides between 0 and EXIT_STATUS_FAILED_ITERATION. Errors pass through.
 * */
int debug_session_end(const struct command_context *context, const struct debug_values *debug,
                      struct debug_session *session, int rc);

#endif
