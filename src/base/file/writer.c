/* base/file/writer.c: writes files atomically. */
#define _GNU_SOURCE /* copy_file_range, renameat2, sync_file_range */
#include "base/file/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#endif

#include "base/interrupt.h"
#include "base/memory.h"

#define BUFFER_SIZE ((size_t)128 << 10)
#define SYNC_PIECE ((uint64_t)4 << 20)
#define COPY_PIECE ((size_t)1 << 30) /* the kernel refuses more than 2 GiB at once */

/* The descriptor of the standard stream that `destination` is, as with /dev/stdout; -1 if it is none. Opening it again
 * would overwrite a regular file from its start. */
static int standard_stream(const struct stat *destination)
{
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
        struct stat status;
        if (fstat(fd, &status) == 0 && status.st_dev == destination->st_dev && status.st_ino == destination->st_ino)
            return fd;
    }
    return -1;
}

static int open_directly(struct file_writer *writer, const char *path, int stream, struct error *err)
{
    writer->fd = stream >= 0 ? fcntl(stream, F_DUPFD_CLOEXEC, 0) : open(path, O_WRONLY | O_CLOEXEC);
    if (writer->fd < 0)
        return error_set_errno(err, ERR_IO, "cannot write to '%s'", path);
    writer->path = memory_strdup(path);
    return 0;
}

/* The temporary file is created with the permissions of the file that it replaces, so that its content is never more
 * accessible. */
static int open_temporary(struct file_writer *writer, const char *path, const struct stat *replaced, struct error *err)
{
    mode_t mode = replaced ? replaced->st_mode & 0777 : 0666;

    writer->path = file_follow_links(path);
    if (!writer->path)
        return error_set_errno(err, ERR_IO, "cannot write '%s'", path);

    int rc = file_make_parent_folders(writer->path, err);
    if (rc < 0)
        return rc;
    for (int attempt = 0; attempt < 100; attempt++) {
        char *name = file_temporary_name(writer->path);
        writer->fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode); /* read by fill_empty_file() */
        if (writer->fd >= 0) {
            writer->temporary = name;
            interrupt_remove_at_exit(name);
            break;
        }
        free(name);
        if (errno != EEXIST)
            break;
    }
    if (writer->fd < 0)
        return error_set_errno(err, ERR_IO, "cannot create a temporary file next to '%s'", writer->path);
    if (replaced && fchmod(writer->fd, replaced->st_mode & 07777) != 0)
        return error_set_errno(err, ERR_IO, "cannot set the mode of the new '%s' to that of the old one", writer->path);
    return 0;
}

int file_writer_open_like(struct file_writer *writer, const char *path, const struct stat *like, struct error *err)
{
    struct stat status;
    bool exists = stat(path, &status) == 0;
    size_t length = strlen(path);
    int rc;

    *writer = (struct file_writer){.fd = -1};
    if (length == 0)
        return error_set(err, ERR_INVALID, "the name of the file to write is empty");
    if (exists ? S_ISDIR(status.st_mode) : path[length - 1] == '/')
        return error_set(err, ERR_IO, "cannot write '%s': it is a folder", path);

    int stream = exists ? standard_stream(&status) : -1;
    if (stream >= 0 || (exists && !S_ISREG(status.st_mode)))
        rc = open_directly(writer, path, stream, err);
    else
        rc = open_temporary(writer, path, exists ? &status : like, err);
    if (rc < 0)
        file_writer_release(writer);
    else
        writer->buffer = memory_alloc(BUFFER_SIZE);
    return rc;
}

int file_writer_open(struct file_writer *writer, const char *path, struct error *err)
{
    return file_writer_open_like(writer, path, NULL, err);
}

int file_writer_open_regular(struct file_writer *writer, const char *path, struct error *err)
{
    int rc = file_writer_open(writer, path, err);

    if (rc < 0 || writer->temporary != NULL)
        return rc;
    file_writer_release(writer);
    return error_set(err, ERR_UNSUPPORTED, "'%s' is not a regular file: this format cannot be written to a pipe", path);
}

static int write_whole_buffer(struct file_writer *writer, const char *data, size_t size, struct error *err)
{
    while (size > 0) {
        ssize_t done = write(writer->fd, data, size < COPY_PIECE ? size : COPY_PIECE);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return error_set_errno(err, ERR_IO, "cannot write '%s'", writer->path);
        data += done;
        size -= (size_t)done;
    }
    return 0;
}

int file_writer_flush(struct file_writer *writer, struct error *err)
{
    size_t size = writer->buffered;

    writer->buffered = 0;
    return write_whole_buffer(writer, writer->buffer, size, err);
}

