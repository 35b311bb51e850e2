/* base/process/staying_host.c: the host of processes that stay, one thread that waits for all of them: staying.h. */
#define _GNU_SOURCE /* environ */
#include "base/process/staying_host.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "base/process/family.h"
#include "base/process/process.h"
#include "base/process/socket.h"
#include "base/system.h"

/* Seconds that a process has to end after the end of its requests, and after SIGTERM. */
#define GRACE 0.5

#define MOST_IDLE 4             /* processes that nobody asks: the oldest is ended first */
#define MOST_QUESTION (8 << 20) /* bytes: an environment may be large */

extern char **environ;

/* A process that stays. */
struct resident {
    struct text key; /* line, folder, environment; owned */
    pid_t leader;
    int requests, answers, output; /* -1: closed */
    struct string_builder line;    /* what has come of its answer */
    struct string_builder greeting;
    struct string_builder shown; /* what it wrote elsewhere, since the last answer */
    int asked_by;                /* socket of who uses it; -1: nobody */
    bool is_asked, is_greeted, has_ended;
    double asked_at, deadline; /* as stopwatch_now(); INFINITY: none */
    enum process_end process_end;
    int code;
};

struct client {
    int socket;
    struct resident *resident; /* NULL: none */
};

struct host {
    int listener, stop;
    int signals; /* readable after a SIGCHLD or SIGTERM */
    const char *folder;
    staying_make_line *make_line;
    unsigned long started; /* processes, so far */
    VECTOR(struct resident *) residents;
    VECTOR(struct client) clients;
};

static int wake_by_signal = -1;
static volatile sig_atomic_t is_told_to_end;

static void note_signal(int signal_number)
{
    int saved_errno = errno;

    if (signal_number == SIGTERM)
        is_told_to_end = 1;
    if (write(wake_by_signal, "", 1) < 0) {
        /* The pipe is full, so it is readable already. */
    }
    errno = saved_errno;
}

static int watch_signals(void)
{
    static const int watched[] = {SIGCHLD, SIGTERM};
    struct sigaction action = {.sa_handler = note_signal, .sa_flags = SA_RESTART};
    sigset_t set;
    int ends[2];

    if (pipe(ends) != 0)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        fcntl(ends[i], F_SETFD, FD_CLOEXEC);
        fcntl(ends[i], F_SETFL, O_NONBLOCK);
    }
    wake_by_signal = ends[1];
    sigemptyset(&action.sa_mask);
    sigemptyset(&set);
    for (size_t i = 0; i < ARRAY_LEN(watched); i++) {
        sigaction(watched[i], &action, NULL);
        sigaddset(&set, watched[i]);
    }
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    return ends[0];
}

/* ---- What a process writes ---- */

/* Appends what can be read now, up to a fixed amount; false at the end of the stream. */
static bool read_available(int fd, struct string_builder *ret)
{
    char bytes[4096];
    ssize_t size = 1;

    for (int i = 0; i < 32 && size > 0; i++) {
        size = read(fd, bytes, sizeof(bytes));
        if (size > 0)
            string_add_bytes(ret, bytes, (size_t)size);
    }
    return size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR));
}

static void drop_beginning(struct string_builder *text, size_t size)
{
    memmove(text->data, text->data + size, text->size - size);
    string_truncate(text, text->size - size);
}

static void read_output(struct resident *resident)
{
    if (resident->output >= 0 && !read_available(resident->output, &resident->shown)) {
        close(resident->output);
        resident->output = -1;
    }
    if (resident->shown.size > STAYING_LONGEST_LINE)
        drop_beginning(&resident->shown, resident->shown.size - STAYING_LONGEST_LINE);
}

/* ---- Replies ---- */

static void send_reply(int socket, const struct staying_reply *head, struct text line, struct text output)
{
    struct staying_reply reply = *head;

    reply.line_size = line.size;
    reply.output_size = output.size;
    /* Who has gone is seen at its socket. */
    if (socket_send_all(socket, &reply, sizeof(reply)) && socket_send_all(socket, line.data, line.size))
        socket_send_all(socket, output.data, output.size);
}

