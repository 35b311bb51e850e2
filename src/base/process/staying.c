/* base/process/staying.c: see staying.h. */
#define _GNU_SOURCE /* environ, prctl */
#include "base/process/staying.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "base/crash.h"
#include "base/file/file.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/memory_limit.h"
#include "base/process/family.h"
#include "base/process/socket.h"
#include "base/process/staying_host.h"

#define SOCKET_NAME "host" /* in the folder of the host */

extern char **environ;

struct staying_host {
    pid_t copy;
    int stop; /* a pipe: the host ends when all ends here are closed. On Linux a signal tells it before */
    char *folder;
};

struct staying_process {
    int socket;
};

/* ---- The address ---- */

/* The address of the socket at `path`. One that is too long for an address is reached by a descriptor of its folder
 * (Linux), `*ret_folder`, to be closed when the address was used; else that is -1. */
static int make_address(const char *path, struct sockaddr_un *ret, int *ret_folder, struct error *err)
{
    size_t folder_length = strlen(path) - strlen("/" SOCKET_NAME);
    char *folder SCOPED_FREE = NULL;

    *ret_folder = -1;
    *ret = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) < sizeof(ret->sun_path)) {
        memcpy(ret->sun_path, path, strlen(path) + 1);
        return 0;
    }
    folder = memory_copy(path, folder_length);
    *ret_folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    snprintf(ret->sun_path, sizeof(ret->sun_path), "/proc/self/fd/%d", *ret_folder);
    if (*ret_folder >= 0 && file_is_folder(ret->sun_path)) {
        snprintf(ret->sun_path, sizeof(ret->sun_path), "/proc/self/fd/%d/" SOCKET_NAME, *ret_folder);
        return 0;
    }
    if (*ret_folder >= 0)
        close(*ret_folder);
    return error_set(err, ERR_IO,
                     "the path of a socket, '%s', is longer than %zu bytes: set TMPDIR to a folder with a shorter path",
                     path, sizeof(ret->sun_path) - 1);
}

/* ---- The host ---- */

static _Noreturn void run_host(const char *folder, int listener, int stop, staying_make_line *make_line)
{
    static const int ignored[] = {SIGINT, SIGHUP, SIGQUIT, SIGTSTP, SIGPIPE};
    struct sigaction ignore = {.sa_handler = SIG_IGN};

    setpgid(0, 0); /* signals of a terminal are handled by the process that has started the host */
    sigemptyset(&ignore.sa_mask);
    for (size_t i = 0; i < ARRAY_LEN(ignored); i++)
        sigaction(ignored[i], &ignore, NULL);
    interrupt_forget();
    crash_forget();
    memory_limit_forget();
    staying_serve(listener, stop, folder, make_line);
    file_remove_tree(folder, NULL);
    _exit(0);
}

static int listen_in(const char *folder, int *ret, struct error *err)
{
    char *path SCOPED_FREE = file_join(folder, SOCKET_NAME);
    struct sockaddr_un address;
    int by_folder, listener, rc;

    rc = make_address(path, &address, &by_folder, err);
    if (rc < 0)
        return rc;
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(listener, SOMAXCONN) != 0) {
        rc = error_set_errno(err, ERR_IO, "cannot create the socket '%s'", path);
        if (listener >= 0)
            close(listener);
    } else {
        fcntl(listener, F_SETFD, FD_CLOEXEC);
        setenv(STAYING_HOST_VARIABLE, path, 1);
        *ret = listener;
    }
    if (by_folder >= 0)
        close(by_folder);
    return rc;
}

static int fork_host(struct staying_host *host, int listener, staying_make_line *make_line, struct error *err)
{
    pid_t original = getpid();
    int ends[2];

    if (pipe(ends) != 0)
        return error_set_errno(err, ERR_IO, "cannot start a process");
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    fflush(NULL); /* or the copy would flush the same buffers */
    host->copy = family_fork();
    if (host->copy == 0) {
        close(ends[1]);
#ifdef __linux__
        prctl(PR_SET_PDEATHSIG, (unsigned long)SIGTERM, 0, 0, 0);
        if (getppid() != original)
            _exit(1);
#endif
        run_host(host->folder, listener, ends[0], make_line);
    }
    (void)original;
    close(ends[0]);
    host->stop = ends[1];
    if (host->copy > 0)
        return 0;
    error_set_errno(err, ERR_IO, "cannot start a process");
    close(ends[1]);
    return ERR_IO;
}

