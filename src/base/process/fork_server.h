/* base/process/fork_server.h: a copy of this program that is ready to run it: children of it start without loading
 * anything.
 *
 * A server is forked off, makes preparations (loads libraries), and waits. For each child that is wanted it forks
 * itself twice; the one in between ends at once, so that the child becomes an orphan and, this process being the parent
 * of those (base/process/process.h), its own. The child calls a function in place of main(), with memory for a short
 * life (memory_make_roomy()). So a crash or a hang of one child harms nothing, and its output, signals and process
 * group are what they would be had the program been executed.
 */
#ifndef BASE_PROCESS_FORK_SERVER_H
#define BASE_PROCESS_FORK_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

struct fork_server;

/* Forks the server; to be called before there are threads. `main` returns an exit status; `prepare` (may be NULL) runs
 * once, in the server. NULL where that cannot be done: children then have to be started the usual way. */
struct fork_server *fork_server_start(int (*main)(int argc, char **argv), void (*prepare)(void *data), void *data);

/* Ends the server, not its children. NULL is fine. */
void fork_server_stop(struct fork_server *server);

/* Starts a child with these words, with "NAME=value" added to the environment (may be NULL), `out` and `error_out` as
 * its standard output and error, as the leader of a new process group. False when the server is gone or refuses:
 * nothing was started. */
bool fork_server_spawn(struct fork_server *server, const char *const *arguments, const char *const *environment,
                       int out, int error_out, pid_t *ret);

#endif
