/* debug/check/caller.c: see caller.h. */
#include "debug/check/caller.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "base/process/socket.h"
#include "base/system.h"
#include "format/json/writer.h"

#define LONGEST_ANSWER ((size_t)64 << 20) /* bytes */

static int refuse_closed(int fd, struct error *err)
{
    return error_set(err, ERR_IO, "--check-fd %d: the process that answers checks has closed its end", fd);
}

static int send_request(int fd, const struct caller_request *request, struct error *err)
{
    static const char *const keys[CANDIDATE_FILES] = {[CANDIDATE_ARTIFACT] = "artifact",
                                                      [CANDIDATE_INPUTS] = "inputs",
                                                      [CANDIDATE_GOLDEN] = "golden",
                                                      [CANDIDATE_INFORMATION] = "information"};
    struct json_writer line SCOPED(json_writer_release);
    int rc = 0;

    json_writer_init(&line);
    line.compact = true;
    json_writer_begin_object(&line);
    for (size_t i = 0; i < CANDIDATE_FILES; i++)
        json_writer_add_string(&line, keys[i], request->files.items[i]);
    json_writer_add_string(&line, "disabled", request->disabled);
    json_writer_add_integer(&line, "iteration", request->iteration);
    json_writer_end_object(&line);
    string_add_char(&line.text, '\n');
    if (!socket_send_all(fd, line.text.data, line.text.size))
        rc = refuse_closed(fd, err);
    return rc;
}

/* Waits until there is something to read, or a signal asks this process to end. */
static int wait_for_answer(int fd, struct error *err)
{
    for (;;) {
        struct pollfd wanted[] = {{.fd = fd, .events = POLLIN}, {.fd = interrupt_descriptor(), .events = POLLIN}};

        if (interrupt_pending())
            return error_set(err, ERR_INTERRUPTED, "interrupted");
        if (poll(wanted, ARRAY_LEN(wanted), -1) < 0 && errno != EINTR)
            return error_set_errno(err, ERR_IO, "--check-fd %d: cannot wait for a verdict", fd);
        if (wanted[0].revents != 0)
            return 0;
    }
}

static int receive_line(int fd, struct string_builder *ret, struct error *err)
{
    char bytes[4096];

    while (ret->size == 0 || ret->data[ret->size - 1] != '\n') {
        ssize_t count;
        int rc = wait_for_answer(fd, err);

        if (rc < 0)
            return rc;
        count = read(fd, bytes, sizeof(bytes));
        if (count < 0 && errno != EINTR && errno != ECONNRESET)
            return error_set_errno(err, ERR_IO, "--check-fd %d: cannot read a verdict", fd);
        if (count == 0 || (count < 0 && errno == ECONNRESET))
            return refuse_closed(fd, err);
        if (count > 0)
            string_add_text(ret, (struct text){bytes, (size_t)count});
        if (ret->size > LONGEST_ANSWER)
            return error_set(err, ERR_IO, "--check-fd %d: an answer is longer than %zu bytes", fd, LONGEST_ANSWER);
    }
    return 0;
}

static int read_answer(int fd, const struct string_builder *line, struct process_result *ret, struct error *err)
{
    json_t *root = json_loadb(line->data, line->size, 0, NULL);
    const json_t *code = json_object_get(root, "exit_code"), *output = json_object_get(root, "output");
    int rc = 0;

    if (!json_is_integer(code) || json_integer_value(code) < 0 || json_integer_value(code) > 255) {
        rc = error_set(err, ERR_IO,
                       "--check-fd %d: the answer is not a line {\"exit_code\": N, \"output\": \"text\"} with N from 0 "
                       "to 255",
                       fd);
        goto done;
    }
    ret->code = (int)json_integer_value(code);
    if (json_is_string(output)) {
        ret->out.size = json_string_length(output);
        ret->out.data = memory_copy(json_string_value(output), ret->out.size);
    }
done:
    json_decref(root);
    return rc;
}

int caller_ask(int fd, const struct caller_request *request, struct process_result *ret, struct error *err)
{
    double started = stopwatch_now();
    SCOPED_STRING(line);
    int rc = send_request(fd, request, err);

    *ret = (struct process_result){.end = PROCESS_EXITED, .out.fd = -1, .error_out.fd = -1};
    if (rc == 0)
        rc = receive_line(fd, &line, err);
    if (rc == 0)
        rc = read_answer(fd, &line, ret, err);
    ret->seconds = stopwatch_now() - started;
    return rc;
}
