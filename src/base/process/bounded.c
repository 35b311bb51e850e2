/* base/process/bounded.c: see bounded.h.
 *
 * Each message is a header followed by the bytes; large messages pass the descriptor of a sealed file in memory
 * instead, which neither side can truncate while the other reads it. The two sides never write at the same time: the
 * copy answers after it has read the whole request, so they cannot deadlock.
 */
#define _GNU_SOURCE /* wait4, memfd_create, F_ADD_SEALS */
#include "base/process/bounded.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
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
#include "base/process/socket.h"
#include "base/system.h"

/* The copy closes descriptors below this number: other processes may wait for the end of a pipe. */
#define MOST_DESCRIPTORS 1024

#define BYTES_ALIGNMENT 64

/* Up to this size a socket is faster than creating and mapping a file. */
#define LEAST_IN_FILE ((uint64_t)128 << 10)

struct bounded_process {
    const struct bounded_work *work;
    int socket;
    pid_t copy;
};

enum header_kind { HEADER_QUESTION, HEADER_ANSWER, HEADER_NOTE };

struct header {
    uint64_t size, memory; /* bytes that follow; memory limit, in requests */
    uint32_t kind;         /* enum header_kind */
    uint32_t in_file;      /* 1: the bytes are in the file whose descriptor is the first that accompanies the header */
};

/* ---- Bytes ---- */

void bounded_files_close(struct bounded_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        close(files->items[i]);
    files->count = 0;
}

void bounded_bytes_release(struct bounded_bytes *bytes)
{
    bounded_files_close(&bytes->files);
    if (bytes->is_mapped)
        munmap(bytes->data, bytes->size + 1);
    else
        free(bytes->data);
    *bytes = (struct bounded_bytes){0};
}

/* Allocates aligned bytes, followed by a NUL. NULL if memory is exhausted. */
static char *allocate_bytes(uint64_t size)
{
    const uint64_t room = (size / BYTES_ALIGNMENT + 1) * BYTES_ALIGNMENT;
    char *ret = size < PTRDIFF_MAX ? aligned_alloc(BYTES_ALIGNMENT, (size_t)room) : NULL;

    if (ret != NULL)
        ret[size] = '\0'; /* limits string functions that read a text of it */
    return ret;
}

static uint64_t size_of_parts(const struct text *parts, size_t count)
{
    uint64_t size = 0;

    for (size_t i = 0; i < count; i++)
        size += parts[i].size;
    return size;
}

/* Buffer for the ancillary data, aligned for struct cmsghdr. */
union descriptor_room {
    char bytes[CMSG_SPACE(sizeof(int) * (BOUNDED_MOST_FILES + 1))];
    struct cmsghdr alignment;
};

/* Sends the header with one call: it is small. */
static bool send_header(int socket, const struct header *header, const int *files, size_t count)
{
    union descriptor_room room = {0};
    struct iovec bytes = {(void *)(uintptr_t)header, sizeof(*header)};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1};
    ssize_t sent;

    if (count > 0) {
        struct cmsghdr *control;

        message.msg_control = room.bytes;
        message.msg_controllen = CMSG_SPACE(count * sizeof(*files));
        control = CMSG_FIRSTHDR(&message);
        control->cmsg_level = SOL_SOCKET;
        control->cmsg_type = SCM_RIGHTS;
        control->cmsg_len = CMSG_LEN(count * sizeof(*files));
        memcpy(CMSG_DATA(control), files, count * sizeof(*files));
    }
    do
        sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)sizeof(*header);
}

/* The descriptors that accompany a header, first that of the message. */
struct received_files {
    int items[BOUNDED_MOST_FILES + 1];
    size_t count;
};

static void close_received(struct received_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        close(files->items[i]);
    files->count = 0;
}

/* Like recv(), for a header; `ret` (zeros at first) gets the accompanying descriptors. */
static ssize_t receive_header(int socket, char *to, size_t size, struct received_files *ret)
{
    union descriptor_room room = {0};
    struct iovec bytes = {to, size};
    struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = room.bytes, .msg_controllen = CMSG_LEN(sizeof(ret->items))};
    ssize_t count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    const struct cmsghdr *control = count > 0 ? CMSG_FIRSTHDR(&message) : NULL;

    if (control == NULL || control->cmsg_type != SCM_RIGHTS)
        return count;
    close_received(ret);
    ret->count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(*ret->items);
    memcpy(ret->items, CMSG_DATA(control), ret->count * sizeof(*ret->items));
    return count;
}

