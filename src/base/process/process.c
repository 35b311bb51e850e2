/* base/process/process.c: see process.h. */
#include "base/process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/process/family.h"
#include "base/system.h"
#include "base/memory.h"

/* ---- The terminal ---- */

/* Lends our terminal to a child.
 *
 * A child runs in a new process group, and only the foreground group may read the terminal: a child that reads it is
 * stopped by SIGTTIN (SIGTTOU when it changes the terminal's settings). It then gets the terminal until it exits.
 * Before that the terminal stays ours, so that Ctrl-C reaches us even when the child ignores it. */

struct terminal_loan {
    bool lent;
    int fd;
    pid_t group;             /* that has the terminal */
    struct termios settings; /* before the loan */
};

/* tcsetpgrp() stops a background process unless it blocks SIGTTOU. */
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

/* Makes `group` the foreground group. False if there is no terminal or we are not in the foreground. */
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

/* Takes the terminal back, with the settings it had; does nothing unless the group that it was lent to has it. */
static void take_back_terminal(struct terminal_loan *loan)
{
    if (!loan->lent)
        return;
    if (tcgetpgrp(loan->fd) == loan->group)
        set_foreground(loan->fd, getpgrp(), &loan->settings);
    close(loan->fd);
    loan->lent = false;
}

/* Handles a stopped child. If a terminal signal stopped it, it gets the terminal and continues as soon as we are in the
 * foreground; it is killed if there is no terminal. Ctrl-Z in a lent terminal also stops this process. */
static void handle_terminal_stop(struct terminal_loan *loan, pid_t group, int signal_number)
{
    bool typed = signal_number == SIGTSTP && loan->lent;
    bool lent;

    if (signal_number != SIGTTIN && signal_number != SIGTTOU && !typed)
        return; /* whoever sent SIGSTOP sends SIGCONT */
    take_back_terminal(loan);
    if (typed)
        kill(0, SIGTSTP);
    lent = lend_terminal(loan, group);
    if (!lent) {
        /* In the background there is no terminal to lend. The whole job stops, as if it had read the terminal itself,
         * until the user brings it to the foreground. */
        kill(0, SIGTTIN);
        lent = lend_terminal(loan, group);
    }
    kill(-group, lent ? SIGCONT : SIGKILL);
}

/* ---- Waiting for a child ---- */

/* Turns SIGCHLD into an event for poll().
 *
 * The signal is delivered to an arbitrary thread, and several may wait for children: the handler wakes all of them. */

struct child_waiter {
    atomic_bool taken;
    int pipe[2];       /* the first end is readable after a SIGCHLD */
    sigset_t old_mask; /* of the thread that uses it */
    struct child_waiter *next;
};

/* Waiters are used again and never freed: the handler walks the list without a lock. */
static _Atomic(struct child_waiter *) waiters;

