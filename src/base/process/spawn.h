/* base/process/spawn.h: finding and starting a program. Internal to base/process. */
#ifndef BASE_PROCESS_SPAWN_H
#define BASE_PROCESS_SPAWN_H

#include <sys/types.h>

#include "base/process/process.h"

/* Starts the program as the leader of a new process group, with `out` and `error_out` as its standard output and error.
 * Signals have their default action and none is blocked. Errors as process_run(). */
int process_spawn(const struct process_request *request, int out, int error_out, pid_t *ret, struct error *err);

#endif
