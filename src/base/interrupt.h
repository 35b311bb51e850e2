/* base/interrupt.h: Ctrl-C and termination signals (SIGINT, SIGTERM, SIGHUP) as a flag that work loops poll.
 *
 * Work that cannot poll it, because it is inside a library or blocked in opening a pipe, has
 * INTERRUPT_GRACE_MILLISECONDS to finish: then the process terminates as by a second signal.
 *
 * Also keeps the list of temporary files, intermediate artifacts and process groups of children. They are removed
 * (killed) at exit and, after a second signal, from the signal handler. A forked child starts with empty lists.
 */
#ifndef BASE_INTERRUPT_H
#define BASE_INTERRUPT_H

#include <sys/types.h>

#define INTERRUPT_GRACE_MILLISECONDS 1800

/* Installs the handlers; without it interrupt_pending() stays 0. A signal that was ignored at start (nohup, a
 * background job) stays ignored. The same signal again within a tenth of a second counts as one: timeout(1) sends it
 * twice. */
void interrupt_install(void);
/* Resets the state in a forked child: nothing is registered or pending any more, and interrupt_install() installs the
 * handlers again. */
void interrupt_forget(void);

int interrupt_pending(void); /* the signal that came first, or 0 */
void interrupt_die(void);    /* removes registered files, restores the default action, raises the signal again */

/* For handlers of other signals: interrupt_leave_nothing() removes and kills what is registered; interrupt_die_by()
 * does what interrupt_die() does, for any signal. */
void interrupt_leave_nothing(void);
_Noreturn void interrupt_die_by(int signal_number);

/* A descriptor for poll() that becomes readable at the first signal and stays so; -1 before interrupt_install(). */
int interrupt_descriptor(void);

void interrupt_remove_at_exit(const char *path); /* registers; the path is copied */
void interrupt_keep(const char *path);           /* unregisters the path */
void interrupt_remove_registered(void);          /* unlinks all registered files now */

/* Sets the text written to `fd` once when a signal terminates the process, for example to clear a progress line.
 * `words` is not copied and must stay valid; NULL: none. Replaces an earlier text. */
void interrupt_set_last_words(int fd, const char *words);

void interrupt_kill_at_exit(pid_t group); /* registers a process group; at most 256 at once, others are ignored */
void interrupt_spare(pid_t group);        /* unregisters the group */

#endif