static void wake_all(int signal_number)
{
    int saved_errno = errno;

    (void)signal_number;
    for (struct child_waiter *waiter = atomic_load(&waiters); waiter; waiter = waiter->next) {
        if (atomic_load(&waiter->taken) && write(waiter->pipe[1], "", 1) < 0) {
            /* The pipe is full, so it is readable already. */
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

/* From here on no SIGCHLD is missed. NULL with errno set when there are no descriptors left. */
static struct child_waiter *take_child_waiter(void)
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
    /* Every time: the signal may have been ignored at start, or a library may have replaced the handler. */
    sigemptyset(&action.sa_mask);
    sigaction(SIGCHLD, &action, NULL);
    sigemptyset(&only);
    sigaddset(&only, SIGCHLD);
    pthread_sigmask(SIG_UNBLOCK, &only, &ret->old_mask);
    return ret;
}

static void give_back_child_waiter(struct child_waiter *waiter)
{
    pthread_sigmask(SIG_SETMASK, &waiter->old_mask, NULL);
    atomic_store(&waiter->taken, false);
}

/* Makes the pipe unreadable again. To be called before looking at the child's state. */
static void clear_child_waiter(struct child_waiter *waiter)
{
    char bytes[64];

    while (read(waiter->pipe[0], bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes)) {
    }
}

/* Seconds between SIGTERM and SIGKILL; SIGTERM is sent again after half of it. Must fit in the grace period of
 * interrupt.h. */
#define GRACE 2.0
#define GRACE_OF_INTERRUPTED 1.0

enum phase {
    PHASE_RUNNING,
    PHASE_ASKED, /* SIGTERM was sent */
    /* twice: srun ignores a signal that arrives while it requests resources */
    PHASE_ASKED_AGAIN,
    PHASE_KILLED, /* SIGKILL was sent */
};

struct process_run {
    pid_t leader;
    struct capture out, error_out;
    struct child_waiter *waiter;
    struct terminal_loan terminal;
    enum phase phase;
    double deadline; /* of the phase, as stopwatch_now(); INFINITY: none */
    bool ended;      /* the leader has exited with `status`. It is reaped after its family */
    siginfo_t status;
    bool timed_out, interrupted;
    const int *stop; /* NULL: none */
};

static void signal_group(const struct process_run *run, int signal_number)
{
    kill(-run->leader, signal_number);
}

static void look_at_leader(struct process_run *run)
{
    siginfo_t info = {0};

    if (run->ended || waitid(P_PID, (id_t)run->leader, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid == 0)
        return;
    if (info.si_code == CLD_STOPPED) {
        waitid(P_PID, (id_t)run->leader, &info, WSTOPPED | WNOHANG);
        handle_terminal_stop(&run->terminal, run->leader, info.si_status);
        return;
    }
    run->ended = true;
    run->status = info;
    /* Ctrl-C in a lent terminal also interrupts this process. */
    if (run->terminal.lent && info.si_code != CLD_EXITED && info.si_status == SIGINT) {
        take_back_terminal(&run->terminal);
        run->interrupted = true;
        raise(SIGINT);
    }
}

static void send_request_to_end(struct process_run *run, enum phase phase)
{
    run->phase = phase;
    run->deadline = stopwatch_now() + (interrupt_pending() ? GRACE_OF_INTERRUPTED : GRACE) / 2;
    signal_group(run, SIGTERM);
    signal_group(run, SIGCONT); /* a stopped process does not handle the other signal */
}

static void ask_to_end(struct process_run *run)
{
    if (run->phase == PHASE_RUNNING)
        send_request_to_end(run, PHASE_ASKED);
}

/* Returns true if the deadline had passed and the next phase was started. */
static bool look_at_clock(struct process_run *run)
{
    if (stopwatch_now() < run->deadline)
        return false;
    if (run->phase == PHASE_RUNNING) {
        run->timed_out = true;
        ask_to_end(run);
    } else if (run->phase == PHASE_ASKED) {
        send_request_to_end(run, PHASE_ASKED_AGAIN);
    } else {
        run->phase = PHASE_KILLED;
        run->deadline = INFINITY;
        signal_group(run, SIGKILL);
    }
    return true;
}

static bool is_over(const struct process_run *run)
{
    bool asked = run->phase == PHASE_ASKED || run->phase == PHASE_ASKED_AGAIN;

    return run->ended && (!asked || !family_has_members(run->leader));
}

/* Until the deadline, in milliseconds, rounded up; -1: for ever. */
static int poll_timeout(const struct process_run *run)
{
    double left = ceil((run->deadline - stopwatch_now()) * 1000);

    if (isinf(run->deadline))
        return -1;
    return left < 0 ? 0 : left < 1e9 ? (int)left : 1000000000;
}

static void wait_for_event(struct process_run *run)
{
    struct pollfd events[] = {
        {.fd = run->waiter->pipe[0], .events = POLLIN},
        {.fd = run->out.fd, .events = POLLIN},
        {.fd = run->error_out.fd, .events = POLLIN},
        {.fd = run->interrupted ? -1 : interrupt_descriptor(), .events = POLLIN},
        {.fd = run->interrupted || run->stop == NULL ? -1 : *run->stop, .events = POLLIN},
    };

    if (poll(events, sizeof(events) / sizeof(events[0]), poll_timeout(run)) <= 0)
        return;
    if (events[0].revents)
        clear_child_waiter(run->waiter);
    if (events[1].revents)
        capture_read(&run->out);
    if (events[2].revents)
        capture_read(&run->error_out);
    if (events[4].revents) {
        run->interrupted = true;
        ask_to_end(run);
    }
}

static void follow_process(struct process_run *run)
{
    for (;;) {
        look_at_leader(run);
        if (is_over(run))
            return;
        if (interrupt_pending()) {
            run->interrupted = true;
            ask_to_end(run);
        }
        if (!look_at_clock(run))
            wait_for_event(run);
    }
}

static void describe_process_end(const struct process_run *run, struct process_result *ret)
{
    ret->process = run->leader;
    ret->code = run->status.si_status;
    ret->end = run->status.si_code == CLD_EXITED ? PROCESS_EXITED : PROCESS_SIGNALED;
    if (run->timed_out) {
        ret->code = run->phase == PHASE_KILLED ? SIGKILL : SIGTERM;
        ret->end = PROCESS_TIMED_OUT;
    }
}

static int refuse_interrupted(const struct process_request *request, struct error *err)
{
    const char *name = request->arguments[0];

    if (interrupt_pending())
        return error_set(err, ERR_INTERRUPTED, "'%s' was terminated because this program received a signal: %s", name,
                         strsignal(interrupt_pending()));
    return error_set(err, ERR_INTERRUPTED, "'%s' was interrupted", name);
}

int process_run(const struct process_request *request, struct process_result *ret, struct error *err)
{
    double begin = stopwatch_now();
    struct process_run run = {.deadline = request->timeout > 0 ? begin + request->timeout : INFINITY,
                              .stop = request->stop};
    struct process_result result = {0};
    int out = -1, error_out = -1, rc;

    if (!request->arguments[0])
        return error_set(err, ERR_INVALID, "the command to run is empty");
    if (interrupt_pending())
        return refuse_interrupted(request, err);
    run.waiter = take_child_waiter();
    if (!run.waiter)
        return error_set_errno(err, ERR_IO, "cannot wait for a command");
    capture_init(&run.out);
    capture_init(&run.error_out);
    rc = capture_open(&run.out, &out, err);
    if (rc < 0)
        goto done;
    rc = capture_open(&run.error_out, &error_out, err);
    if (rc < 0)
        goto done;
    rc = process_spawn(request, out, error_out, &run.leader, err);
    if (rc < 0)
        goto done;
    close(error_out); /* or the pipe would never reach its end */
    close(out);
    out = error_out = -1;

    follow_process(&run);
    if (interrupt_pending()) /* the child may have got the signal before its group was created */
        run.interrupted = true;
    result.seconds = stopwatch_now() - begin;
    capture_drain(&run.out);
    capture_drain(&run.error_out);
    take_back_terminal(&run.terminal);
    family_end(run.leader);
    if (run.interrupted) {
        rc = refuse_interrupted(request, err);
        goto done;
    }
    describe_process_end(&run, &result);
    capture_finish(&run.out, &result.out);
    capture_finish(&run.error_out, &result.error_out);
    *ret = result;
done:
    if (error_out >= 0)
        close(error_out);
    if (out >= 0)
        close(out);
    capture_release(&run.error_out);
    capture_release(&run.out);
    give_back_child_waiter(run.waiter);
    return rc;
}

void process_result_release(struct process_result *result)
{
    process_output_release(&result->out);
    process_output_release(&result->error_out);
}
