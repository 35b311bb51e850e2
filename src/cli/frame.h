/* cli/frame.h: the lines around a command's work, and what its end means for the exit status.
 *
 *   [I] RUNNING | Command: polygraphy debug reduce model.onnx ...
 *   ...
 *   [I] PASSED | Runtime: 0.352s | Command: polygraphy debug reduce model.onnx ...
 *
 * PASSED says that the tool did its work, not that a model is good.
 *
 * For most callers an error is an error. A debug tool has to know more: with this program as its check, "the outputs
 * differ" is what is looked for, "the runner does not take the model" is another failure, and "there is no such option"
 * says nothing about the model at all. So inside of a check (debug/check/check.h) errors end by their kind. This is the
 * only place that knows how; docs/verdicts.md has the table for users.
 */
#ifndef CLI_FRAME_H
#define CLI_FRAME_H

#include "base/error.h"
#include "base/log.h"

#define EXIT_STATUS_ERROR 1   /* the user, a file or the system made it impossible to go on; or a bad outcome */
#define EXIT_STATUS_REFUSED 2 /* the command line makes no sense */

/* Only inside of a check: */
#define EXIT_STATUS_NOT_RUN 3      /* the runtime refused the model, or failed while running it */
#define EXIT_STATUS_UNTESTABLE 125 /* nothing was found out: the command line, a file, or the data are at fault */

/* The exit status that an error stands for. */
int exit_status_of(enum error_code code);

/* That of a command line that could not be parsed, where `usual` is what it is outside of checks. */
int exit_status_of_refusal(int usual);

struct command_frame {
    struct log *log;
    const char *const *command_line; /* NULL-terminated */
    bool shown;                      /* whether the two lines are wanted; errors are shown in any case */
    double start;                    /* stopwatch_now() */
};

void command_frame_begin(struct command_frame *frame, struct log *log, const char *const *command_line, bool shown);

/* `rc` is what the command returned: an exit status, or an error code with `err` filled, which is printed here as one
 * `[!]` line. Returns the exit status of the process. ERR_INTERRUPTED gives a warning and no closing line; the caller
 * has to end the process by its signal. */
int command_frame_end(struct command_frame *frame, int rc, const struct error *err);

#endif
