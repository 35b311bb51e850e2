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

/* Makes `group` the foreground group. Returns false when there is no terminal or it is not ours to give. */
bool terminal_lend(struct terminal_loan *loan, pid_t group);

/* Takes the terminal back, with the settings it had; does nothing unless the group that it was lent to has it. */
void terminal_take_back(struct terminal_loan *loan);

#endif
