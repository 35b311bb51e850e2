/* base/process/capture.c: see capture.h. */
#define _GNU_SOURCE /* mkostemp, pipe2 */
#include "base/process/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "base/process/socket.h"
#include "base/system.h"

#define PIECE ((size_t)65536) /* what a pipe holds on Linux */

void capture_init(struct capture *capture)
{
    *capture = (struct capture){.fd = -1, .spill = -1};
    string_init(&capture->memory);
}

int capture_open(struct capture *capture, int *ret_end, struct error *err)
{
    int ends[2];
#ifdef __linux__
    int rc = pipe2(ends, O_CLOEXEC);
#else
    int rc = pipe(ends);
    for (int i = 0; rc == 0 && i < 2; i++)
        fcntl(ends[i], F_SETFD, FD_CLOEXEC);
#endif
    if (rc != 0)
        return error_set_errno(err, ERR_IO, "cannot capture the output of a command");
    for (int i = 0; i < 2; i++) { /* if standard streams are closed, avoid the descriptors 0 to 2 */
        if (ends[i] <= STDERR_FILENO) {
            int higher = fcntl(ends[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
            close(ends[i]);
            ends[i] = higher;
        }
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK); /* our end only: the child expects blocking writes */
    capture->fd = ends[0];
    *ret_end = ends[1];
    return 0;
}

static void close_pipe(struct capture *capture)
{
    if (capture->fd >= 0)
        close(capture->fd);
    capture->fd = -1;
}

/* Creates an unlinked temporary file; -1 on failure. */
static int open_unnamed(void)
{
    char *name SCOPED_FREE = file_join(system_temporary_folder(), "polygraphy-output-XXXXXX");
    int fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0)
        unlink(name);
    return fd;
}

/* The offset in the file of byte `index` of the stream; `ret_room` gets the number of contiguous bytes from there. */
static size_t find_stream_place(uint64_t index, size_t *ret_room)
{
    size_t in_half = (size_t)(index % PROCESS_CAPTURE_END);

    *ret_room = PROCESS_CAPTURE_END - in_half;
    return index < PROCESS_CAPTURE_END ? in_half : PROCESS_CAPTURE_END + in_half;
}

/* Moves what is in memory to the file. */
static void spill_to_file(struct capture *capture)
{
    const char *data = capture->memory.data;
    size_t left = capture->memory.size;
    bool first = capture->spill < 0;

    if (first)
        capture->spill = open_unnamed();
    while (capture->spill >= 0 && left > 0) {
        size_t room, place = find_stream_place(capture->spilled, &room);
        ssize_t done = pwrite(capture->spill, data, left < room ? left : room, (off_t)place);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            break;
        capture->spilled += (size_t)done;
        data += done;
        left -= (size_t)done;
    }
    capture->truncated = left > 0;
    if (first && capture->truncated) { /* then memory contains more than the file */
        if (capture->spill >= 0)
            close(capture->spill);
        capture->spill = -1;
        capture->spilled = 0;
        return;
    }
    string_clear(&capture->memory);
}

static void keep_captured_bytes(struct capture *capture, size_t size)
{
    if (capture->truncated)
        return;
    capture->memory.size += size;
    capture->memory.data[capture->memory.size] = '\0';
    if (capture->spill >= 0 || capture->memory.size > PROCESS_CAPTURE_MEMORY)
        spill_to_file(capture);
}

void capture_read(struct capture *capture)
{
    ssize_t got = read(capture->fd, string_reserve(&capture->memory, PIECE), PIECE);

    if (got > 0)
        keep_captured_bytes(capture, (size_t)got);
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
        keep_captured_bytes(capture, (size_t)got);
        left -= (int)got;
    }
    close_pipe(capture);
}

/* Writes both ends in stream order to another file. `kept` is the content of the file; false if the disk is full. */
static bool put_in_order(const struct capture *capture, const char *kept, struct process_output *ret)
{
    const char *second = kept + PROCESS_CAPTURE_END;
    size_t oldest = (size_t)(capture->spilled % PROCESS_CAPTURE_END);
    uint64_t left_out = capture->spilled - 2 * PROCESS_CAPTURE_END;
    int fd = open_unnamed();
    void *data = MAP_FAILED;
    char note[64];

    int length = snprintf(note, sizeof(note), "\n[... %" PRIu64 " bytes left out ...]\n", left_out);
    size_t tail = PROCESS_CAPTURE_END + (size_t)length, size = tail + PROCESS_CAPTURE_END;
    if (fd >= 0 && descriptor_write_all(fd, kept, PROCESS_CAPTURE_END) &&
        descriptor_write_all(fd, note, (size_t)length) &&
        descriptor_write_all(fd, second + oldest, PROCESS_CAPTURE_END - oldest) &&
        descriptor_write_all(fd, second, oldest))
        data = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    if (data == MAP_FAILED) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    *ret = (struct process_output){
        .data = data, .size = size, .fd = fd, .left_out = left_out, .head = PROCESS_CAPTURE_END, .tail = tail};
    return true;
}

void capture_finish(struct capture *capture, struct process_output *ret)
{
    bool has_middle = capture->spilled > 2 * PROCESS_CAPTURE_END;
    size_t size = has_middle ? 2 * PROCESS_CAPTURE_END : (size_t)capture->spilled;

    *ret = (struct process_output){.fd = -1, .truncated = capture->truncated};
    if (capture->spill < 0) {
        ret->size = capture->memory.size;
        ret->data = string_take(&capture->memory);
        return;
    }
    void *data = mmap(NULL, size, PROT_READ, MAP_SHARED, capture->spill, 0);
    if (data == MAP_FAILED) {
        ret->data = string_take(&capture->memory); /* empty */
        ret->truncated = true;
        return;
    }
    if (has_middle && !capture->truncated && put_in_order(capture, data, ret)) {
        munmap(data, size);
        return;
    }
    if (has_middle) { /* the start of the end is unknown: keep the beginning only */
        munmap((char *)data + PROCESS_CAPTURE_END, PROCESS_CAPTURE_END);
        size = PROCESS_CAPTURE_END;
        ret->truncated = true;
    }
    ret->data = data;
    ret->size = size;
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

void process_output_release(struct process_output *output)
{
    if (output->data && output->fd >= 0) {
        munmap((void *)output->data, output->size);
        close(output->fd);
    } else {
        free((void *)output->data);
    }
    *output = (struct process_output){.fd = -1};
}
