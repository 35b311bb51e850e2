/* base/process_capture.c: keeping what a child writes to one stream. */
#include "base/process_capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"

#define PIECE ((size_t)65536) /* what a pipe holds on Linux */

void capture_init(struct capture *capture, int fd)
{
    *capture = (struct capture){.fd = fd, .spill = -1};
    string_init(&capture->memory);
}

static void close_pipe(struct capture *capture)
{
    if (capture->fd >= 0)
        close(capture->fd);
    capture->fd = -1;
}

/* A file that has no name any more; -1 when there cannot be one. */
static int open_unnamed(void)
{
    const char *folder = getenv("TMPDIR");
    char *name = file_join(folder && folder[0] ? folder : "/tmp", "polygraphy-output-XXXXXX");

    int fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0)
        unlink(name);
    free(name);
    return fd;
}

/* Moves what is in memory to the file. */
static void spill(struct capture *capture)
{
    const char *data = capture->memory.data;
    size_t left = capture->memory.size;
    bool first = capture->spill < 0;

    if (first)
        capture->spill = open_unnamed();
    while (capture->spill >= 0 && left > 0) {
        ssize_t done = write(capture->spill, data, left);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            break;
        data += done;
        left -= (size_t)done;
    }
    capture->truncated = left > 0;
    if (first && capture->truncated) { /* then memory holds more than the file */
        if (capture->spill >= 0)
            close(capture->spill);
        capture->spill = -1;
        return;
    }
    capture->spilled += capture->memory.size - left;
    string_clear(&capture->memory);
}

static void keep(struct capture *capture, size_t size)
{
    if (capture->truncated)
        return;
    capture->memory.size += size;
    capture->memory.data[capture->memory.size] = '\0';
    if (capture->spill >= 0 || capture->memory.size > PROCESS_CAPTURE_MEMORY)
        spill(capture);
}

void capture_read(struct capture *capture)
{
    ssize_t got = read(capture->fd, string_reserve(&capture->memory, PIECE), PIECE);

    if (got > 0)
        keep(capture, (size_t)got);
    else if (got == 0 || (errno != EINTR && errno != EAGAIN))
        close_pipe(capture);
}

void capture_drain(struct capture *capture)
{
    int left = 0;

    if (capture->fd < 0)
        return;
    ioctl(capture->fd, FIONREAD, &left);
    while (left > 0) {
        size_t size = (size_t)left < PIECE ? (size_t)left : PIECE;
        ssize_t got = read(capture->fd, string_reserve(&capture->memory, size), size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        keep(capture, (size_t)got);
        left -= (int)got;
    }
    close_pipe(capture);
}

void capture_finish(struct capture *capture, struct process_output *ret)
{
    *ret = (struct process_output){.fd = -1, .truncated = capture->truncated};
    if (capture->spill < 0) {
        ret->size = capture->memory.size;
        ret->data = string_take(&capture->memory);
        return;
    }
    void *data = mmap(NULL, capture->spilled, PROT_READ, MAP_SHARED, capture->spill, 0);
    if (data == MAP_FAILED) {
        ret->data = string_take(&capture->memory); /* empty */
        ret->truncated = true;
        return;
    }
    ret->data = data;
    ret->size = capture->spilled;
    ret->fd = capture->spill;
    capture->spill = -1;
}

void capture_release(struct capture *capture)
{
    close_pipe(capture);
    if (capture->spill >= 0)
        close(capture->spill);
    capture->spill = -1;
    string_release(&capture->memory);
}
