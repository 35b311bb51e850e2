/* base/process/process.c: running a child to its end. */
#include "base/process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/process/capture.h"
#include "base/process/family.h"
#include "base/process/signal.h"
#include "base/process/terminal.h"
#include "base/system.h"

/* Seconds between SIGTERM and SIGKILL; in the middle it is sent again. Who was asked to end, ends soon: see
 * interrupt.h. */
#define GRACE 2.0
#define GRACE_OF_INTERRUPTED 1.0

enum phase {
    PHASE_RUNNING,
    PHASE_ASKED, /* SIGTERM was sent */
    /* twice: srun overlooks one that comes while it asks for resources, and goes on waiting for them */
    PHASE_ASKED_AGAIN,
    PHASE_KILLED, /* SIGKILL was sent */
};

struct run {
    pid_t leader;
    struct capture out, error_out;
    struct child_waiter *waiter;
    struct terminal_loan terminal;
    enum phase phase;
    double deadline; /* of the phase, as stopwatch_now(); INFINITY: none */
    bool ended;      /* the leader has; `status` tells how. It is not reaped before the family is */
    siginfo_t status;
    bool timed_out, interrupted;
    const int *stop; /* NULL: none */
};

static void signal_group(const struct run *run, int signal_number)
{
    kill(-run->leader, signal_number);
}

static void lend_terminal(struct run *run)
{
    if (!terminal_lend(&run->terminal, run->leader)) {
        /* In the background we have none to lend. Then the whole job stops, as when we had read the terminal ourselves,
         * until the user brings it to the foreground. */
        kill(0, SIGTTIN);
        if (!terminal_lend(&run->terminal, run->leader)) {
            signal_group(run, SIGKILL);
            return;
        }
    }
    signal_group(run, SIGCONT);
}

static void handle_stop(struct run *run, int signal_number)
{
    bool wants_terminal = signal_number == SIGTTIN || signal_number == SIGTTOU;

    bool typed = signal_number == SIGTSTP && run->terminal.lent; /* Ctrl-Z, which reached the child only */

    if (!wants_terminal && !typed)
        return; /* somebody else's SIGSTOP is theirs to undo */
    terminal_take_back(&run->terminal);
    if (typed)
        kill(0, SIGTSTP);
    lend_terminal(run);
}

static void look_at_leader(struct run *run)
{
    siginfo_t info = {0};

    if (run->ended || waitid(P_PID, (id_t)run->leader, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid == 0)
        return;
    if (info.si_code == CLD_STOPPED) {
        waitid(P_PID, (id_t)run->leader, &info, WSTOPPED | WNOHANG);
        handle_stop(run, info.si_status);
        return;
    }
    run->ended = true;
    run->status = info;
    /* Ctrl-C in a terminal that the child had was meant for us, too. */
    if (run->terminal.lent && info.si_code != CLD_EXITED && info.si_status == SIGINT) {
        terminal_take_back(&run->terminal);
        run->interrupted = true;
        raise(SIGINT);
    }
}

static void send_request_to_end(struct run *run, enum phase phase)
{
    run->phase = phase;
    run->deadline = stopwatch_now() + (interrupt_pending() ? GRACE_OF_INTERRUPTED : GRACE) / 2;
    signal_group(run, SIGTERM);
    signal_group(run, SIGCONT); /* a stopped process does not see the other */
}

static void ask_to_end(struct run *run)
{
    if (run->phase == PHASE_RUNNING)
        send_request_to_end(run, PHASE_ASKED);
}

/* Returns true when the deadline has passed and something was done about it. */
static bool look_at_clock(struct run *run)
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

static bool is_over(const struct run *run)
{
    bool asked = run->phase == PHASE_ASKED || run->phase == PHASE_ASKED_AGAIN;

    return run->ended && (!asked || !family_has_members(run->leader));
}

/* Until the deadline, in milliseconds, rounded up; -1: for ever. */
static int poll_timeout(const struct run *run)
{
    double left = ceil((run->deadline - stopwatch_now()) * 1000);

    if (isinf(run->deadline))
        return -1;
    return left < 0 ? 0 : left < 1e9 ? (int)left : 1000000000;
}

static void wait_for_event(struct run *run)
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
        child_waiter_clear(run->waiter);
    if (events[1].revents)
        capture_read(&run->out);
    if (events[2].revents)
        capture_read(&run->error_out);
    if (events[4].revents) {
        run->interrupted = true;
        ask_to_end(run);
    }
}

