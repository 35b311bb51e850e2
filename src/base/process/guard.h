/* base/process/guard.h: a guard process that kills all children after this process is killed.
 *
 * On a signal that can be handled, base/interrupt.c kills the children. SIGKILL cannot be handled: so a guard process
 * waits for the end of this one and then kills the registered process groups: SIGTERM, and after 0.2 s SIGKILL. Then,
 * on Linux, it searches for descendants that left the groups or were started before they could be registered.
 * Descendants are recognized by two marks, either of which is enough:
 *
 *   - a variable in their initial environment;
 *   - a unique number as an inherited limit: the soft limit RLIMIT_RTTIME on the time that a process takes in real-time
 *     scheduling, which is still over a hundred thousand years. It survives a new session (setsid), a new
 *     environment (env -i), closed descriptors and reparenting.
 *
 * Not killed are processes without both marks (`ulimit -R` or setrlimit(), or sudo and su where they set limits, with a
 * new environment), processes of another user, processes started by a service (at, systemd-run, docker, a batch
 * system), and processes in uninterruptible sleep. A control group would find more of these, but it needs privileges
 * that few users have, and its limits differ from those of the user's session.
 */
#ifndef BASE_PROCESS_GUARD_H
#define BASE_PROCESS_GUARD_H

#include <sys/types.h>

/* Forks the guard, unless it runs already, and sets the marking limit; call before threads exist. On failure there is
 * no guard. */
void process_guard_start(void);

/* Stops the guard and restores the limit; called when no child is left. */
void process_guard_stop(void);

/* Register and unregister a process group to be killed. Unregister it before its leader is reaped: afterwards its
 * number may be reused. Without a guard both do nothing. */
void process_guard_add(pid_t group);
void process_guard_remove(pid_t group);

/* The guard's process ID, so that it is not mistaken for an orphan; 0: no guard. */
pid_t process_guard_process(void);

/* "POLYGRAPHY_SESSION=...", for the environment of children; NULL without a guard. */
const char *process_guard_mark(void);

/* For a forked child that executes another program: detaches it from the guard, which waits for the parent only. */
void process_guard_forget(void);

#endif
