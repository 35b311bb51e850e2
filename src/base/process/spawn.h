/* base/process/spawn.h: finding a program and starting it. */
#ifndef BASE_PROCESS_SPAWN_H
#define BASE_PROCESS_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct fork_server;

/* What is to run, and how long. */
struct process_request {
    const char *const *arguments; /* NULL-terminated; [0] is looked up on PATH unless it holds a slash */
    const char *program;          /* executed instead of looking up arguments[0], when not NULL */
    /* runs `server_arguments` in place of all that (base/process/fork_server.h); may be NULL */
    struct fork_server *server;
    const char *const *server_arguments;
    /* "NAME=value" to add, "NAME" to take away, NULL-terminated; may be NULL */
    const char *const *environment;
    const char *folder; /* to start in; NULL: this process's. Not with `server` */
    double timeout;     /* seconds; 0: none. SIGTERM to the group, again after 1 s, SIGKILL after 2 s (or sooner) */
    const int *stop;    /* a descriptor: as soon as it is readable the child is ended in the same way; NULL: none */
    bool without_input; /* standard input is empty; else it is this process's */
};

/* Where `program` is on PATH (or itself when it holds a slash and is executable), malloc'd; NULL when nowhere. */
char *process_find(const char *program);

/* Starts what is asked for as the leader of a new process group, with `out` and `error_out` as its standard output and
 * error, which family_end() ends. Signals have their default action and none is blocked. Errors as process_run(), for
 * which this is. */
int process_spawn(const struct process_request *request, int out, int error_out, pid_t *ret, struct error *err);

#endif
