/* base/process/signal.c: see signal.h. */
#include "base/process/signal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"

/* Waiters are used again and never freed: the handler walks the list without a lock. */
static _Atomic(struct child_waiter *) waiters;

static void wake_all(int signal_number)
{
    int saved_errno = errno;

    (void)signal_number;
    for (struct child_waiter *waiter = atomic_load(&waiters); waiter; waiter = waiter->next) {
        if (atomic_load(&waiter->taken) && write(waiter->pipe[1], "", 1) < 0) {
            /* Full: it is readable already. */
        }
    }
    errno = saved_errno;
}

static struct child_waiter *new_waiter(void)
{
    struct child_waiter *ret = memory_alloc_zero(1, sizeof(*ret));

    if (pipe(ret->pipe) != 0) {
        free(ret);
        return NULL;
    }
    for (int i = 0; i < 2; i++) {
        fcntl(ret->pipe[i], F_SETFD, FD_CLOEXEC);
        fcntl(ret->pipe[i], F_SETFL, O_NONBLOCK);
    }
    atomic_init(&ret->taken, true);
    ret->next = atomic_load(&waiters);
    while (!atomic_compare_exchange_weak(&waiters, &ret->next, ret)) {
    }
    return ret;
}

struct child_waiter *child_waiter_take(void)
{
    struct sigaction action = {.sa_handler = wake_all, .sa_flags = SA_RESTART};
    struct child_waiter *ret = atomic_load(&waiters);
    sigset_t only;

    while (ret && atomic_exchange(&ret->taken, true))
        ret = ret->next;
    if (!ret)
        ret = new_waiter();
    if (!ret)
        return NULL;
    /* Each time: it may have been ignored when we were started, or a library may have put its own handler there. */
    sigemptyset(&action.sa_mask);
    sigaction(SIGCHLD, &action, NULL);
    sigemptyset(&only);
    sigaddset(&only, SIGCHLD);
    pthread_sigmask(SIG_UNBLOCK, &only, &ret->old_mask);
    return ret;
}

void child_waiter_give_back(struct child_waiter *waiter)
{
    pthread_sigmask(SIG_SETMASK, &waiter->old_mask, NULL);
    atomic_store(&waiter->taken, false);
}

void child_waiter_clear(struct child_waiter *waiter)
{
    char bytes[64];

    while (read(waiter->pipe[0], bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes)) {
    }
}
