/* base/process/terminal.h: lending our terminal to a child. Internal to base/process.
 *
 * A child runs in a process group of its own, and only the foreground group may read the terminal: a child that does is
 * stopped by SIGTTIN (SIGTTOU when it changes the terminal's settings). It then gets the terminal until it ends. Before
 * that the terminal stays ours, so that Ctrl-C reaches us even when the child ignores it.
 */
#ifndef BASE_PROCESS_TERMINAL_H
#define BASE_PROCESS_TERMINAL_H

#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

struct terminal_loan {
    bool lent;
    int fd;
    pid_t group;             /* that has it */
    struct termios settings; /* as they were before */
};

/* The child has been stopped by this signal: when it is one that the terminal is about, the child gets it and goes on,
 * as soon as we are in the foreground; without a terminal to be had it is killed. Ctrl-Z in a terminal that it had was
 * meant for us, too. */
void terminal_handle_stop(struct terminal_loan *loan, pid_t group, int signal_number);

/* Takes the terminal back, with the settings it had; does nothing unless the group that it was lent to has it. */
void terminal_take_back(struct terminal_loan *loan);

#endif
