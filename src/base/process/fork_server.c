/* base/process/fork_server.c: see fork_server.h.
 *
 * A request is one datagram with the NUL-terminated arguments, an empty string, the added environment variables, and
 * the two descriptors as ancillary data (SCM_RIGHTS). The answer is the child's process ID, or -1.
 */
#include "base/process/fork_server.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "base/crash.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/memory_limit.h"
#include "base/process/guard.h"
#include "base/text/string_builder.h"

#define LARGEST_REQUEST ((size_t)64 << 10)

static const int ended_by[] = {SIGINT, SIGTERM, SIGHUP};

struct fork_server {
    int socket;
    pid_t pid;
};

/* State of the server. */
struct server {
    int socket;
    int (*main)(int argc, char **argv);
    bool ignored[ARRAY_LEN(ended_by)]; /* ignored when this program was started */
};

struct fork_request {
    char text[LARGEST_REQUEST];
    size_t size;
    int outputs[2];
};

/* ---- The server ---- */

static bool receive_fork_request(int socket, struct fork_request *ret)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(ret->outputs))];
    } control;
    struct iovec vector = {.iov_base = ret->text, .iov_len = sizeof(ret->text)};
    struct msghdr message = {
        .msg_iov = &vector, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    const struct cmsghdr *header;
    ssize_t size;

    do
        size = recvmsg(socket, &message, 0);
    while (size < 0 && errno == EINTR);
    header = CMSG_FIRSTHDR(&message);
    if (size <= 0 || header == NULL || header->cmsg_len != CMSG_LEN(sizeof(ret->outputs)))
        return false;
    memcpy(ret->outputs, CMSG_DATA(header), sizeof(ret->outputs));
    ret->size = (size_t)size;
    return true;
}

/* Restores the signal dispositions from the start of this program and unblocks all signals. */
static void restore_signals(const struct server *server)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigset_t none;

    sigemptyset(&none);
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < ARRAY_LEN(ended_by); i++)
        if (!server->ignored[i])
            sigaction(ended_by[i], &action, NULL);
    sigaction(SIGPIPE, &action, NULL);
    sigaction(SIGCHLD, &action, NULL);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The strings before the empty one are arguments, those after it are environment variables. `text` stays allocated. */
static _Noreturn void run_forked_program(const struct server *server, struct fork_request *request)
{
    char **arguments = memory_alloc_zero(request->size + 1, sizeof(*arguments));
    char *word = request->text;
    int count = 0, status;

    for (; *word != '\0'; word += strlen(word) + 1)
        arguments[count++] = word;
    for (word++; word < request->text + request->size; word += strlen(word) + 1)
        putenv(word);
    setpgid(0, 0);
    process_guard_add(getpid()); /* registered before the client could be killed */
    process_guard_forget();
    dup2(request->outputs[0], STDOUT_FILENO);
    dup2(request->outputs[1], STDERR_FILENO);
    close(request->outputs[0]);
    close(request->outputs[1]);
    close(server->socket);
    interrupt_forget();
    crash_forget();
    restore_signals(server);
    memory_make_roomy();
    status = server->main(count, arguments);
    fflush(NULL);
    _exit(status); /* exit handlers of libraries would wait for threads that do not exist here */
}

/* The intermediate process exits at once, so that the child becomes an orphan. */
static pid_t fork_orphan(const struct server *server, struct fork_request *request)
{
    int numbers[2];
    pid_t middle, child = -1;

    if (pipe(numbers) < 0)
        return -1;
    middle = fork();
    if (middle == 0) {
        child = fork();
        if (child == 0) {
            close(numbers[0]);
            close(numbers[1]);
            run_forked_program(server, request);
        }
        _exit(write(numbers[1], &child, sizeof(child)) == sizeof(child) ? 0 : 1);
    }
    close(numbers[1]);
    if (middle < 0 || read(numbers[0], &child, sizeof(child)) != sizeof(child))
        child = -1;
    close(numbers[0]);
    if (middle > 0)
        waitpid(middle, NULL, 0);
    return child;
}

