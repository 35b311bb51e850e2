/* base/process/terminal.c: see terminal.h. */
#include "base/process/terminal.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

/* From the background even giving the terminal away stops a process, unless it blocks SIGTTOU. */
static int set_foreground(int fd, pid_t group, const struct termios *settings)
{
    sigset_t blocked, old;

    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTTOU);
    pthread_sigmask(SIG_BLOCK, &blocked, &old);
    int rc = tcsetpgrp(fd, group);
    if (rc == 0 && settings)
        tcsetattr(fd, TCSADRAIN, settings);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return rc;
}

/* Makes `group` the foreground group. False when there is no terminal or it is not ours to give. */
static bool lend_terminal(struct terminal_loan *loan, pid_t group)
{
    int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);

    if (fd < 0)
        return false;
    if (tcgetpgrp(fd) != getpgrp() || tcgetattr(fd, &loan->settings) != 0 || set_foreground(fd, group, NULL) != 0) {
        close(fd);
        return false;
    }
    loan->fd = fd;
    loan->group = group;
    loan->lent = true;
    return true;
}

void terminal_take_back(struct terminal_loan *loan)
{
    if (!loan->lent)
        return;
    if (tcgetpgrp(loan->fd) == loan->group)
        set_foreground(loan->fd, getpgrp(), &loan->settings);
    close(loan->fd);
    loan->lent = false;
}

void terminal_handle_stop(struct terminal_loan *loan, pid_t group, int signal_number)
{
    bool typed = signal_number == SIGTSTP && loan->lent;
    bool lent;

    if (signal_number != SIGTTIN && signal_number != SIGTTOU && !typed)
        return; /* somebody else's SIGSTOP is theirs to undo */
    terminal_take_back(loan);
    if (typed)
        kill(0, SIGTSTP);
    lent = lend_terminal(loan, group);
    if (!lent) {
        /* In the background we have none to lend. Then the whole job stops, as when we had read the terminal ourselves,
         * until the user brings it to the foreground. */
        kill(0, SIGTTIN);
        lent = lend_terminal(loan, group);
    }
    kill(-group, lent ? SIGCONT : SIGKILL);
}
