/* base/process/bounded.c: see bounded.h.
 *
 * Both ways a number of bytes comes first, then so many bytes; the question's number is followed by the bound on
 * memory. The two sides never write at the same time: the copy answers when it has read all, so neither can wait for
 * the other for ever.
 */
#define _GNU_SOURCE /* wait4 */
#include "base/process/bounded.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "base/crash.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/process/family.h"
#include "base/process/guard.h"
#include "base/system.h"

/* Descriptors that the copy closes so as to hold nothing open: others may wait for the end of a pipe. */
#define MOST_DESCRIPTORS 1024

#define MOST_AT_ONCE ((size_t)1 << 30) /* some systems refuse more than 2 GiB */

struct bounded_process {
    const struct bounded_work *work;
    int socket;
    pid_t copy;
};

struct question_header {
    uint64_t size, memory;
};

/* ---- Bytes ---- */

/* False when the other side is gone. */
static bool write_to_socket(int socket, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t count = send(socket, data, size < MOST_AT_ONCE ? size : MOST_AT_ONCE, MSG_NOSIGNAL);

        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        data += count;
        size -= (size_t)count;
    }
    return true;
}

static bool write_parts(int socket, const struct text *parts, size_t count)
{
    bool written = true;

    for (size_t i = 0; written && i < count; i++)
        written = write_to_socket(socket, parts[i].data, parts[i].size);
    return written;
}

static uint64_t size_of_parts(const struct text *parts, size_t count)
{
    uint64_t size = 0;

    for (size_t i = 0; i < count; i++)
        size += parts[i].size;
    return size;
}

/* ---- The copy ---- */

static bool read_from_socket(int socket, void *data, size_t size)
{
    for (char *to = data; size > 0;) {
        ssize_t count = recv(socket, to, size < MOST_AT_ONCE ? size : MOST_AT_ONCE, 0);

        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        to += count;
        size -= (size_t)count;
    }
    return true;
}

/* What counts against RLIMIT_DATA: private memory that can be written. What the copy had from the beginning does. */
static uint64_t memory_in_use(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");

    if (file == NULL)
        return 0;
    if (fscanf(file, "%*u %*u %*u %*u %*u %llu", &pages) != 1)
        pages = 0;
    fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void bound_process_memory(uint64_t before, uint64_t memory)
{
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) /* a sanitizer's tables would count */
    struct rlimit limit;

    if (getrlimit(RLIMIT_DATA, &limit) != 0)
        return;
    limit.rlim_cur = memory > 0 && before + memory < limit.rlim_max ? before + memory : limit.rlim_max;
    setrlimit(RLIMIT_DATA, &limit);
#else
    (void)before;
    (void)memory;
#endif
}

/* A crash is what the copy is for: nothing is said about it there, and no picture of memory is left behind. A request
 * to end goes to the process that has asked, which ends this one. */
static void forget_the_original(pid_t original, int socket)
{
    static const int usual[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ, SIGALRM};
    const struct rlimit no_core = {0, 0};
    struct sigaction action = {.sa_handler = SIG_DFL};

    process_guard_forget();
    for (int i = STDERR_FILENO + 1; i < MOST_DESCRIPTORS; i++)
        if (i != socket)
            close(i);
    setpgid(0, 0);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != original)
        _exit(0);
#else
    (void)original;
#endif
    setrlimit(RLIMIT_CORE, &no_core);
    interrupt_forget();
    crash_forget();
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < ARRAY_LEN(usual); i++)
        sigaction(usual[i], &action, NULL);
}

static _Noreturn void serve_questions(const struct bounded_work *work, int socket)
{
    uint64_t before = memory_in_use();
    struct question_header header;

    while (read_from_socket(socket, &header, sizeof(header))) {
        char *question;

        bound_process_memory(before, header.memory);
        question = memory_alloc(header.size + 1);
        if (!read_from_socket(socket, question, header.size))
            break;
        work->answer(socket, question, header.size);
    }
    _exit(0);
}

void bounded_process_answer(int answer_to, const struct text *parts, size_t count)
{
    uint64_t size = size_of_parts(parts, count);

    if (!write_to_socket(answer_to, (const char *)&size, sizeof(size)) || !write_parts(answer_to, parts, count))
        _exit(0); /* nobody listens any more */
}

/* ---- Here ---- */

