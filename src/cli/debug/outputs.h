/* cli/debug/outputs.h: what a debug command writes: its answer in the log, --json, --report and --junit.
 *
 *   rc = debug_outputs_open(&outputs, context, &settings->debug, "debug passes", err);
 *   debug_outputs_watch(&outputs, "decisions", &session_settings);
 *   ...                                     run the session, fill outputs.result
 *   rc = debug_outputs_finish(&outputs, session, rc, found, err);
 *   debug_outputs_close(&outputs);
 */
#ifndef CLI_DEBUG_OUTPUTS_H
#define CLI_DEBUG_OUTPUTS_H

#include "cli/options/groups.h"
#include "cli/parse/command.h"
#include "debug/session/session.h"
#include "format/json/writer.h"
#include "onnx/model/model.h"
#include "report/report.h"
#include "report/result.h"

/* The exit status that tells a script, with --exit-code, that at least one iteration failed. 0: all passed; 1 and 2 are
 * errors as ever. */
#define EXIT_STATUS_FAILED_ITERATION 4

/* The same for tools that look for a failure: there was none to be found. */
#define EXIT_STATUS_NOT_REPRODUCED 4

struct debug_outputs {
    const struct command_context *context;
    const struct debug_values *debug;
    const char *tool;
    bool counts; /* each iteration is a test of --junit, and decides about the exit status; set it before watching */
    bool has_polygraphy_log; /* the log says it in Polygraphy's words: the answer is not logged a second time */
    struct result *result;   /* what was found: filled by the command */
    struct report *report;   /* for what is only on the page: networks, layers; NULL: neither page nor cases wanted */
    bool has_json;
    struct json_writer json;
};

/* Opens the file that --json names: a session can take hours, so that a result which cannot be saved is reported before
 * anything is run. Nothing to close after an error. `outputs` has to stay where it is. */
int debug_outputs_open(struct debug_outputs *outputs, const struct command_context *context,
                       const struct debug_values *debug, const char *tool, struct error *err);

/* Begins the page, if one is wanted: what the session of these settings judges becomes its search, over `unit`
 * ("nodes"), each candidate with what its check has written. */
void debug_outputs_watch(struct debug_outputs *outputs, const char *unit, struct session_settings *settings);

/* Draws the network of the model (may be NULL) on the page. */
void debug_outputs_add_model(struct debug_outputs *outputs, struct model *model);

/* The verdict of a session that only counts: how many of those that were judged have failed. */
void debug_outputs_count_failures(struct debug_outputs *outputs, const char *unit, const struct debug_session *session);

/* Ends the command. With an error in `rc` nothing is written, and an interruption logs how to resume. Otherwise the
 * answer goes to the log, with the numbers of checks of `session` (may be NULL), to JSON, to the page and to the test
 * cases. `found`: the session has found what it is for; else its test has failed where the verdict is a failure, and is
 * skipped where nothing was to be found. Returns `rc`, an error, 0, or with --exit-code one of the statuses above. */
int debug_outputs_finish(struct debug_outputs *outputs, struct debug_session *session, int rc, bool found,
                         struct error *err);

void debug_outputs_close(struct debug_outputs *outputs);

#endif