int file_writer_add(struct file_writer *writer, const void *data, size_t size, struct error *err)
{
    int rc = 0;

    if (size > BUFFER_SIZE - writer->buffered)
        rc = file_writer_flush(writer, err);
    if (rc < 0)
        return rc;
    if (size > BUFFER_SIZE) {
        rc = write_whole_buffer(writer, data, size, err);
    } else if (size > 0) {
        memcpy(writer->buffer + writer->buffered, data, size);
        writer->buffered += size;
    }
    if (rc == 0)
        writer->written += size;
    return rc;
}

#ifdef __linux__
typedef ssize_t kernel_copy(int to, int from, off_t *offset, size_t size);

static ssize_t copy_range(int to, int from, off_t *offset, size_t size)
{
    return copy_file_range(from, offset, to, NULL, size, 0);
}

/* If the file system supports it, clones a whole file: both share their blocks until one of them is written to. */
static bool share_blocks(struct file_writer *writer, int fd, uint64_t offset, uint64_t size)
{
    struct stat source;

    return writer->written == 0 && offset == 0 && size > 0 && fstat(fd, &source) == 0 &&
           size == (uint64_t)source.st_size && ioctl(writer->fd, FICLONE, fd) == 0 &&
           lseek(writer->fd, (off_t)size, SEEK_SET) == (off_t)size;
}

/* Copies until `*size` is 0 or the call fails. The error is ignored: the next, simpler method reports real errors. */
static void copy_with(kernel_copy *copy, int to, int from, off_t *offset, uint64_t *size)
{
    while (*size > 0) {
        ssize_t done = copy(to, from, offset, *size < COPY_PIECE ? (size_t)*size : COPY_PIECE);
        if (done <= 0)
            return;
        *size -= (uint64_t)done;
    }
}
#endif

