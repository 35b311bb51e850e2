/* library/command.c: polygraphy_run_command(): a command of the program in a process of its own. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "base/process/socket.h"
#include "base/process/spawn.h"
#include "base/system.h"
#include "format/json/writer.h"
#include "library/checked_search.h"
#include "library/command_log.h"
#include "polygraphy/command.h"

#define CHECK_SOCKET 3                            /* its number in the process */
#define CHECK_SOCKET_TEXT "3"                     /* for --check-fd */
#define POLL_MILLISECONDS 100                     /* between calls of `cancelled` */
#define LONGEST_DOCUMENT ((size_t)1 << 32)        /* bytes */
static const double escalation[] = {0, 3.0, 8.0}; /* seconds from the request to end to SIGINT, SIGINT, SIGKILL */

extern char **environ;

struct command_run {
    const struct polygraphy_command *command;
    char *folder; /* of the document; NULL: not created yet */
    char *document;
    struct word_list words; /* of the command line; borrowed */
    pid_t process;          /* 0: not started, or has ended */
    int status;             /* as waitpid() has it */
    int output;             /* the log; -1: closed */
    int checks;             /* this end of the check's socket; -1: none */
    struct string_builder request;
    struct command_log lines;
    double asked;     /* when `cancelled` was called last, by stopwatch_now() */
    double cancelled; /* when; 0: not */
    size_t signals;   /* sent since then */
};

/* ---- The command line ---- */

/* The options precede all others, because --check takes all words that follow. */
static int make_words(struct command_run *run, const char *program, struct error *err)
{
    const struct polygraphy_command *command = run->command;
    const char *const *word = command->words;

    if (file_make_temporary_folder("command", &run->folder, err) < 0)
        return ERR_IO;
    run->document = file_join(run->folder, "result.json");
    *VECTOR_APPEND(&run->words) = program;
    for (; *word != NULL && (*word)[0] != '-'; word++)
        *VECTOR_APPEND(&run->words) = *word;
    *VECTOR_APPEND(&run->words) = "--json";
    *VECTOR_APPEND(&run->words) = run->document;
    if (command->check != NULL) {
        *VECTOR_APPEND(&run->words) = "--check-fd";
        *VECTOR_APPEND(&run->words) = CHECK_SOCKET_TEXT;
    }
    for (; *word != NULL; word++)
        *VECTOR_APPEND(&run->words) = *word;
    if (command->check != NULL) {
        *VECTOR_APPEND(&run->words) = "--check";
        *VECTOR_APPEND(&run->words) = command->check_name != NULL ? command->check_name : "function";
    }
    *VECTOR_APPEND(&run->words) = NULL;
    return 0;
}

/* ---- The process ---- */

/* Signals have their default action and are not blocked, whatever the caller has made of them. */
static void set_attributes(posix_spawnattr_t *attributes)
{
    static const int usual[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD, SIGALRM, SIGUSR1, SIGUSR2};
    sigset_t defaults, none;

    sigemptyset(&none);
    sigemptyset(&defaults);
    for (size_t i = 0; i < ARRAY_LEN(usual); i++)
        sigaddset(&defaults, usual[i]);
    posix_spawnattr_init(attributes);
    posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(attributes, 0);
    posix_spawnattr_setsigdefault(attributes, &defaults);
    posix_spawnattr_setsigmask(attributes, &none);
}

/* `output` and `checks` (-1: none) are the process's ends. Both have numbers above those that they get. */
static int spawn_process(struct command_run *run, const char *program, int output, int checks, struct error *err)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int reason;

    set_attributes(&attributes);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
    if (checks >= 0)
        posix_spawn_file_actions_adddup2(&files, checks, CHECK_SOCKET);
    reason = posix_spawn(&run->process, program, &files, &attributes, (char *const *)run->words.items, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    if (reason == 0)
        return 0;
    run->process = 0;
    errno = reason;
    return error_set_errno(err, reason == ENOENT ? ERR_MISSING : ERR_IO, "cannot start '%s'", program);
}

