/* base/process/fork_server.h: a copy of this program that is ready to run it: children of it start without loading
 * anything.
 *
 * A server is forked off, makes preparations (loads libraries), and waits. For each child that is wanted it forks
 * itself twice; the one in between ends at once, so that the child becomes an orphan and, this process being the parent
 * of those (base/process/process.h), its own. The child calls a function in place of main(), with memory for a short
 * life (base/roomy_heap.h). So a crash or a hang of one child harms nothing, and its output, signals and process group
 * are what they would be had the program been executed.
 */
#ifndef BASE_PROCESS_FORK_SERVER_H
#define BASE_PROCESS_FORK_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

struct warm_process;

/* Forks the server; to be called before there are threads. `main` returns an exit status; `prepare` (may be NULL) runs
 * once, in the server. NULL where that cannot be done: children then have to be started the usual way. */
struct warm_process *warm_process_start(int (*main)(int argc, char **argv), void (*prepare)(void *data), void *data);

/* Ends the server, not its children. NULL is fine. */
void warm_process_stop(struct warm_process *warm);

/* Starts a child with these words, with "NAME=value" added to the environment (may be NULL), `out` and `error_out` as
 * its standard output and error, as the leader of a new process group. False when the server is gone or refuses:
 * nothing was started. */
bool warm_process_spawn(struct warm_process *warm, const char *const *arguments, const char *const *environment,
                        int out, int error_out, pid_t *ret);

#endif
