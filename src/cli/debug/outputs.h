/* cli/debug/outputs.h: outputs of a debug command: its answer in the log, --json, --report and --junit.
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

/* Exit status with --exit-code if at least one iteration failed. 0: all passed; 1 and 2 are errors as usual. */
#define EXIT_STATUS_FAILED_ITERATION 4

/* The same for tools that search for the cause of a failure: no failure was reproduced. */
#define EXIT_STATUS_NOT_REPRODUCED 4

struct debug_outputs {
    const struct command_context *context;
    const struct debug_values *debug;
    const char *tool;
    bool counts; /* each iteration is a test of --junit and determines the exit status; set it before watching */
    bool has_polygraphy_log; /* the log already has the answer in Polygraphy's words */
    struct result *result;   /* the answer, filled by the command */
    struct report *report;   /* content of the page only: networks, layers; NULL: neither a page nor test cases are
                              * requested */
    bool has_json;
    struct json_writer json;
};

/* Opens the file of --json, so that an unwritable path is reported before a session that may take hours. Nothing to
 * close after an error. `outputs` must not be moved. */
int debug_outputs_open(struct debug_outputs *outputs, const struct command_context *context,
                       const struct debug_values *debug, const char *tool, struct error *err);

/* Begins the page, if requested: candidates of the session become its search, over `unit` ("nodes"), each with the
 * output of its check. */
void debug_outputs_watch(struct debug_outputs *outputs, const char *unit, struct session_settings *settings);

/* Draws the network of the model (may be NULL) on the page. */
void debug_outputs_add_model(struct debug_outputs *outputs, struct model *model);

/* Sets the verdict of a session that only counts failures. */
void debug_outputs_count_failures(struct debug_outputs *outputs, const char *unit, const struct debug_session *session);

/* Finishes the command. With an error in `rc` nothing is written, and an interruption logs how to resume. Otherwise the
 * answer goes to the log, with the counts of checks of `session` (may be NULL), to JSON, to the page and to the test
 * cases. `found`: the session was successful; else its test failed if the verdict is a failure, and is skipped if there
 * was nothing to find. Returns `rc`, an error, 0, or with --exit-code one of the statuses above. */
int debug_outputs_finish(struct debug_outputs *outputs, struct debug_session *session, int rc, bool found,
                         struct error *err);

void debug_outputs_close(struct debug_outputs *outputs);

#endif
