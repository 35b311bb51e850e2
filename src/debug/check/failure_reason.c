/* debug/check/failure_reason.c: see failure_reason.h.
 *
 * The file begins with a mark that the environment tells, too: on another machine the same path may lead to something
 * else.
 */
#include "debug/check/failure_reason.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "backend/failing_operator.h"
#include "base/file/scratch.h"
#include "base/hash.h"
#include "base/text/text.h"

#define VARIABLE "POLYGRAPHY_FAILURE"
#define MARK_SIZE (HASH_TEXT_SIZE - 1)

static void make_mark(char ret[HASH_TEXT_SIZE])
{
    static atomic_int count;
    struct {
        struct timespec now;
        pid_t process;
        int count;
    } what;

    memset(&what, 0, sizeof(what));
    clock_gettime(CLOCK_REALTIME, &what.now);
    what.process = getpid();
    what.count = atomic_fetch_add(&count, 1);
    hash_to_text(hash_bytes(&what, sizeof(what)), ret);
}

/* ---- The debug tool's end ---- */

bool failure_reason_open(struct failure_reason *reason)
{
    char mark[HASH_TEXT_SIZE];

    reason->fd = scratch_file_in_memory("polygraphy_failure");
    if (reason->fd < 0)
        return false;
    make_mark(mark);
    snprintf(reason->variable, sizeof(reason->variable), VARIABLE "=%s/proc/%ld/fd/%d", mark, (long)getpid(),
             reason->fd);
    if (write(reason->fd, mark, MARK_SIZE) == MARK_SIZE)
        return true;
    failure_reason_take(reason, NULL);
    return false;
}

/* The last line that has come to an end. */
static void take_last_line(int fd, char ret[PROCESS_REASON_SIZE])
{
    char text[1024];
    struct stat status;
    off_t begin = 0;
    ssize_t size;
    char *line;

    ret[0] = '\0';
    if (fstat(fd, &status) != 0 || status.st_size <= (off_t)MARK_SIZE)
        return;
    begin = status.st_size > (off_t)sizeof(text) - 1 ? status.st_size - (off_t)sizeof(text) + 1 : 0;
    begin = begin < (off_t)MARK_SIZE ? (off_t)MARK_SIZE : begin;
    size = pread(fd, text, sizeof(text) - 1, begin);
    if (size <= 0 || text[size - 1] != '\n')
        return;
    text[size - 1] = '\0';
    line = strrchr(text, '\n');
    snprintf(ret, PROCESS_REASON_SIZE, "%.*s", PROCESS_REASON_SIZE - 1, line != NULL ? line + 1 : text);
}

void failure_reason_take(struct failure_reason *reason, char ret[PROCESS_REASON_SIZE])
{
    if (reason->fd < 0)
        return;
    if (ret != NULL)
        take_last_line(reason->fd, ret);
    close(reason->fd);
    reason->fd = -1;
}

/* ---- The check's end ---- */

static int open_for_check(void)
{
    const char *value = getenv(VARIABLE);
    char mark[MARK_SIZE];
    struct stat status;
    int fd;

    if (value == NULL || strlen(value) <= MARK_SIZE)
        return -1;
    fd = open(value + MARK_SIZE, O_RDWR | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
        pread(fd, mark, sizeof(mark), 0) == (ssize_t)sizeof(mark) && memcmp(mark, value, sizeof(mark)) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

int failure_reason_descriptor(void)
{
    static pid_t opened_by; /* a forked copy of a program may run as a check of its own */
    static int fd;

    if (opened_by != getpid()) {
        opened_by = getpid();
        fd = open_for_check();
    }
    return fd;
}

void failure_reason_tell(const struct error *err)
{
    int fd = failure_reason_descriptor();
    char line[PROCESS_REASON_SIZE] = "";
    struct text operator= {0};
    int length = 0;

    if (fd < 0)
        return;
    if (err->foreign_code < 0)
        length = snprintf(line, sizeof(line), "signal %d (%s)", -err->foreign_code, strsignal(-err->foreign_code));
    else if (err->foreign_code > 0)
        length = snprintf(line, sizeof(line), "error %d of the runtime", err->foreign_code);
    if (failing_operator(err->message, &operator) && length < (int)sizeof(line))
        length += snprintf(line + length, sizeof(line) - (size_t)length, "%s" TEXT_FORMAT, length > 0 ? ", " : "",
                           TEXT_ARGS(operator));
    if (length >= (int)sizeof(line))
        length = (int)sizeof(line) - 1;
    line[length] = '\n';
    if (length > 0 && write(fd, line, (size_t)length + 1) < 0) {
        /* Then the debug tool knows the exit code alone. */
    }
}
