/* base/process/process.h: running a child to its end.
 *
 * The child is the leader of a process group of its own. Its standard output and error are captured without deadlock:
 * beyond PROCESS_CAPTURE_MEMORY bytes a stream goes to an unlinked temporary file, and of more than twice
 * PROCESS_CAPTURE_END bytes only both ends are kept. Standard input, working directory and environment are inherited
 * (plus `environment`). When the child has ended, whatever is left of its group (and, on Linux, of its descendants that
 * moved to other groups) is killed: nothing outlives a check. A signal that interrupt_pending() reports ends the whole
 * group and gives ERR_INTERRUPTED, and so does `stop`.
 *
 * Several threads may run children at once. The first call sets a handler for SIGCHLD and makes this process the parent
 * of orphaned descendants, which are taken for a check's: a program with other children has to start them before.
 */
#ifndef BASE_PROCESS_PROCESS_H
#define BASE_PROCESS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define PROCESS_REASON_SIZE 96 /* bytes */
#define PROCESS_CAPTURE_MEMORY ((size_t)1 << 20)
#define PROCESS_CAPTURE_END ((size_t)32 << 20)

struct process_request {
    const char *const *arguments; /* NULL-terminated; [0] is looked up on PATH unless it holds a slash */
    const char *program;          /* executed instead of looking up arguments[0], when not NULL */
    /* runs `server_arguments` in place of all that (base/process/fork_server.h); may be NULL */
    struct fork_server *server;
    const char *const *server_arguments;
    const char *const *environment; /* "NAME=value" to add, NULL-terminated; may be NULL */
    double timeout;     /* seconds; 0: none. SIGTERM to the group, again after 1 s, SIGKILL after 2 s (or sooner) */
    const int *stop;    /* a descriptor: as soon as it is readable the child is ended in the same way; NULL: none */
    bool without_input; /* standard input is empty; else it is this process's */
};

enum process_end {
    PROCESS_EXITED,
    PROCESS_SIGNALED,
    PROCESS_TIMED_OUT,
};

/* What one stream left: `data` maps or holds `size` bytes. */
struct process_output {
    const char *data;
    size_t size;
    int fd;         /* of the spill file, or -1 */
    bool truncated; /* the disk was full: only the first `size` bytes were kept */

    /* Bytes in the middle that were not kept. When there are any, the beginning is `head` bytes long, and the end
     * begins at `tail`; a line between them tells how many are missing. */
    uint64_t left_out;
    size_t head, tail;
};

struct process_result {
    enum process_end end;
    int code;       /* exit code, or the number of the signal that ended it (of the last one sent after a time-out) */
    double seconds; /* wall time */
    struct process_output out, error_out;
    char reason[PROCESS_REASON_SIZE]; /* for who runs it to note why it has failed; else "" */
};

/* Returns 0 when the child ran and ended in whatever way. ERR_MISSING when there is no such program, ERR_IO when it
 * cannot be executed (not executable, bad format); both name the program and how it was looked for. */
int process_run(const struct process_request *request, struct process_result *ret, struct error *err);
void process_result_release(struct process_result *result);
void process_output_release(struct process_output *output);

/* Where `program` is on PATH (or itself when it holds a slash and is executable), malloc'd; NULL when nowhere. */
char *process_find(const char *program);

#endif
