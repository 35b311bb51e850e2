/* base/process/error_file.c: see error_file.h. */
#include "base/process/error_file.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file/scratch.h"
#include "base/hash.h"

#define VARIABLE "POLYGRAPHY_FAILURE"
#define MARK_SIZE (HASH_TEXT_SIZE - 1)

/* ---- The parent's end ---- */

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

bool error_file_open(struct error_file *file)
{
    char mark[HASH_TEXT_SIZE];

    file->fd = scratch_file_in_memory("polygraphy_failure");
    if (file->fd < 0)
        return false;
    make_mark(mark);
    snprintf(file->variable, sizeof(file->variable), VARIABLE "=%s/proc/%ld/fd/%d", mark, (long)getpid(), file->fd);
    if (write(file->fd, mark, MARK_SIZE) == MARK_SIZE)
        return true;
    error_file_close(file);
    return false;
}

bool error_file_read(const struct error_file *file, size_t index, struct error_record *ret)
{
    off_t at = (off_t)(MARK_SIZE + index * sizeof(*ret));

    if (file->fd < 0 || pread(file->fd, ret, sizeof(*ret), at) != (ssize_t)sizeof(*ret) || ret->size != sizeof(*ret))
        return false;
    ret->error.message[sizeof(ret->error.message) - 1] = '\0';
    return true;
}

void error_file_close(struct error_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}

/* ---- The child's end ---- */

static atomic_int attached = -1;

static int open_named_file(void)
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

void error_file_attach(void)
{
    int before = atomic_exchange(&attached, open_named_file());

    if (before >= 0)
        close(before);
}

void error_file_write(enum record_kind kind, const struct error *err)
{
    int fd = atomic_load(&attached);
    struct error_record record;

    if (fd < 0)
        return;
    memset(&record, 0, sizeof(record));
    record.size = sizeof(record);
    record.kind = kind;
    record.process = getpid();
    record.error = *err;
    if (write(fd, &record, sizeof(record)) < 0) {
        /* Then the parent only gets the exit code. */
    }
}