/* Tells who waits for it how the question ended. */
static void answer_question(struct resident *resident, enum staying_end end, struct text line, bool is_new)
{
    const struct staying_reply reply = {.seconds = resident->is_asked ? stopwatch_now() - resident->asked_at : 0,
                                        .end = (uint64_t)end,
                                        .process_end = (int32_t)resident->process_end,
                                        .code = resident->code,
                                        .process = (int32_t)resident->leader,
                                        .is_new = is_new};

    read_output(resident);
    send_reply(resident->asked_by, &reply, line, (struct text){resident->shown.data, resident->shown.size});
    string_clear(&resident->shown);
    resident->is_asked = false;
    resident->deadline = INFINITY;
}

/* A whole line is an answer; so is one that is longer than any may be, and what asks finds it damaged. */
static void read_answers(struct resident *resident)
{
    const char *end;

    read_available(resident->answers, &resident->line);
    if (!resident->is_asked && resident->line.size > STAYING_LONGEST_LINE)
        string_clear(&resident->line);
    end = memchr(resident->line.data, '\n', resident->line.size);
    if (!resident->is_asked || (end == NULL && resident->line.size < STAYING_LONGEST_LINE))
        return;
    size_t size = end != NULL ? (size_t)(end - resident->line.data) : resident->line.size;
    bool is_greeting = !resident->is_greeted;

    if (is_greeting)
        string_add_bytes(&resident->greeting, resident->line.data, size);
    resident->is_greeted = true;
    answer_question(resident, STAYING_ANSWERED, (struct text){resident->line.data, size}, is_greeting);
    drop_beginning(&resident->line, end != NULL ? size + 1 : size);
}

/* ---- The end of a process ---- */

static void close_pipes(struct resident *resident)
{
    int *const pipes[] = {&resident->requests, &resident->answers, &resident->output};

    for (size_t i = 0; i < ARRAY_LEN(pipes); i++) {
        if (*pipes[i] >= 0)
            close(*pipes[i]);
        *pipes[i] = -1;
    }
}

static bool has_exited(const struct resident *resident, siginfo_t *ret)
{
    *ret = (siginfo_t){0};
    return waitid(P_PID, (id_t)resident->leader, ret, WEXITED | WNOHANG | WNOWAIT) == 0 && ret->si_pid != 0;
}

static void clear_signals(const struct host *host)
{
    char bytes[64];

    while (read(host->signals, bytes, sizeof(bytes)) > 0) {
    }
}

/* Until it has exited, `seconds` at the most. */
static void wait_for_end(const struct host *host, struct resident *resident, double seconds)
{
    double until = stopwatch_now() + seconds;
    siginfo_t info;

    while (!has_exited(resident, &info)) {
        double left = until - stopwatch_now();
        struct pollfd events[] = {{.fd = host->signals, .events = POLLIN}, {.fd = resident->output, .events = POLLIN}};

        if (left <= 0)
            return;
        if (poll(events, ARRAY_LEN(events), (int)ceil(left * 1000)) <= 0)
            continue;
        clear_signals(host);
        read_output(resident);
    }
}

/* The process has exited, or is killed now, with all that it has started. */
static void reap_resident(struct resident *resident, bool is_out_of_time)
{
    siginfo_t info;

    if (!has_exited(resident, &info))
        kill(-resident->leader, SIGKILL);
    waitid(P_PID, (id_t)resident->leader, &info, WEXITED | WNOWAIT);
    resident->process_end = info.si_code == CLD_EXITED ? PROCESS_EXITED : PROCESS_SIGNALED;
    resident->code = info.si_status;
    if (is_out_of_time)
        resident->process_end = PROCESS_TIMED_OUT;
    read_output(resident);
    family_end(resident->leader);
    close_pipes(resident);
    resident->has_ended = true;
}

/* Who waits for a request sees the end of them. */
static void end_requests(struct resident *resident)
{
    if (resident->requests >= 0)
        close(resident->requests);
    resident->requests = -1;
}

static void end_resident(const struct host *host, struct resident *resident, bool is_out_of_time)
{
    if (resident->has_ended)
        return;
    if (!resident->is_asked) {
        end_requests(resident);
        wait_for_end(host, resident, GRACE);
    }
    kill(-resident->leader, SIGTERM);
    wait_for_end(host, resident, GRACE);
    reap_resident(resident, is_out_of_time);
}

