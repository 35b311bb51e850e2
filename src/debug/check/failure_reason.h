/* debug/check/failure_reason.h: why a model could not be built or run, as a text that identifies the failure.
 *
 * Runs of this program inside of a check have one exit code for it (CHECK_NOT_RUN_CODE). Their errors come back through
 * a file that the environment names (base/process/error_file.h).
 */
#ifndef DEBUG_CHECK_FAILURE_REASON_H
#define DEBUG_CHECK_FAILURE_REASON_H

#include "base/process/error_file.h"
#include "base/process/process.h"

/* The error code of the runtime or its parser, the operator that the message names, and the model's functions around
 * it. Where there is none of them, "message: " and the message without numbers and quoted names. */
void failure_reason_of(const struct error *err, char ret[PROCESS_REASON_SIZE]);

/* The reason that the last run reported; else "". */
void failure_reason_read(const struct error_file *file, char ret[PROCESS_REASON_SIZE]);

#endif