int file_writer_copy(struct file_writer *writer, int fd, uint64_t offset, uint64_t size, struct error *err)
{
    if (offset > INT64_MAX || size > INT64_MAX - offset)
        return error_set(err, ERR_INVALID, "cannot copy into '%s': the size is larger than any file", writer->path);
    int rc = file_writer_flush(writer, err);
    if (rc < 0)
        return rc;

    off_t at = (off_t)offset;
    uint64_t left = size;
#ifdef __linux__
    if (share_blocks(writer, fd, offset, size)) {
        writer->written += size;
        return 0;
    }
    copy_with(copy_range, writer->fd, fd, &at, &left);
    copy_with(sendfile, writer->fd, fd, &at, &left);
#endif
    while (left > 0) {
        ssize_t got = pread(fd, writer->buffer, left < BUFFER_SIZE ? (size_t)left : BUFFER_SIZE, at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_set_errno(err, ERR_IO, "cannot read the source of the copy into '%s'", writer->path);
        if (got == 0)
            return error_set(err, ERR_IO, "cannot copy into '%s': the source file is %llu bytes too short",
                             writer->path, (unsigned long long)left);
        rc = write_whole_buffer(writer, writer->buffer, (size_t)got, err);
        if (rc < 0)
            return rc;
        at += got;
        left -= (uint64_t)got;
    }
    writer->written += size;
    return 0;
}

int file_writer_overwrite(struct file_writer *writer, uint64_t offset, const void *data, size_t size, struct error *err)
{
    const char *from = data;
    int rc = file_writer_flush(writer, err);

    if (rc < 0)
        return rc;
    if (!writer->temporary)
        return error_set(err, ERR_UNSUPPORTED, "'%s' is not a regular file: written bytes cannot be changed",
                         writer->path);
    if (offset > writer->written || size > writer->written - offset)
        return error_set(err, ERR_INVALID, "cannot replace %zu bytes at byte %llu of '%s': they were not written yet",
                         size, (unsigned long long)offset, writer->path);
    while (size > 0) {
        ssize_t done = pwrite(writer->fd, from, size < COPY_PIECE ? size : COPY_PIECE, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return error_set_errno(err, ERR_IO, "cannot write '%s'", writer->path);
        from += done;
        offset += (uint64_t)done;
        size -= (size_t)done;
    }
    return 0;
}

void file_writer_begin_sync(struct file_writer *writer)
{
#ifdef SYNC_FILE_RANGE_WRITE
    uint64_t end = writer->written - writer->buffered;

    if (!writer->temporary || end - writer->syncing < SYNC_PIECE)
        return;
    sync_file_range(writer->fd, (off_t)writer->syncing, (off_t)(end - writer->syncing), SYNC_FILE_RANGE_WRITE);
    writer->syncing = end; /* errors are reported by fsync() */
#else
    (void)writer;
#endif
}

/* Makes the new name in the folder of `path` durable. File systems that do not support it are not an error. */
static int sync_folder(const char *path, struct error *err)
{
    char *folder SCOPED_FREE = file_folder(path);
    int rc = 0;

    int fd = open(folder, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fsync(fd) != 0 && errno == EIO)
        rc = error_set_errno(err, ERR_IO, "cannot sync '%s' to disk", folder);
    if (fd >= 0)
        close(fd);
    return rc;
}

int file_sync_all(const char *folder, struct error *err)
{
    int fd = open(folder, O_RDONLY | O_CLOEXEC), rc = 0;

#ifdef __linux__
    if (fd < 0 || syncfs(fd) != 0)
        rc = error_set_errno(err, ERR_IO, "cannot sync '%s' to disk", folder);
#else
    sync();
#endif
    if (fd >= 0)
        close(fd);
    return rc;
}

/* Renaming over a file makes ext4 flush the new one at once, which costs milliseconds that only durable files need.
 * Exchanging the two names avoids that; the old file is then removed under the temporary name. */
static int put_in_place(const struct file_writer *writer, enum file_durability durability)
{
#ifdef RENAME_EXCHANGE
    if (durability == FILE_INTERMEDIATE &&
        renameat2(AT_FDCWD, writer->temporary, AT_FDCWD, writer->path, RENAME_EXCHANGE) == 0)
        return unlink(writer->temporary);
#endif
    return rename(writer->temporary, writer->path);
}

/* Opens the empty file to be filled in place; -1 if the destination is to be replaced. A locked empty file was created
 * by file_lock(): its waiters expect a replacement. */
static int open_empty_file(const char *path)
{
    struct stat status;

    int fd = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return -1;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0 &&
        (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK))
        return fd;
    close(fd);
    return -1;
}

/* A script that created an empty file for us (mktemp) may have it open and read it through that descriptor, so the file
 * keeps its inode. The complete content is copied by the kernel; if that fails, the file is truncated to empty again.
 * Only a process killed during the copy leaves a partial file. */
static int fill_empty_file(const struct file_writer *writer, int fd, enum file_durability durability, struct error *err)
{
    struct file_writer filled = {.fd = fd, .path = writer->path, .buffer = writer->buffer};
    int rc = file_writer_copy(&filled, writer->fd, 0, writer->written, err);

    if (rc == 0 && durability == FILE_DURABLE && fsync(fd) != 0)
        rc = error_set_errno(err, ERR_IO, "cannot sync '%s' to disk", writer->path);
    if (rc < 0)
        (void)!ftruncate(fd, 0);
    if (close(fd) != 0 && errno != EINTR && rc == 0)
        rc = error_set_errno(err, ERR_IO, "cannot write '%s'", writer->path);
    return rc;
}

/* Syncs and closes a temporary file, or a destination that was written directly; nothing is renamed yet. */
static int finish_descriptor(struct file_writer *writer, enum file_durability durability, struct error *err)
{
    int rc = 0, fd = writer->fd;

    /* EINVAL, EROFS: a pipe or terminal, which cannot be synced. */
    if (durability == FILE_DURABLE && fsync(fd) != 0 && errno != EINVAL && errno != EROFS)
        rc = error_set_errno(err, ERR_IO, "cannot sync '%s' to disk", writer->path);
    writer->fd = -1;
    if (close(fd) != 0 && errno != EINTR && rc == 0) /* a network file system may report a full disk only now */
        rc = error_set_errno(err, ERR_IO, "cannot write '%s'", writer->path);
    return rc;
}

int file_writer_commit(struct file_writer *writer, enum file_durability durability, struct error *err)
{
    int rc = file_writer_flush(writer, err), empty;

    if (rc < 0)
        goto done;
    empty = writer->temporary ? open_empty_file(writer->path) : -1;
    if (empty >= 0) {
        rc = fill_empty_file(writer, empty, durability, err);
        goto done;
    }
    rc = finish_descriptor(writer, durability, err);
    if (rc < 0 || !writer->temporary)
        goto done;
    if (put_in_place(writer, durability) != 0) {
        rc = error_set_errno(err, ERR_IO, "cannot rename the temporary file to '%s'", writer->path);
        goto done;
    }
    interrupt_keep(writer->temporary);
    free(writer->temporary);
    writer->temporary = NULL;
    if (durability == FILE_DURABLE)
        rc = sync_folder(writer->path, err);
done:
    file_writer_release(writer); /* removes the temporary file unless it was renamed */
    return rc;
}

void file_writer_release(struct file_writer *writer)
{
    if (writer->fd >= 0)
        close(writer->fd);
    if (writer->temporary) {
        unlink(writer->temporary);
        interrupt_keep(writer->temporary);
    }
    free(writer->path);
    free(writer->temporary);
    free(writer->buffer);
    *writer = (struct file_writer){.fd = -1};
}

int file_write(const char *path, const void *data, size_t size, enum file_durability durability, struct error *err)
{
    struct file_writer writer;

    int rc = file_writer_open(&writer, path, err);
    if (rc < 0)
        return rc;
    rc = file_writer_add(&writer, data, size, err);
    if (rc == 0)
        rc = file_writer_commit(&writer, durability, err);
    file_writer_release(&writer);
    return rc;
}
