/* cli/frame.h: the lines around a command's work, and what its end means for the exit status.
 *
 *   [I] RUNNING | Command: polygraphy debug reduce model.onnx ...
 *   ...
 *   [I] PASSED | Runtime: 0.352s | Command: polygraphy debug reduce model.onnx ...
 *
 * PASSED says that the tool did its work, not that a model is good.
 */
#ifndef CLI_FRAME_H
#define CLI_FRAME_H

#include "base/error.h"
#include "base/log.h"

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