static void close_descriptor(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Moves both descriptors out of the way of those that the process gets, which inherits no other. On failure, with errno
 * set, both are closed. */
static bool lift_descriptors(int fds[2])
{
    bool lifted = true;

    for (int i = 0; i < 2; i++) {
        int fd = fds[i];

        fds[i] = lifted ? fcntl(fd, F_DUPFD_CLOEXEC, CHECK_SOCKET + 1) : -1;
        lifted &= fds[i] >= 0;
        close(fd);
    }
    if (!lifted)
        close_descriptor(&fds[0]);
    return lifted;
}

static int start_process(struct command_run *run, const char *program, struct error *err)
{
    int output[2] = {-1, -1}, checks[2] = {-1, -1};
    int rc;

    if (pipe(output) != 0 || !lift_descriptors(output))
        return error_set_errno(err, ERR_IO, "cannot start '%s'", program);
    run->output = output[0];
    if (run->command->check != NULL &&
        (socketpair(AF_UNIX, SOCK_STREAM, 0, checks) != 0 || !lift_descriptors(checks))) {
        rc = error_set_errno(err, ERR_IO, "cannot start '%s'", program);
        goto done;
    }
    run->checks = checks[0];
    rc = spawn_process(run, program, output[1], checks[1], err);
done:
    close_descriptor(&output[1]);
    close_descriptor(&checks[1]);
    return rc;
}

/* ---- While it runs ---- */

static void cancel_run(struct command_run *run)
{
    if (run->cancelled == 0)
        run->cancelled = stopwatch_now();
}

/* Asks whether to end, and if so, asks the process, with more and more emphasis. */
static void pass_cancellation(struct command_run *run)
{
    const struct polygraphy_command *command = run->command;

    run->asked = stopwatch_now();
    if (run->cancelled == 0 && command->cancelled != NULL && command->cancelled(command->context))
        cancel_run(run);
    if (run->cancelled == 0 || run->process == 0 || run->signals >= ARRAY_LEN(escalation) ||
        run->asked - run->cancelled < escalation[run->signals])
        return;
    run->signals++;
    if (run->signals == ARRAY_LEN(escalation))
        kill(-run->process, SIGKILL);
    else
        kill(run->process, SIGINT);
}

/* Answers one request. A check that ends the search gives no answer. */
static void answer_request(struct command_run *run, const char *request)
{
    const char *output = NULL;
    int32_t code = run->command->check(run->command->context, request, &output);
    struct json_writer line SCOPED(json_writer_release);

    json_writer_init(&line);
    if (code < 0) {
        cancel_run(run);
        return;
    }
    line.compact = true;
    json_writer_begin_object(&line);
    json_writer_add_integer(&line, "exit_code", code);
    json_writer_add_string(&line, "output", output);
    json_writer_end_object(&line);
    string_add_char(&line.text, '\n');
    if (!socket_send_all(run->checks, line.text.data, line.text.size))
        close_descriptor(&run->checks);
}

/* Reads from the socket, and answers a request that is complete. */
static void read_requests(struct command_run *run)
{
    char bytes[4096];
    ssize_t count = read(run->checks, bytes, sizeof(bytes));
    size_t size = count > 0 ? (size_t)count : 0;

    if (count == 0 || (count < 0 && errno != EINTR)) {
        close_descriptor(&run->checks);
        return;
    }
    string_add_text(&run->request, (struct text){bytes, size});
    if (run->request.size == 0 || run->request.data[run->request.size - 1] != '\n')
        return;
    string_truncate(&run->request, run->request.size - 1);
    if (run->cancelled == 0)
        answer_request(run, run->request.data);
    string_clear(&run->request);
}

static void read_output(struct command_run *run)
{
    char bytes[1 << 16];
    ssize_t count = read(run->output, bytes, sizeof(bytes));

    if (count > 0)
        command_log_add(&run->lines, (struct text){bytes, (size_t)count});
    else if (count == 0 || errno != EINTR)
        close_descriptor(&run->output);
}

/* Notes that the process has ended. A caller that ignores SIGCHLD loses its status. */
static void note_end(struct command_run *run)
{
    pid_t ended = waitpid(run->process, &run->status, WNOHANG);

    if (ended == run->process || (ended < 0 && errno == ECHILD))
        run->process = 0;
}

static void follow_process(struct command_run *run)
{
    int wait = POLL_MILLISECONDS;

    while (run->process != 0) {
        struct pollfd wanted[] = {{.fd = run->output, .events = POLLIN}, {.fd = run->checks, .events = POLLIN}};
        int ready = poll(wanted, ARRAY_LEN(wanted), wait);
        bool is_due;

        if (ready > 0 && wanted[0].revents != 0)
            read_output(run);
        if (ready > 0 && wanted[1].revents != 0)
            read_requests(run);
        is_due = ready <= 0 || (stopwatch_now() - run->asked) * 1000 >= POLL_MILLISECONDS;
        if (is_due)
            pass_cancellation(run);
        if (is_due || run->output < 0)
            note_end(run);
        wait = run->output < 0 ? 1 : POLL_MILLISECONDS;
    }
    if (run->output >= 0 && fcntl(run->output, F_SETFL, O_NONBLOCK) == 0)
        while (run->output >= 0)
            read_output(run);
    command_log_end(&run->lines);
}

/* ---- The result ---- */

static int read_document(struct command_run *run, struct polygraphy_command_result *ret, struct error *err)
{
    size_t size;

    ret->exit_code = WIFSIGNALED(run->status) ? -WTERMSIG(run->status) : WEXITSTATUS(run->status);
    if (run->cancelled > 0)
        return error_set(err, ERR_INTERRUPTED, "interrupted");
    if (file_exists(run->document))
        return file_read(run->document, LONGEST_DOCUMENT, &ret->document, &size, err);
    if (run->lines.error.size > 0)
        return error_set(err, (enum error_code)POLYGRAPHY_ERROR_COMMAND, "%s", run->lines.error.data);
    if (ret->exit_code < 0)
        return error_set(err, ERR_IO, "the program was terminated by signal %d", -ret->exit_code);
    return error_set(err, (enum error_code)POLYGRAPHY_ERROR_COMMAND,
                     "the program exited with code %d and has written no result", ret->exit_code);
}

static void release_run(struct command_run *run)
{
    close_descriptor(&run->output);
    close_descriptor(&run->checks);
    if (run->folder != NULL)
        file_remove_tree(run->folder, NULL);
    free(run->folder);
    free(run->document);
    free(run->words.items);
    string_release(&run->request);
    command_log_release(&run->lines);
}

static int run_checked_command(struct command_run *run, struct polygraphy_command_result *ret, struct error *err)
{
    const struct polygraphy_command *command = run->command;
    const char *name = command->program != NULL ? command->program : "polygraphy-native";
    char *program SCOPED_FREE = process_find(name);
    int rc;

    if (command->words == NULL || command->words[0] == NULL)
        return error_set(err, ERR_INVALID, "the command has no words");
    if (program == NULL)
        return error_set(err, ERR_MISSING, "the program '%s' was not found", name);
    rc = make_words(run, program, err);
    if (rc == 0)
        rc = start_process(run, program, err);
    if (rc < 0)
        return rc;
    follow_process(run);
    return read_document(run, ret, err);
}

int32_t polygraphy_run_command(const struct polygraphy_command *command, struct polygraphy_command_result *result,
                               struct polygraphy_error *error)
{
    struct command_run run = {.command = command, .output = -1, .checks = -1};
    struct error err = {0};
    int rc;

    *result = (struct polygraphy_command_result){0};
    string_init(&run.request);
    command_log_init(&run.lines, command->log, command->context);
    rc = run_checked_command(&run, result, &err);
    release_run(&run);
    return library_return(rc, &err, error);
}

void polygraphy_command_result_release(struct polygraphy_command_result *result)
{
    free(result->document);
    *result = (struct polygraphy_command_result){0};
}
