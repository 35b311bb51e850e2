/* debug/check/failure_reason.h: why a run of this program inside of a check could not run the model.
 *
 * All those runs have one exit code (CHECK_NOT_RUN_CODE). Their errors come back through a file that the environment
 * names (base/process/error_file.h).
 */
#ifndef DEBUG_CHECK_FAILURE_REASON_H
#define DEBUG_CHECK_FAILURE_REASON_H

#include "base/process/error_file.h"
#include "base/process/process.h"

/* The runtime's error code and the operator that its message names, if the last run reported them; else "". */
void failure_reason_read(const struct error_file *file, char ret[PROCESS_REASON_SIZE]);

#endif
