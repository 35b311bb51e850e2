/* base/interrupt.h: Ctrl-C and requests to end (SIGINT, SIGTERM, SIGHUP), turned into a flag that work loops look at.
 *
 * Work that cannot look at it, because it is in a library, or waits for somebody who opens the other end of a pipe, has
 * INTERRUPT_GRACE_MILLISECONDS to end: then the process ends as by a second signal.
 *
 * Also keeps the list of what must not survive this process: temporary names of files being written, intermediate
 * artifacts, and process groups of children. They are removed (killed) at exit and, should a second signal come, from
 * the signal handler. A forked child starts with empty lists.
 */
#ifndef BASE_INTERRUPT_H
#define BASE_INTERRUPT_H

#include <sys/types.h>

#define INTERRUPT_GRACE_MILLISECONDS 1800

/* Installs the handlers; without it interrupt_pending() stays 0. A signal that was ignored at start (nohup, a
 * background job) stays ignored. The same signal again within a tenth of a second counts as one: timeout(1) sends it
 * twice. */
void interrupt_install(void);
/* In a forked child that goes on as if it had been started anew: nothing is registered or pending any more, and
 * interrupt_install() installs again. */
void interrupt_forget(void);

int interrupt_pending(void); /* the signal that came first, or 0 */
void interrupt_die(void);    /* removes what is registered, restores the default action, raises the signal again */

/* For handlers of other signals: does what interrupt_die() does before it raises the signal, and all of it for any
 * signal. */
void interrupt_leave_nothing(void);
_Noreturn void interrupt_die_by(int signal_number);

/* A descriptor for poll() that is readable from the first signal on, for ever; -1 without interrupt_install(). */
int interrupt_descriptor(void);

void interrupt_remove_at_exit(const char *path); /* registers; the path is copied */
void interrupt_keep(const char *path);           /* takes it off the list again */
void interrupt_remove_registered(void);          /* unlinks what is on the list now */

/* Written to `fd` when a signal ends the process, once: takes a line that is half drawn off a terminal. `words` has to
 * stay where it is; NULL: nothing. Replaces what was set before. */
void interrupt_set_last_words(int fd, const char *words);

void interrupt_kill_at_exit(pid_t group); /* registers a process group; beyond 256 at a time they are not */
void interrupt_spare(pid_t group);        /* takes it off the list again */

#endif
