/* cli/frame.h: the first and last log line of a command, and its exit status.
 *
 *   [I] RUNNING | Command: polygraphy debug reduce model.onnx ...
 *   ...
 *   [I] PASSED | Runtime: 0.352s | Command: polygraphy debug reduce model.onnx ...
 *
 * PASSED means that the tool completed, not that a model is correct.
 *
 * Outside of a check every error has the same exit status. A debug tool that uses this program as its check must
 * distinguish them: "the outputs differ" is a failure of the model, "the runner refuses the model" is a different
 * failure, and "unknown option" is inconclusive. So inside a check (debug/check/check.h) the exit status depends on the
 * kind of the error. Only this module defines it; docs/verdicts.md has the table for users.
 */
#ifndef CLI_FRAME_H
#define CLI_FRAME_H

#include "base/error.h"
#include "base/log.h"

#define EXIT_STATUS_ERROR 1   /* an error of the user, a file or the system; or a negative result */
#define EXIT_STATUS_REFUSED 2 /* the command line is invalid */

/* Only inside a check: */
#define EXIT_STATUS_NOT_RUN 3      /* the runtime refused the model, or failed while running it */
#define EXIT_STATUS_UNTESTABLE 125 /* inconclusive: the command line, a file, or the data are invalid */

/* The exit status for an error. */
int exit_status_of(enum error_code code);

/* The exit status for an invalid command line; `usual` is the one outside of checks. */
int exit_status_of_refusal(int usual);

struct command_frame {
    struct log *log;
    const char *const *command_line; /* NULL-terminated */
    bool shown;                      /* whether to log the two lines; errors are shown in any case */
    double start;                    /* stopwatch_now() */
};

void command_frame_begin(struct command_frame *frame, struct log *log, const char *const *command_line, bool shown);

/* `rc` is the command's return value: an exit status, or an error code with `err` filled, which is printed as one `[!]`
 * line. Returns the exit status of the process. For ERR_INTERRUPTED logs a warning and no last line; the caller must
 * terminate the process by its signal. */
int command_frame_end(struct command_frame *frame, int rc, const struct error *err);

#endif