int staying_host_start(staying_make_line *make_line, struct staying_host **ret, struct error *err)
{
    struct staying_host host = {0};
    int listener = -1, rc;

    *ret = NULL;
    if (getenv(STAYING_HOST_VARIABLE) != NULL)
        return 0;
    rc = file_make_temporary_folder("runners", &host.folder, err);
    if (rc < 0)
        return rc;
    rc = listen_in(host.folder, &listener, err);
    if (rc == 0)
        rc = fork_host(&host, listener, make_line, err);
    if (listener >= 0)
        close(listener);
    if (rc == 0) {
        *ret = memory_alloc_zero(1, sizeof(**ret));
        **ret = host;
        return 0;
    }
    unsetenv(STAYING_HOST_VARIABLE);
    file_remove_tree(host.folder, NULL);
    free(host.folder);
    return rc;
}

void staying_host_stop(struct staying_host *host)
{
    if (host == NULL)
        return;
    unsetenv(STAYING_HOST_VARIABLE);
    close(host->stop);
    kill(host->copy, SIGTERM);
    while (waitpid(host->copy, NULL, 0) < 0 && errno == EINTR) {
    }
    family_forget(host->copy);
    file_remove_tree(host->folder, NULL); /* the host has removed it, unless it was killed */
    free(host->folder);
    free(host);
}

/* ---- Who asks ---- */

static int connect_to_host(int *ret, struct error *err)
{
    const char *path = getenv(STAYING_HOST_VARIABLE);
    struct sockaddr_un address;
    int by_folder, connection, rc;

    if (path == NULL)
        return error_set(err, ERR_IO, "no process has started a host for runners that stay");
    rc = make_address(path, &address, &by_folder, err);
    if (rc < 0)
        return rc;
    connection = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connection < 0 || connect(connection, (struct sockaddr *)&address, sizeof(address)) != 0) {
        rc = error_set_errno(err, ERR_IO,
                             "cannot reach the host of runners that stay at '%s' (" STAYING_HOST_VARIABLE ")", path);
        if (connection >= 0)
            close(connection);
    } else {
        fcntl(connection, F_SETFD, FD_CLOEXEC);
        *ret = connection;
    }
    if (by_folder >= 0)
        close(by_folder);
    return rc;
}

static int refuse_lost_host(struct error *err)
{
    return error_set(err, ERR_IO, "the host of runners that stay has ended");
}

/* Waits until the host answers. The host watches the time. */
static int wait_for_reply(int socket, struct error *err)
{
    for (;;) {
        struct pollfd events[] = {{.fd = socket, .events = POLLIN}, {.fd = interrupt_descriptor(), .events = POLLIN}};

        if (poll(events, ARRAY_LEN(events), -1) < 0 && errno != EINTR)
            return error_set_errno(err, ERR_IO, "cannot wait for a runner");
        if (interrupt_pending())
            return error_set(err, ERR_INTERRUPTED, "a runner was terminated because this program received a signal: %s",
                             strsignal(interrupt_pending()));
        if (events[0].revents != 0)
            return 0;
    }
}

static char *receive_text(int socket, uint64_t size)
{
    char *ret = size <= PTRDIFF_MAX - 1 ? malloc((size_t)size + 1) : NULL;

    if (ret == NULL || !socket_receive_all(socket, ret, (size_t)size)) {
        free(ret);
        return NULL;
    }
    ret[size] = '\0';
    return ret;
}