static void look_at_ends(const struct host *host)
{
    siginfo_t info;

    for (size_t i = 0; i < host->residents.count; i++) {
        struct resident *resident = host->residents.items[i];

        if (resident->has_ended || !has_exited(resident, &info))
            continue;
        read_answers(resident); /* one that it gave last counts */
        reap_resident(resident, false);
        if (resident->is_asked)
            answer_question(resident, STAYING_ENDED, TEXT(""), false);
    }
}

static void look_at_clocks(const struct host *host)
{
    for (size_t i = 0; i < host->residents.count; i++) {
        struct resident *resident = host->residents.items[i];

        if (!resident->is_asked || stopwatch_now() < resident->deadline)
            continue;
        read_answers(resident); /* it may have come while this process waited for the end of another one */
        if (!resident->is_asked)
            continue;
        end_resident(host, resident, true);
        answer_question(resident, STAYING_ENDED, TEXT(""), false);
    }
}

static void free_resident(struct resident *resident)
{
    free((char *)resident->key.data);
    string_release(&resident->line);
    string_release(&resident->greeting);
    string_release(&resident->shown);
    free(resident);
}

/* ---- The start of a process ---- */

static char *make_pipe(const struct host *host, const char *name, int *ret)
{
    SCOPED_STRING(path);

    string_add_format(&path, "%s/%lu.%s", host->folder, host->started, name);
    if (mkfifo(path.data, S_IRUSR | S_IWUSR) != 0)
        return NULL;
    /* For reading and writing, so that neither side waits until the other one has opened it. */
    *ret = open(path.data, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    return *ret >= 0 ? string_take(&path) : NULL;
}

/* Line, folder and variables of the key; the list of variables is malloc'd. */
static void split_key(struct text key, const char **ret_line, const char **ret_folder, struct word_list *ret)
{
    const char *end = key.data + key.size, *at;

    *ret_line = key.data;
    *ret_folder = *ret_line + strlen(*ret_line) + 1;
    for (at = *ret_folder + strlen(*ret_folder) + 1; at < end; at += strlen(at) + 1)
        *VECTOR_APPEND(ret) = at;
    *VECTOR_APPEND(ret) = NULL;
}

static int spawn_resident(struct resident *resident, const char *command, const char *folder,
                          struct word_list *variables, struct error *err)
{
    char *here SCOPED_FREE = file_real_path(".");
    const char *const words[] = {"sh", "-c", command, NULL};
    const struct process_request request = {
        .arguments = words,
        .program = "/bin/sh",
        .folder = here != NULL && strcmp(here, folder) == 0 ? NULL : folder,
        .without_input = true,
    };
    char **const own_variables = environ;
    int output[2], rc;

    if (pipe(output) != 0)
        return error_set_errno(err, ERR_IO, "cannot start a process");
    fcntl(output[0], F_SETFD, FD_CLOEXEC);
    fcntl(output[1], F_SETFD, FD_CLOEXEC);
    fcntl(output[0], F_SETFL, O_NONBLOCK);
    resident->output = output[0];
    environ = (char **)variables->items;
    rc = process_spawn(&request, output[1], output[1], &resident->leader, err);
    environ = own_variables;
    close(output[1]);
    return rc;
}

static int start_resident(struct host *host, struct resident *resident, struct error *err)
{
    struct word_list variables SCOPED_ITEMS = {0};
    const char *line, *folder;
    char *requests SCOPED_FREE = NULL, *answers SCOPED_FREE = NULL, *command;
    int rc;

    requests = make_pipe(host, "requests", &resident->requests);
    answers = make_pipe(host, "answers", &resident->answers);
    if (requests == NULL || answers == NULL) {
        rc = error_set_errno(err, ERR_IO, "cannot create a pipe in '%s'", host->folder);
    } else {
        split_key(resident->key, &line, &folder, &variables);
        command = host->make_line(line, requests, answers);
        rc = spawn_resident(resident, command, folder, &variables, err);
        free(command);
    }
    return rc;
}

static void await_answer(struct resident *resident, double timeout)
{
    resident->is_asked = true;
    resident->asked_at = stopwatch_now();
    resident->deadline = timeout > 0 ? resident->asked_at + timeout : INFINITY;
}

static struct resident *new_resident(struct host *host, struct text key, int asked_by)
{
    struct resident *ret = memory_alloc_zero(1, sizeof(*ret));

    *ret = (struct resident){.key = {memory_copy(key.data, key.size), key.size},
                             .requests = -1,
                             .answers = -1,
                             .output = -1,
                             .asked_by = asked_by,
                             .deadline = INFINITY};
    host->started++;
    string_init(&ret->line);
    string_init(&ret->greeting);
    string_init(&ret->shown);
    return ret;
}

static struct resident *find_idle(const struct host *host, struct text key)
{
    for (size_t i = 0; i < host->residents.count; i++) {
        struct resident *resident = host->residents.items[i];

        if (resident->asked_by < 0 && !resident->has_ended && resident->key.size == key.size &&
            memcmp(resident->key.data, key.data, key.size) == 0)
            return resident;
    }
    return NULL;
}

/* ---- Questions ---- */

static void open_resident(struct host *host, struct client *client, struct text key, double timeout)
{
    struct resident *resident = find_idle(host, key);
    struct error why = {0};

    if (resident != NULL) {
        resident->asked_by = client->socket;
        client->resident = resident;
        answer_question(resident, STAYING_ANSWERED, (struct text){resident->greeting.data, resident->greeting.size},
                        false);
        return;
    }
    resident = new_resident(host, key, client->socket);
    if (start_resident(host, resident, &why) < 0) {
        send_reply(client->socket, &(struct staying_reply){.end = STAYING_NOT_STARTED},
                   (struct text){why.message, strlen(why.message)}, TEXT(""));
        close_pipes(resident);
        free_resident(resident);
        return;
    }
    *VECTOR_APPEND(&host->residents) = resident;
    client->resident = resident;
    await_answer(resident, timeout);
}

static void ask_resident(struct resident *resident, struct text request, double timeout)
{
    SCOPED_STRING(line);

    if (resident->has_ended) {
        answer_question(resident, STAYING_WAS_ENDED, TEXT(""), false);
        return;
    }
    string_add_text(&line, request);
    string_add_char(&line, '\n');
    await_answer(resident, timeout);
    /* Shorter than the pipe is large, which is empty: who waits for an answer has read all before. */
    if (write(resident->requests, line.data, line.size) != (ssize_t)line.size)
        resident->deadline = resident->asked_at;
}

static void drop_client(const struct host *host, struct client *client)
{
    struct resident *resident = client->resident;

    if (resident != NULL) {
        if (resident->is_asked)
            end_resident(host, resident, false);
        resident->is_asked = false;
        resident->asked_by = -1;
    }
    close(client->socket);
    client->socket = -1;
}

/* False: it is gone. */
static bool serve_client(struct host *host, struct client *client)
{
    struct staying_question question;
    bool is_served = false;
    char *bytes SCOPED_FREE = NULL;

    if (!socket_receive_all(client->socket, &question, sizeof(question)) || question.size > MOST_QUESTION)
        return false;
    bytes = memory_alloc_zero(question.size + 2, 1); /* so that it ends like a question to open a process */
    if (!socket_receive_all(client->socket, bytes, question.size))
        return false;
    if (question.kind == STAYING_OPEN && client->resident == NULL) {
        open_resident(host, client, (struct text){bytes, question.size}, question.timeout);
        is_served = true;
    } else if (question.kind == STAYING_ASK && client->resident != NULL && !client->resident->is_asked) {
        ask_resident(client->resident, (struct text){bytes, question.size}, question.timeout);
        is_served = true;
    } else if (client->resident != NULL) {
        end_resident(host, client->resident, false);
    }
    return is_served;
}

/* ---- The loop ---- */

static void forget_gone(struct host *host)
{
    size_t clients = 0, residents = 0, idle = 0;

    for (size_t i = 0; i < host->clients.count; i++)
        if (host->clients.items[i].socket >= 0)
            host->clients.items[clients++] = host->clients.items[i];
    host->clients.count = clients;
    /* The newest come last and are kept. */
    for (size_t i = host->residents.count; i-- > 0;) {
        struct resident *resident = host->residents.items[i];

        idle += resident->asked_by < 0 && !resident->has_ended;
        if (resident->asked_by < 0 && idle > MOST_IDLE)
            end_resident(host, resident, false);
    }
    for (size_t i = 0; i < host->residents.count; i++)
        if (host->residents.items[i]->asked_by < 0 && host->residents.items[i]->has_ended)
            free_resident(host->residents.items[i]);
        else
            host->residents.items[residents++] = host->residents.items[i];
    host->residents.count = residents;
}

static int time_to_wait(const struct host *host)
{
    double nearest = INFINITY;

    for (size_t i = 0; i < host->residents.count; i++)
        nearest = fmin(nearest, host->residents.items[i]->deadline);
    nearest = ceil((nearest - stopwatch_now()) * 1000);
    return isinf(nearest) ? -1 : nearest < 0 ? 0 : nearest < 1e9 ? (int)nearest : 1000000000;
}

static void accept_client(struct host *host)
{
    int connection = accept(host->listener, NULL, NULL);

    if (connection < 0)
        return;
    fcntl(connection, F_SETFD, FD_CLOEXEC);
    *VECTOR_APPEND(&host->clients) = (struct client){.socket = connection};
}

/* Waits for something to happen, and deals with it. False when the host has to end. */
static bool serve_once(struct host *host)
{
    size_t residents = host->residents.count, clients = host->clients.count;
    size_t count = 3 + 2 * residents + clients;
    struct pollfd *events = memory_alloc_zero(count, sizeof(*events)), *of_clients;
    bool goes_on;

    events[0] = (struct pollfd){.fd = host->stop, .events = POLLIN};
    events[1] = (struct pollfd){.fd = host->signals, .events = POLLIN};
    events[2] = (struct pollfd){.fd = host->listener, .events = POLLIN};
    for (size_t i = 0; i < residents; i++) {
        events[3 + 2 * i] = (struct pollfd){.fd = host->residents.items[i]->answers, .events = POLLIN};
        events[4 + 2 * i] = (struct pollfd){.fd = host->residents.items[i]->output, .events = POLLIN};
    }
    of_clients = events + 3 + 2 * residents;
    for (size_t i = 0; i < clients; i++)
        of_clients[i] = (struct pollfd){.fd = host->clients.items[i].socket, .events = POLLIN};
    if (poll(events, count, time_to_wait(host)) < 0)
        for (size_t i = 0; i < count; i++)
            events[i].revents = 0;
    goes_on = events[0].revents == 0 && is_told_to_end == 0;
    clear_signals(host);
    for (size_t i = 0; goes_on && i < residents; i++) {
        if (events[4 + 2 * i].revents != 0)
            read_output(host->residents.items[i]);
        if (events[3 + 2 * i].revents != 0)
            read_answers(host->residents.items[i]);
    }
    if (goes_on) {
        look_at_ends(host);
        look_at_clocks(host);
    }
    for (size_t i = 0; goes_on && i < clients; i++)
        if (of_clients[i].revents != 0 && !serve_client(host, &host->clients.items[i]))
            drop_client(host, &host->clients.items[i]);
    if (goes_on && events[2].revents != 0)
        accept_client(host);
    forget_gone(host);
    free(events);
    return goes_on;
}

/* All at a time: none has to wait for the others. */
static void end_all(const struct host *host)
{
    for (size_t i = 0; i < host->residents.count; i++) {
        struct resident *resident = host->residents.items[i];

        end_requests(resident);
        if (resident->is_asked && !resident->has_ended)
            kill(-resident->leader, SIGTERM);
    }
    for (size_t i = 0; i < host->residents.count; i++)
        end_resident(host, host->residents.items[i], false);
}

void staying_serve(int listener, int stop, const char *folder, staying_make_line *make_line)
{
    struct host host = {.listener = listener, .stop = stop, .folder = folder, .make_line = make_line};

    host.signals = watch_signals();
    if (host.signals < 0)
        return;
    while (serve_once(&host)) {
    }
    end_all(&host);
}