static _Noreturn void serve_fork_requests(struct server *server, void (*prepare)(void *data), void *data)
{
    static struct fork_request request;
    struct sigaction ignore = {.sa_handler = SIG_IGN}, old;

    sigemptyset(&ignore.sa_mask);
    for (size_t i = 0; i < ARRAY_LEN(ended_by); i++) {
        sigaction(ended_by[i], NULL, &old);
        server->ignored[i] = old.sa_handler == SIG_IGN;
        sigaction(ended_by[i], &ignore, NULL); /* Ctrl-C is handled by the client */
    }
    if (prepare != NULL)
        prepare(data);
    while (receive_fork_request(server->socket, &request)) {
        pid_t child = fork_orphan(server, &request);

        close(request.outputs[0]);
        close(request.outputs[1]);
        if (send(server->socket, &child, sizeof(child), MSG_NOSIGNAL) < 0)
            break;
    }
    _exit(0);
}

/* ---- The client ---- */

/* Whether orphans can be adopted (emulators and sandboxes may not support it), and whether no leak checker would report
 * what the copy inherited. */
static bool can_serve(void)
{
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
    int adopts;

    return prctl(PR_GET_CHILD_SUBREAPER, (unsigned long)(uintptr_t)&adopts, 0, 0, 0) == 0;
#else
    return false;
#endif
}

struct fork_server *fork_server_start(int (*main)(int argc, char **argv), void (*prepare)(void *data), void *data)
{
    struct fork_server *ret;
    int sockets[2];
    pid_t pid;

    if (!can_serve() || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
        return NULL;
    fflush(NULL); /* or the copy would flush the same buffers */
    pid = fork();
    if (pid == 0) {
        struct server server = {.socket = sockets[1], .main = main};

        close(sockets[0]);
        memory_limit_forget();
        serve_fork_requests(&server, prepare, data);
    }
    close(sockets[1]);
    if (pid < 0) {
        close(sockets[0]);
        return NULL;
    }
    ret = memory_alloc_zero(1, sizeof(*ret));
    *ret = (struct fork_server){sockets[0], pid};
    return ret;
}

void fork_server_stop(struct fork_server *server)
{
    if (server == NULL)
        return;
    close(server->socket);
    while (waitpid(server->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    free(server);
}

static void add_request_words(struct string_builder *text, const char *const *words)
{
    for (size_t i = 0; words != NULL && words[i] != NULL; i++)
        string_add_bytes(text, words[i], strlen(words[i]) + 1);
}

static bool has_empty_word(const char *const *words)
{
    for (size_t i = 0; words[i] != NULL; i++)
        if (words[i][0] == '\0')
            return true;
    return false;
}

static bool send_request(int socket, const struct string_builder *text, int out, int error_out)
{
    int outputs[2] = {out, error_out};
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(outputs))];
    } control = {0};
    struct iovec vector = {.iov_base = text->data, .iov_len = text->size};
    struct msghdr message = {
        .msg_iov = &vector, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);

    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(outputs));
    memcpy(CMSG_DATA(header), outputs, sizeof(outputs));
    return sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)text->size;
}

bool fork_server_spawn(struct fork_server *server, const char *const *arguments, const char *const *environment,
                       int out, int error_out, pid_t *ret)
{
    SCOPED_STRING(text);
    pid_t child = -1;
    bool sent = false;

    if (has_empty_word(arguments))
        return false;
    add_request_words(&text, arguments);
    string_add_char(&text, '\0');
    add_request_words(&text, environment);
    if (text.size <= LARGEST_REQUEST)
        sent = send_request(server->socket, &text, out, error_out);
    if (!sent || recv(server->socket, &child, sizeof(child), 0) != sizeof(child) || child < 0)
        return false;
    setpgid(child, child); /* the child does the same, to avoid a race */
    *ret = child;
    return true;
}