/* Those of a message of which the bytes are known. */
static void take_files(struct received_files *from, bool has_own, struct bounded_files *ret)
{
    size_t first = has_own && from->count > 0 ? 1 : 0;

    if (first > 0)
        close(from->items[0]);
    for (size_t i = first; i < from->count; i++)
        if (ret->count < BOUNDED_MOST_FILES)
            ret->items[ret->count++] = from->items[i];
        else
            close(from->items[i]);
    from->count = 0;
}

#ifdef MFD_ALLOW_SEALING

/* Creates a sealed file in memory with the parts and a NUL; -1 on failure. */
static int make_file(const struct text *parts, size_t count)
{
    int file = memfd_create("message", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    bool written = file >= 0;

    for (size_t i = 0; written && i < count; i++)
        written = descriptor_write_all(file, parts[i].data, parts[i].size);
    if (written && descriptor_write_all(file, "", 1) &&
        fcntl(file, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0)
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

/* Maps `size` bytes, and the NUL that follows, of a sealed file. */
static bool map_file(int file, uint64_t size, struct bounded_bytes *ret)
{
    int seals = fcntl(file, F_GET_SEALS);
    struct stat status;
    void *data;

    if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstat(file, &status) != 0 || status.st_size < 1 ||
        (uint64_t)status.st_size != size + 1)
        return false;
    data = mmap(NULL, (size_t)size + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    if (data == MAP_FAILED)
        return false;
    *ret = (struct bounded_bytes){.data = data, .size = (size_t)size, .is_mapped = true};
    return true;
}

#else

static int make_file(const struct text *parts, size_t count)
{
    (void)parts;
    (void)count;
    return -1;
}

static bool map_file(int file, uint64_t size, struct bounded_bytes *ret)
{
    (void)file;
    (void)size;
    (void)ret;
    return false;
}

#endif

/* False if the other side has exited. */
static bool send_parts(int socket, struct header header, const struct text *parts, size_t count,
                       const struct bounded_files *files)
{
    int file = header.size >= LEAST_IN_FILE ? make_file(parts, count) : -1;
    int all[BOUNDED_MOST_FILES + 1] = {file};
    size_t file_count = file >= 0;
    bool sent;

    header.in_file = file >= 0;
    for (size_t i = 0; files != NULL && i < files->count; i++)
        all[file_count++] = files->items[i];
    sent = send_header(socket, &header, all, file_count);
    if (file >= 0)
        close(file);
    for (size_t i = 0; sent && file < 0 && i < count; i++)
        sent = socket_send_all(socket, parts[i].data, parts[i].size);
    return sent;
}

/* ---- The copy ---- */

/* Bytes that count against RLIMIT_DATA: private writable memory, including that inherited at the fork. */
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
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) /* a sanitizer's shadow memory would count */
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

/* A crash of the copy is expected: it prints no report and dumps no core. Termination signals are handled by the
 * original process, which kills the copy. */
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

/* False if there are no more requests. */
static bool read_question(int socket, uint64_t before, struct bounded_bytes *ret)
{
    struct received_files files = {.count = 0};
    struct header header = {0};
    bool complete;
    ssize_t count;

    *ret = (struct bounded_bytes){0};
    do
        count = receive_header(socket, (char *)&header, sizeof(header), &files);
    while (count < 0 && errno == EINTR);
    if (count <= 0 || !socket_receive_all(socket, (char *)&header + count, sizeof(header) - (size_t)count))
        return false;
    bound_process_memory(before, header.memory);
    if (header.in_file == 0) {
        *ret = (struct bounded_bytes){.data = allocate_bytes(header.size), .size = header.size};
        complete = ret->data != NULL && socket_receive_all(socket, ret->data, header.size);
    } else {
        complete = files.count > 0 && map_file(files.items[0], header.size, ret);
    }
    take_files(&files, header.in_file != 0, &ret->files);
    return complete;
}

static _Noreturn void serve_questions(const struct bounded_work *work, int socket)
{
    uint64_t before = memory_in_use();
    struct bounded_bytes question;

    while (read_question(socket, before, &question))
        work->answer(work->data, socket, question);
    _exit(0);
}

void bounded_process_answer(int answer_to, const struct text *parts, size_t count, const struct bounded_files *files)
{
    const struct header header = {.size = size_of_parts(parts, count), .kind = HEADER_ANSWER};

    if (!send_parts(answer_to, header, parts, count, files))
        _exit(0); /* the other side has exited */
}

void bounded_process_note(int answer_to, const struct text *parts, size_t count)
{
    const struct header header = {.size = size_of_parts(parts, count), .kind = HEADER_NOTE};

    if (!send_parts(answer_to, header, parts, count, NULL))
        _exit(0);
}

/* ---- The original process ---- */

int bounded_process_start(const struct bounded_work *work, struct bounded_process **ret, struct error *err)
{
    pid_t original = getpid(), copy;
    int sockets[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
        return error_set_errno(err, ERR_IO, "cannot start a process for %s", work->name);
    fflush(NULL); /* or the copy would flush the same buffers */
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
    setpgid(copy, copy); /* the copy does the same, to avoid a race */
    interrupt_kill_at_exit(copy);
    *ret = memory_alloc_zero(1, sizeof(**ret));
    **ret = (struct bounded_process){work, sockets[0], copy};
    return 0;
}

/* Kills the copy if it still runs, and returns its wait status. */
static int reap_bounded_process(struct bounded_process *process, struct rusage *ret_usage)
{
    int status = 0;

    kill(-process->copy, SIGKILL); /* safe: its number is not reused before it is reaped */
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

/* The copy terminated by itself: a crash. Exhausted memory is one possible cause, detected by its peak memory. */
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
        snprintf(end, sizeof(end), "exits with code %d", WEXITSTATUS(status));
    }
    if (bounds->memory > 0 && had > may_have / 2)
        error_set(err, ERR_BACKEND, "%s %s at %.1f GB of memory (limit: %.1f GB); %s raises the limit", work->name, end,
                  had, may_have, work->more_memory);
    else
        error_set(err, ERR_BACKEND, "%s %s", work->name, end);
    if (err != NULL)
        err->foreign_code = -signal_number;
    return ERR_BACKEND;
}

/* Deadlines and limits for an answer. */
struct patience {
    const struct bounds *bounds;
    double deadline;
    bool cancels; /* question->is_cancelled_first */
};

static int explain_time(struct bounded_process *process, const struct bounds *bounds, struct error *err)
{
    struct rusage usage;

    reap_bounded_process(process, &usage);
    error_set(err, ERR_BACKEND, "%s timed out after %.4g s; %s raises the limit", process->work->name, bounds->seconds,
              process->work->more_time);
    if (err != NULL)
        err->foreign_code = -SIGXCPU;
    return ERR_BACKEND;
}

/* The time that the copy has to end its work. */
#define CANCELLATION_MILLISECONDS 1500
_Static_assert(CANCELLATION_MILLISECONDS < INTERRUPT_GRACE_MILLISECONDS, "the program ends before");

bool bounded_process_is_cancelled(int answer_to)
{
    struct pollfd event = {.fd = answer_to, .events = POLLIN};

    return poll(&event, 1, 0) > 0;
}

/* Ends the connection in one direction, and waits until the copy has ended: after its answer, which nobody reads. */
static void cancel_work(const struct bounded_process *process)
{
    double deadline = stopwatch_now() + (CANCELLATION_MILLISECONDS / 1000.0), left;
    struct pollfd event = {.fd = process->socket, .events = POLLIN};
    char unread[4096];

    shutdown(process->socket, SHUT_WR);
    while ((left = deadline - stopwatch_now()) > 0)
        if (poll(&event, 1, (int)ceil(left * 1000)) > 0 &&
            recv(process->socket, unread, sizeof(unread), MSG_DONTWAIT) == 0)
            return;
}

static int report_interruption(struct bounded_process *process, const struct patience *patience, struct error *err)
{
    struct rusage usage;

    if (patience->cancels)
        cancel_work(process);
    reap_bounded_process(process, &usage);
    return error_set(err, ERR_INTERRUPTED, "interrupted");
}

/* Reads the bytes of an answer; 0 if they arrive in time. `ret_files`: for a header; gets its descriptors. */
static int await_bytes(struct bounded_process *process, const struct patience *patience, struct bounded_bytes to,
                       struct received_files *ret_files, struct error *err)
{
    while (to.size > 0) {
        struct pollfd events[] = {{.fd = process->socket, .events = POLLIN},
                                  {.fd = interrupt_descriptor(), .events = POLLIN}};
        double left = (patience->deadline - stopwatch_now()) * 1000;
        ssize_t count;

        if (interrupt_pending())
            return report_interruption(process, patience, err);
        if (poll(events, ARRAY_LEN(events), isinf(left) ? -1 : left < 0 ? 0 : (int)ceil(fmin(left, 1e9))) < 0)
            continue;
        if (left < 0) /* also if data has arrived: a runaway copy may send for ever */
            return explain_time(process, patience->bounds, err);
        if (events[0].revents == 0)
            continue;
        count = ret_files != NULL
                    ? receive_header(process->socket, to.data, to.size, ret_files)
                    : recv(process->socket, to.data, to.size < SOCKET_MOST_AT_ONCE ? to.size : SOCKET_MOST_AT_ONCE, 0);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return explain_end(process, patience->bounds, err);
        to.data += count;
        to.size -= (size_t)count;
    }
    return 0;
}

/* Reads the bytes behind the header. */
static int await_content(struct bounded_process *process, const struct patience *patience, const struct header *header,
                         const struct received_files *files, struct bounded_bytes *ret, struct error *err)
{
    int rc;

    if (header->in_file != 0 && files->count > 0 && map_file(files->items[0], header->size, ret))
        return 0;
    *ret = (struct bounded_bytes){.size = header->size};
    if (header->in_file == 0)
        ret->data = allocate_bytes(header->size);
    if (ret->data == NULL)
        return error_set(err, ERR_MEMORY, "not enough memory for %llu bytes sent by %s",
                         (unsigned long long)header->size, process->work->name);
    rc = await_bytes(process, patience, *ret, NULL, err);
    if (rc < 0)
        bounded_bytes_release(ret);
    return rc;
}

/* Reads the next answer or note. */
static int await_message(struct bounded_process *process, const struct patience *patience, struct header *ret_header,
                         struct bounded_bytes *ret, struct error *err)
{
    struct bounded_bytes header = {.data = (char *)ret_header, .size = sizeof(*ret_header)};
    struct received_files files = {.count = 0};
    int rc = await_bytes(process, patience, header, &files, err);

    if (rc == 0)
        rc = await_content(process, patience, ret_header, &files, ret, err);
    if (rc == 0)
        take_files(&files, ret_header->in_file != 0, &ret->files);
    close_received(&files);
    return rc;
}

int bounded_process_ask(struct bounded_process *process, const struct bounded_question *question,
                        struct bounded_bytes *ret, struct error *err)
{
    const struct bounds *bounds = &question->bounds;
    const struct header header = {.size = size_of_parts(question->parts, question->count), .memory = bounds->memory};
    const struct patience patience = {bounds, bounds->seconds > 0 ? stopwatch_now() + bounds->seconds : INFINITY,
                                      question->is_cancelled_first};
    struct bounded_bytes bytes;
    struct header of_answer = {0};
    int rc;

    if (!send_parts(process->socket, header, question->parts, question->count, question->files))
        return explain_end(process, bounds, err);
    for (;;) {
        rc = await_message(process, &patience, &of_answer, &bytes, err);
        if (rc < 0 || of_answer.kind != HEADER_NOTE)
            break;
        if (process->work->note != NULL)
            process->work->note(question->note_data, (struct text){bytes.data, bytes.size});
        bounded_bytes_release(&bytes);
    }
    if (rc == 0)
        *ret = bytes;
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
