/* base/process/terminal.c: lending our terminal to a child. */
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

bool terminal_lend(struct terminal_loan *loan, pid_t group)
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
