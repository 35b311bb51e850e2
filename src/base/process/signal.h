/* base/process/signal.h: SIGCHLD as something that poll() waits for. Internal to base/process.
 *
 * The signal goes to any one thread, and several may wait for children at once: the handler wakes all of them.
 */
#ifndef BASE_PROCESS_SIGNAL_H
#define BASE_PROCESS_SIGNAL_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

struct child_waiter {
    atomic_bool taken;
    int pipe[2];       /* the first end is readable after a SIGCHLD */
    sigset_t old_mask; /* of the thread that has taken it */
    struct child_waiter *next;
};

/* From here on no SIGCHLD is missed. NULL with errno set when there are no descriptors left. */
struct child_waiter *child_waiter_take(void);
void child_waiter_give_back(struct child_waiter *waiter);

/* Makes the pipe unreadable again. To be called before looking at the child's state. */
void child_waiter_clear(struct child_waiter *waiter);

#endif