int bounded_process_start(const struct bounded_work *work, struct bounded_process **ret, struct error *err)
{
    pid_t original = getpid(), copy;
    int sockets[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
        return error_set_errno(err, ERR_IO, "cannot start a process for %s", work->name);
    fflush(NULL); /* or the copy would write it again */
    copy = family_fork();
    if (copy == 0) {
        forget_the_original(original, sockets[1]);
        serve_questions(work, sockets[1]);
    }
    if (copy < 0) {
        error_set_errno(err, ERR_IO, "cannot start a process for %s", work->name);
        close(sockets[0]);
        close(sockets[1]);
        return ERR_IO;
    }
    close(sockets[1]);
    setpgid(copy, copy); /* the copy does the same: whoever comes first */
    interrupt_kill_at_exit(copy);
    *ret = memory_alloc_zero(1, sizeof(**ret));
    **ret = (struct bounded_process){work, sockets[0], copy};
    return 0;
}

/* Ends the copy, if it is still there, and says how it has ended. */
static int reap_bounded_process(struct bounded_process *process, struct rusage *ret_usage)
{
    int status = 0;

    kill(-process->copy, SIGKILL); /* before it is reaped its number cannot become that of another group */
    while (wait4(process->copy, &status, 0, ret_usage) < 0 && errno == EINTR) {
    }
    interrupt_spare(process->copy);
    family_forget(process->copy);
    process->copy = 0;
    return status;
}

void bounded_process_stop(struct bounded_process *process)
{
    struct rusage usage;

    if (process == NULL)
        return;
    close(process->socket);
    if (process->copy > 0)
        reap_bounded_process(process, &usage);
    free(process);
}

/* It has ended by itself: a crash, as far as anybody can tell. Running out of memory is one cause, which shows in how
 * much it had. */
static int explain_end(struct bounded_process *process, const struct bounds *bounds, struct error *err)
{
    const struct bounded_work *work = process->work;
    const double gigabyte = (double)(1 << 30);
    struct rusage usage = {0};
    double had, may_have = (double)bounds->memory / gigabyte;
    int status, signal_number = 0;
    char end[96];

    status = reap_bounded_process(process, &usage);
    had = (double)usage.ru_maxrss * 1024 / gigabyte; /* kilobytes, on Linux */
    if (WIFSIGNALED(status)) {
        signal_number = WTERMSIG(status);
        snprintf(end, sizeof(end), "crashes: signal %d (%s) ended its process", signal_number,
                 strsignal(signal_number));
    } else {
        signal_number = SIGABRT;
        snprintf(end, sizeof(end), "ends its process with exit code %d", WEXITSTATUS(status));
    }
    if (bounds->memory > 0 && had > may_have / 2)
        error_set(err, ERR_BACKEND,
                  "%s %s when it had %.1f GB of memory, of the %.1f GB that it may have (%s gives it more)", work->name,
                  end, had, may_have, work->more_memory);
    else
        error_set(err, ERR_BACKEND, "%s %s", work->name, end);
    if (err != NULL)
        err->foreign_code = -signal_number;
    return ERR_BACKEND;
}

static int explain_time(struct bounded_process *process, const struct bounds *bounds, struct error *err)
{
    struct rusage usage;

    reap_bounded_process(process, &usage);
    error_set(err, ERR_BACKEND, "%s has not come to an end within %.4g s (%s gives it more)", process->work->name,
              bounds->seconds, process->work->more_time);
    if (err != NULL)
        err->foreign_code = -SIGXCPU;
    return ERR_BACKEND;
}

static int report_interruption(struct bounded_process *process, struct error *err)
{
    struct rusage usage;

    reap_bounded_process(process, &usage);
    return error_set(err, ERR_INTERRUPTED, "interrupted");
}

/* Reads `size` bytes of the answer; 0 when they are there in time. */
static int await_bytes(struct bounded_process *process, const struct bounds *bounds, double deadline, char *to,
                       size_t size, struct error *err)
{
    while (size > 0) {
        struct pollfd events[] = {{.fd = process->socket, .events = POLLIN},
                                  {.fd = interrupt_descriptor(), .events = POLLIN}};
        double left = (deadline - stopwatch_now()) * 1000;
        ssize_t count;

        if (interrupt_pending())
            return report_interruption(process, err);
        if (poll(events, ARRAY_LEN(events), isinf(left) ? -1 : left < 0 ? 0 : (int)ceil(fmin(left, 1e9))) < 0)
            continue;
        if (left < 0) /* also where something has come: what never ends may send for ever */
            return explain_time(process, bounds, err);
        if (events[0].revents == 0)
            continue;
        count = recv(process->socket, to, size < MOST_AT_ONCE ? size : MOST_AT_ONCE, 0);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return explain_end(process, bounds, err);
        to += count;
        size -= (size_t)count;
    }
    return 0;
}

int bounded_process_ask(struct bounded_process *process, const struct text *parts, size_t count,
                        const struct bounds *bounds, struct text *ret, struct error *err)
{
    const struct question_header header = {size_of_parts(parts, count), bounds->memory};
    double deadline = bounds->seconds > 0 ? stopwatch_now() + bounds->seconds : INFINITY;
    uint64_t size = 0;
    char *answer;
    int rc;

    if (!write_to_socket(process->socket, (const char *)&header, sizeof(header)) ||
        !write_parts(process->socket, parts, count))
        return explain_end(process, bounds, err);
    rc = await_bytes(process, bounds, deadline, (char *)&size, sizeof(size), err);
    if (rc < 0)
        return rc;
    answer = size < PTRDIFF_MAX ? malloc(size + 1) : NULL;
    if (answer == NULL)
        return error_set(err, ERR_MEMORY, "there is not enough memory for the %llu bytes that %s has made",
                         (unsigned long long)size, process->work->name);
    answer[size] = '\0'; /* whoever takes a text of it for a string does not go on beyond it */
    rc = await_bytes(process, bounds, deadline, answer, size, err);
    if (rc < 0)
        free(answer);
    else
        *ret = (struct text){answer, size};
    return rc;
}

bool bounded_process_is_end(const struct error *err)
{
    return err->code == ERR_BACKEND && err->foreign_code < 0;
}

bool bounded_process_is_out_of_time(const struct error *err)
{
    return err->code == ERR_BACKEND && err->foreign_code == -SIGXCPU;
}