static int receive_reply(int socket, struct staying_answer *ret, struct error *err)
{
    struct staying_reply reply;
    struct staying_answer answer = {.result.error_out.fd = -1, .result.out.fd = -1};
    int rc = wait_for_reply(socket, err);

    if (rc < 0)
        return rc;
    if (!socket_receive_all(socket, &reply, sizeof(reply)))
        return refuse_lost_host(err);
    answer.end = (enum staying_end)reply.end;
    answer.is_new = reply.is_new != 0;
    answer.line = receive_text(socket, reply.line_size);
    answer.result.out.data = receive_text(socket, reply.output_size);
    answer.result.out.size = (size_t)reply.output_size;
    answer.result.end = (enum process_end)reply.process_end;
    answer.result.code = reply.code;
    answer.result.process = reply.process;
    answer.result.seconds = reply.seconds;
    if (answer.line == NULL || answer.result.out.data == NULL) {
        staying_answer_release(&answer);
        return refuse_lost_host(err);
    }
    *ret = answer;
    return 0;
}

static int ask_host(int socket, enum staying_question_kind kind, double timeout, struct text bytes,
                    struct staying_answer *ret, struct error *err)
{
    const struct staying_question question = {.size = bytes.size, .timeout = timeout, .kind = kind};

    if (!socket_send_all(socket, &question, sizeof(question)) || !socket_send_all(socket, bytes.data, bytes.size))
        return refuse_lost_host(err);
    return receive_reply(socket, ret, err);
}

static int compare_strings(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All variables but those that differ from command to command by themselves, sorted. */
static void add_variables_of_command(struct string_builder *ret)
{
    static const char *const passing[] = {"POLYGRAPHY_", "_=", "SHLVL=", "OLDPWD=", "PWD="};
    struct word_list words SCOPED_ITEMS = {0};

    for (size_t i = 0; environ[i] != NULL; i++) {
        bool passes = false;

        for (size_t k = 0; k < ARRAY_LEN(passing); k++)
            passes |= strncmp(environ[i], passing[k], strlen(passing[k])) == 0;
        if (!passes)
            *VECTOR_APPEND(&words) = environ[i];
    }
    if (words.count > 0)
        qsort(words.items, words.count, sizeof(*words.items), compare_strings);
    for (size_t i = 0; i < words.count; i++)
        string_add_bytes(ret, words.items[i], strlen(words.items[i]) + 1);
}

int staying_open(const char *line, double timeout, struct staying_process **ret, struct staying_answer *ret_answer,
                 struct error *err)
{
    char *folder SCOPED_FREE = file_real_path(".");
    SCOPED_STRING(question);
    int connection = -1, rc;

    rc = connect_to_host(&connection, err);
    if (rc < 0)
        return rc;
    string_add_bytes(&question, line, strlen(line) + 1);
    string_add(&question, folder != NULL ? folder : "");
    string_add_char(&question, '\0');
    add_variables_of_command(&question);
    rc = ask_host(connection, STAYING_OPEN, timeout, (struct text){question.data, question.size}, ret_answer, err);
    if (rc < 0 || ret_answer->end != STAYING_ANSWERED) {
        close(connection);
        return rc;
    }
    *ret = memory_alloc_zero(1, sizeof(**ret));
    **ret = (struct staying_process){.socket = connection};
    return 0;
}

int staying_ask(struct staying_process *process, const char *request, double timeout, struct staying_answer *ret_answer,
                struct error *err)
{
    const struct text bytes = {request, strlen(request)};

    if (bytes.size >= STAYING_LONGEST_LINE)
        return error_set(err, ERR_INVALID, "a request of %zu bytes is longer than %zu", bytes.size,
                         STAYING_LONGEST_LINE);
    return ask_host(process->socket, STAYING_ASK, timeout, bytes, ret_answer, err);
}

void staying_close(struct staying_process *process, bool is_reliable)
{
    const struct staying_question question = {.kind = STAYING_KILL};

    if (process == NULL)
        return;
    if (!is_reliable)
        socket_send_all(process->socket, &question, sizeof(question));
    close(process->socket);
    free(process);
}

void staying_answer_release(struct staying_answer *answer)
{
    free(answer->line);
    process_result_release(&answer->result);
    answer->line = NULL;
}
