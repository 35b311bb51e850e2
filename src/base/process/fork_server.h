/* base/process/fork_server.h: a fork server: a preloaded copy of this program that forks children which start without
 * loading libraries.
 *
 * The server is forked, loads libraries and waits. For each requested child it forks twice; the intermediate process
 * exits at once, so that the child becomes an orphan and is reparented to this process, the subreaper
 * (base/process/process.h). The child calls a function in place of main(), with malloc() tuned by memory_make_roomy().
 * A crash or a hang of one child affects no other, and its output, signals and process group are the same as if the
 * program had been executed.
 */
#ifndef BASE_PROCESS_FORK_SERVER_H
#define BASE_PROCESS_FORK_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

struct fork_server;

/* Forks the server; call before threads exist. `main` returns an exit status; `prepare` (may be NULL) runs once, in the
 * server. NULL if that is not possible: children then have to be executed as usual. */
struct fork_server *fork_server_start(int (*main)(int argc, char **argv), void (*prepare)(void *data), void *data);

/* Stops the server, not its children. Accepts NULL. */
void fork_server_stop(struct fork_server *server);

/* Starts a child with these arguments, with "NAME=value" added to the environment (may be NULL), `out` and `error_out`
 * as its standard output and error, as the leader of a new process group. False if the server is gone or refuses: no
 * child was started. */
bool fork_server_spawn(struct fork_server *server, const char *const *arguments, const char *const *environment,
                       int out, int error_out, pid_t *ret);

#endif
