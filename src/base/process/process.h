/* base/process/process.h: running a child to its end.
 *
 * The module base/process/ knows how a child starts, what it writes, and that nothing of it outlives it: spawn.h starts
 * it, capture.h keeps its output, family.h and guard.h end all that it has started. A request comes in, the end and
 * the output go out. Two kinds of child are copies of this program: fork_server.h, bounded.h. It may use base alone.
 *
 * The child is the leader of a process group of its own. Its standard output and error are captured without deadlock
 * (capture.h). Standard input, working directory and environment are inherited, unless the request says otherwise.
 * When the child has ended, whatever is left of its group (and, on Linux, of its descendants that moved to other
 * groups) is killed: nothing outlives a check. A signal that interrupt_pending() reports ends the whole group and
 * gives ERR_INTERRUPTED, and so does `stop`.
 *
 * Several threads may run children at once. The first call sets a handler for SIGCHLD and makes this process the parent
 * of orphaned descendants, which are taken for a check's: a program with other children has to start them before.
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
    int code;       /* exit code, or the number of the signal that ended it (of the last one sent after a time-out) */
    pid_t process;  /* which it was */
    double seconds; /* wall time */
    struct process_output out, error_out;
    char reason[PROCESS_REASON_SIZE]; /* for who runs it to note why it has failed; else "" */
};

/* Returns 0 when the child ran and ended in whatever way. ERR_MISSING when there is no such program, ERR_IO when it
 * cannot be executed (not executable, bad format); both name the program and how it was looked for. */
int process_run(const struct process_request *request, struct process_result *ret, struct error *err);
void process_result_release(struct process_result *result);

#endif
