/* backend/command/ending.h: how a command of the user's ended, and what it wrote. */
#ifndef BACKEND_COMMAND_ENDING_H
#define BACKEND_COMMAND_ENDING_H

#include "backend/command/line.h"
#include "base/log.h"
#include "base/process/process.h"

/* Writes what a command has written to the stream called `stream` to the log: the end of it as errors when it has
 * `failed`, else as details. */
void command_show_stream(const struct runner_command *command, struct log *log, const char *stream,
                         const struct process_output *output, bool failed);

/* How a command ended that has not ended well, and the last line that it wrote: ERR_BACKEND and others as in
 * command.h. */
int command_describe_end(const struct runner_command *command, const struct process_result *result, struct error *err);

/* Says in front of an error which runner failed, unless it was an interruption; `err` is not NULL. */
int command_blame(const struct runner_command *command, bool is_build, struct error *err);

#endif