static void follow(struct run *run)
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

static int open_pipe(int ends[2], struct error *err)
{
#ifdef __linux__
    int rc = pipe2(ends, O_CLOEXEC);
#else
    int rc = pipe(ends);
    for (int i = 0; rc == 0 && i < 2; i++)
        fcntl(ends[i], F_SETFD, FD_CLOEXEC);
#endif
    if (rc != 0)
        return error_set_errno(err, ERR_IO, "cannot capture the output of a command");
    for (int i = 0; i < 2; i++) { /* when we were started without standard streams: keep clear of the child's */
        if (ends[i] <= STDERR_FILENO) {
            int higher = fcntl(ends[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
            close(ends[i]);
            ends[i] = higher;
        }
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK); /* our end only: the child's may surprise it */
    return 0;
}

/* Starts the child with both streams connected to `run`. */
static int start(struct run *run, const struct process_request *request, struct error *err)
{
    int out[2] = {-1, -1}, error_out[2] = {-1, -1};

    int rc = open_pipe(out, err);
    capture_init(&run->out, out[0]);
    if (rc == 0)
        rc = open_pipe(error_out, err);
    capture_init(&run->error_out, error_out[0]);
    if (rc == 0)
        rc = family_start(request, out[1], error_out[1], &run->leader, err);
    if (out[1] >= 0)
        close(out[1]);
    if (error_out[1] >= 0)
        close(error_out[1]);
    return rc;
}

static void describe_end(const struct run *run, struct process_result *ret)
{
    ret->code = run->status.si_status;
    ret->end = run->status.si_code == CLD_EXITED ? PROCESS_EXITED : PROCESS_SIGNALED;
    if (run->timed_out) {
        ret->code = run->phase == PHASE_KILLED ? SIGKILL : SIGTERM;
        ret->end = PROCESS_TIMED_OUT;
    }
}

static int interrupted(const struct process_request *request, struct error *err)
{
    const char *name = request->arguments[0];

    if (interrupt_pending())
        return error_set(err, ERR_INTERRUPTED, "'%s' was ended by a signal to this program: %s", name,
                         strsignal(interrupt_pending()));
    return error_set(err, ERR_INTERRUPTED, "'%s' was interrupted", name);
}

int process_run(const struct process_request *request, struct process_result *ret, struct error *err)
{
    double begin = stopwatch_now();
    struct run run = {.deadline = request->timeout > 0 ? begin + request->timeout : INFINITY, .stop = request->stop};
    struct process_result result = {0};

    if (!request->arguments[0])
        return error_set(err, ERR_INVALID, "the command to run is empty");
    if (interrupt_pending())
        return interrupted(request, err);
    run.waiter = child_waiter_take();
    if (!run.waiter)
        return error_set_errno(err, ERR_IO, "cannot wait for a command");
    int rc = start(&run, request, err);
    if (rc < 0)
        goto done;

    follow(&run);
    if (interrupt_pending()) /* the signal may have reached the child before it had a group of its own */
        run.interrupted = true;
    result.seconds = stopwatch_now() - begin;
    capture_drain(&run.out);
    capture_drain(&run.error_out);
    terminal_take_back(&run.terminal);
    family_end(run.leader);
    if (run.interrupted) {
        rc = interrupted(request, err);
        goto done;
    }
    describe_end(&run, &result);
    capture_finish(&run.out, &result.out);
    capture_finish(&run.error_out, &result.error_out);
    *ret = result;
done:
    capture_release(&run.error_out);
    capture_release(&run.out);
    child_waiter_give_back(run.waiter);
    return rc;
}

void process_output_release(struct process_output *output)
{
    if (output->data && output->fd >= 0) {
        munmap((void *)output->data, output->size);
        close(output->fd);
    } else {
        free((void *)output->data);
    }
    *output = (struct process_output){.fd = -1};
}

void process_result_release(struct process_result *result)
{
    process_output_release(&result->out);
    process_output_release(&result->error_out);
}
