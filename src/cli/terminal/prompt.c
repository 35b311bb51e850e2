/* cli/terminal/prompt.c: see prompt.h. */
#include "cli/terminal/prompt.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/interrupt.h"

static int write_all(const char *data, size_t size, struct error *err)
{
    while (size > 0) {
        ssize_t written = write(STDOUT_FILENO, data, size);
        if (written < 0 && errno != EINTR)
            return error_set_errno(err, ERR_IO, "cannot write to standard output");
        if (written > 0) {
            data += written;
            size -= (size_t)written;
        }
    }
    return 0;
}

/* Waits for input. A signal, also an earlier one, makes interrupt_descriptor() readable. */
static int wait_for_input(struct error *err)
{
    struct pollfd ready[] = {
        {.fd = STDIN_FILENO, .events = POLLIN},
        {.fd = interrupt_descriptor(), .events = POLLIN},
    };

    while (poll(ready, 2, -1) < 0) {
        if (errno != EINTR)
            return error_set_errno(err, ERR_IO, "cannot wait for standard input");
    }
    return interrupt_pending() ? error_set(err, ERR_INTERRUPTED, "interrupted") : 0;
}

/* Reads byte by byte, because input after the line belongs to the next reader. */
static int read_line(struct string_builder *ret, struct error *err)
{
    for (size_t size_before = ret->size;;) {
        char c;
        int rc = wait_for_input(err);
        if (rc < 0)
            return rc;
        ssize_t got = read(STDIN_FILENO, &c, 1);
        if (got < 0 && errno != EINTR && errno != EAGAIN)
            return error_set_errno(err, ERR_IO, "cannot read standard input");
        if (got == 0 && ret->size == size_before)
            return error_set(err, ERR_MISSING, "end of standard input, but an answer is required: 'p' or 'f'");
        if (got == 0 || (got > 0 && c == '\n'))
            return 0;
        if (got > 0)
            string_add_char(ret, c);
    }
}

int prompt_ask(const char *question, struct string_builder *ret, struct error *err)
{
    struct error ignored;
    int rc = write_all(question, strlen(question), err);

    if (rc < 0)
        return rc;
    rc = read_line(ret, err);
    if (rc < 0)
        write_all("\n", 1, &ignored); /* the error message begins on a new line */
    return rc;
}
