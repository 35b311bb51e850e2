/* cli/debug_session.h: how a `debug` command ends. */
#ifndef CLI_DEBUG_SESSION_H
#define CLI_DEBUG_SESSION_H

#include "cli/command.h"
#include "debug/loop.h"
#include "format/json_writer.h"

/* The exit status that tells a script, with --exit-code, that at least one iteration failed. 0: all passed; 1 and 2 are
 * errors as ever. */
#define EXIT_STATUS_FAILED_ITERATION 4

/* The same for tools that look for a failure: there was none to be found. */
#define EXIT_STATUS_NOT_REPRODUCED 4

/* With --json: writes an object of what `add` (NULL: nothing) adds to it, and "passed", "failed" and "skipped": numbers of
 * iterations. */
int debug_session_save(const struct command_context *context, const struct loop *loop,
                       void (*add)(const void *data, struct json_writer *writer), const void *data, struct error *err);

/* Turns the loop's end into the command's: after an interruption the log says how to resume; after success --exit-code
 * decides between 0 and EXIT_STATUS_FAILED_ITERATION. Errors pass through. */
int debug_session_end(const struct command_context *context, struct loop *loop, int rc);

#endif
