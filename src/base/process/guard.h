/* base/process/guard.h: nothing outlives this program, not even when it is killed.
 *
 * A signal that can be handled ends the children in base/interrupt.c. After SIGKILL nobody would: so a process is
 * forked that does nothing but wait for the end of this one, and then ends the process groups that it was told of:
 * SIGTERM, and after 0.2 s SIGKILL. Then it looks for what has left the groups, or was started in the very last moment,
 * before the guard could be told (on Linux). Descendants are known by two marks, either of which is enough:
 *
 *   - a variable in the environment they were started with;
 *   - a number that they have inherited as a limit: the soft limit on the time that a process takes in real-time
 *     scheduling, which is over a hundred thousand years all the same. Neither a session of its own (setsid), an
 *     environment of its own (env -i), closed descriptors nor another parent takes it away.
 *
 * What remains alive is what has given up both (`ulimit -R` or setrlimit(), or sudo and su where they set limits, with
 * another environment), what belongs to another user, what a service was asked to start (at, systemd-run, docker, a
 * batch system), and processes that the kernel cannot end while they wait for a device. A control group would know more
 * of these, but it takes rights that few have, and puts what is started under other limits than those of the user's
 * session.
 */
#ifndef BASE_PROCESS_GUARD_H
#define BASE_PROCESS_GUARD_H

#include <sys/types.h>

/* Forks the guard, unless there is one, and takes on the limit that is a mark; to be called before there are threads.
 * Where that fails there is none. */
void process_guard_start(void);

/* Sends the guard away, and gives up the mark: no child is left. */
void process_guard_stop(void);

/* The group is to be killed, and is not any more. The latter has to be told before its leader is reaped: until then its
 * number is its own. Nothing happens without a guard. */
void process_guard_add(pid_t group);
void process_guard_remove(pid_t group);

/* A child of this process that is no orphan of another one; 0: there is none. */
pid_t process_guard_process(void);

/* "POLYGRAPHY_SESSION=...", for the environment of children; NULL without a guard. */
const char *process_guard_mark(void);

/* In a forked child that goes on as another program: the guard waits for its parent, not for it. */
void process_guard_forget(void);

#endif
