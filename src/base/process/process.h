/* base/process/process.h: runs a child process and waits for its end.
 *
 * The module base/process/ contains the start of children (spawn.h), capture of their output (capture.h), and killing
 * of all their descendants (family.h, guard.h). Two kinds of children are forked copies of this program: fork_server.h,
 * bounded.h. It depends on base only.
 *
 * The child is the leader of a new process group. Its standard output and error are captured without deadlock
 * (capture.h). Standard input, working directory and environment are inherited, unless the request says otherwise. When
 * the child has exited, the remaining processes of its group (and, on Linux, its descendants in other groups) are
 * killed. A signal that interrupt_pending() reports, or `stop`, terminates the whole group and returns ERR_INTERRUPTED.
 *
 * Several threads may run children at once. The first call sets a handler for SIGCHLD and makes this process the parent
 * of orphaned descendants, which are assumed to belong to a check: a program with other children must start them
 * before.
 */
#ifndef BASE_PROCESS_PROCESS_H
#define BASE_PROCESS_PROCESS_H

#include "base/process/capture.h"
#include "base/process/spawn.h"

#define PROCESS_REASON_SIZE 96 /* bytes */

enum process_end {
    PROCESS_EXITED,
    PROCESS_SIGNALED,
    PROCESS_TIMED_OUT,
};

struct process_result {
    enum process_end end;
    int code;       /* exit code, or the number of the terminating signal (after a time-out, the last signal sent) */
    pid_t process;  /* the child's process ID */
    double seconds; /* wall time */
    struct process_output out, error_out;
    char reason[PROCESS_REASON_SIZE]; /* set by the caller: why the child failed; else "" */
};

/* Runs a child. Returns 0 if it ran, however it terminated. ERR_MISSING if there is no such program, ERR_IO when it
 * cannot be executed (not executable, bad format); both messages contain the program and where it was searched. */
int process_run(const struct process_request *request, struct process_result *ret, struct error *err);
void process_result_release(struct process_result *result);

#endif
