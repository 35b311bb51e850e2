/* base/process/spawn.h: finding a program and starting it. */
#ifndef BASE_PROCESS_SPAWN_H
#define BASE_PROCESS_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct fork_server;

/* What to run, and for how long. */
struct process_request {
    const char *const *arguments; /* NULL-terminated; [0] is looked up on PATH unless it contains a slash */
    const char *program;          /* executed instead of looking up arguments[0], when not NULL */
    /* if not NULL, runs `server_arguments` instead of the above (base/process/fork_server.h) */
    struct fork_server *server;
    const char *const *server_arguments;
    /* "NAME=value" to set, "NAME" to unset, NULL-terminated; may be NULL */
    const char *const *environment;
    const char *folder; /* working directory; NULL: this process's. Ignored with `server` */
    double timeout;     /* seconds; 0: none. SIGTERM to the group, again after 1 s, SIGKILL after 2 s (or sooner) */
    const int *stop;    /* a descriptor: the child is terminated in the same way once it is readable; NULL: none */
    bool without_input; /* empty standard input; else it is inherited */
};

/* The path of `program` on PATH (or `program` if it contains a slash and is executable), malloc'd; NULL if not
 * found. */
char *process_find(const char *program);

/* Starts the requested program as the leader of a new process group, with `out` and `error_out` as its standard output
 * and error. family_end() kills the group. Signals have their default action and none is blocked. Errors as
 * process_run(), its only caller. */
int process_spawn(const struct process_request *request, int out, int error_out, pid_t *ret, struct error *err);

#endif
