/* debug/check/failure_reason.h: why a run of this program says that the runtime refused a model, told to the debug tool
 * whose check it is.
 *
 * All those runs end with one exit code (CHECK_NOT_RUN_CODE). A debug tool makes a file without a name, and tells a
 * check by the environment how to open it. Every process below the check inherits that, so it works through scripts;
 * where it cannot be opened, in another container or on another machine, there is no reason.
 */
#ifndef DEBUG_CHECK_FAILURE_REASON_H
#define DEBUG_CHECK_FAILURE_REASON_H

#include <stdbool.h>

#include "base/error.h"
#include "base/process/process.h"

/* The debug tool's end. */
struct failure_reason {
    int fd;
    char variable[128]; /* "NAME=value", for the environment of the check */
};

/* False where the system has no such files. */
bool failure_reason_open(struct failure_reason *reason);

/* Closes it, once the check has ended. `ret` (may be NULL) gets what the last run has told, or "". */
void failure_reason_take(struct failure_reason *reason, char ret[PROCESS_REASON_SIZE]);

/* The check's end: opens what the environment tells of, close-on-exec; -1 when there is none. It is the same one for as
 * long as the process lives. */
int failure_reason_descriptor(void);

/* Tells what the runtime's error code was, and the operator that it names, as far as they are known. */
void failure_reason_tell(const struct error *err);

#endif
