/* base/file/file.c: reading and locking files, and properties of paths. */
#define _GNU_SOURCE /* madvise */
#include "base/file/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crash.h"
#include "base/interrupt.h"
#include "base/memory.h"

static int cannot_open(const char *path, struct error *err)
{
    if (errno == ENOENT || errno == ENOTDIR)
        return error_set(err, ERR_MISSING, "'%s' does not exist", path);
    return error_set_errno(err, ERR_IO, "cannot open '%s'", path);
}

int file_open_to_read(const char *path, struct error *err)
{
    struct stat status = {0};
    /* O_NONBLOCK: a FIFO without a writer does not block, and is refused below. The flag has no effect on regular
     * files. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0)
        return cannot_open(path, err);
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
        return fd;
    close(fd);
    return error_set(err, ERR_IO, S_ISDIR(status.st_mode) ? "'%s' is a folder" : "'%s' is not a regular file", path);
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are read from files in native byte order");
_Static_assert(sizeof(size_t) == sizeof(uint64_t), "files of any size are mapped whole");

int file_map_open(const char *path, struct file_map *ret, struct error *err)
{
    struct stat status;
    void *data = NULL;
    int rc;

    int fd = file_open_to_read(path, err);
    if (fd < 0)
        return fd;
    if (fstat(fd, &status) != 0) {
        rc = error_set_errno(err, ERR_IO, "cannot read the size of '%s'", path);
        goto failed;
    }
    if ((uintmax_t)status.st_size > SIZE_MAX) {
        rc = error_set(err, ERR_UNSUPPORTED, "'%s' is larger than this machine's address space", path);
        goto failed;
    }
    size_t size = (size_t)status.st_size;
    if (size > 0) {
        data = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
        if (data == MAP_FAILED) {
            rc = error_set_errno(err, ERR_IO, "cannot map '%s' (%zu bytes)", path, size);
            goto failed;
        }
    }
    *ret = (struct file_map){.data = data, .size = size, .fd = fd, .path = memory_strdup(path)};
    if (data != NULL)
        crash_note_map(data, size, ret->path);
    return 0;
failed:
    close(fd);
    return rc;
}

void file_map_close(struct file_map *map)
{
    close(map->fd);
    map->fd = -1;
}

void file_map_release(struct file_map *map)
{
    crash_forget_map(map->data);
    if (map->data)
        munmap((void *)map->data, map->size);
    if (map->path != NULL && map->fd >= 0) /* else never opened: all zero */
        close(map->fd);
    free(map->path);
    *map = (struct file_map){.fd = -1};
}

void file_map_forget(const struct file_map *map, size_t from, size_t to)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t begin = from / page * page;
    size_t end = (to < map->size ? to : map->size) / page * page;

    if (begin < end)
        madvise((void *)(map->data + begin), end - begin, MADV_DONTNEED); /* POSIX's own call does nothing in glibc */
}

bool file_map_holds(const struct file_map *map, const void *data, size_t size)
{
    uintptr_t begin = (uintptr_t)data;

    return map->path != NULL && begin >= (uintptr_t)map->data && size <= map->size &&
           begin - (uintptr_t)map->data <= map->size - size;
}

size_t file_read_start(const char *path, void *ret, size_t size)
{
    int fd = file_open_to_read(path, NULL);
    ssize_t got;

    if (fd < 0)
        return 0;
    got = read(fd, ret, size);
    close(fd);
    return got > 0 ? (size_t)got : 0;
}

/* Initial buffer size: a regular file's size and one byte more, so that the next read reports the end of file. */
static size_t first_guess(int fd, size_t limit)
{
    struct stat status;

    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size <= 0)
        return 65536;
    return (uintmax_t)status.st_size < limit ? (size_t)status.st_size + 2 : limit + 2;
}

static bool is_null_device(const struct stat *status)
{
    struct stat null;

    return stat("/dev/null", &null) == 0 && S_ISCHR(null.st_mode) && null.st_rdev == status->st_rdev;
}

/* An anonymous pipe (/dev/stdin, <(command)) has no path of its own. A FIFO has one: nobody may ever write to it. A
 * device may never end. */
static int refuse_endless(int fd, const char *path, struct error *err)
{
    struct stat status = {0};
    char *place SCOPED_FREE = NULL;

    if (fstat(fd, &status) != 0)
        return error_set_errno(err, ERR_IO, "cannot look at '%s'", path);
    if (S_ISDIR(status.st_mode))
        return error_set(err, ERR_IO, "'%s' is a folder", path);
    if (S_ISFIFO(status.st_mode))
        place = file_real_path(path);
    if (place != NULL)
        return error_set(err, ERR_IO, "'%s' is a FIFO: write its content to a file, or use a pipe of the shell", path);
    if (S_ISBLK(status.st_mode) || (S_ISCHR(status.st_mode) && !isatty(fd) && !is_null_device(&status)))
        return error_set(err, ERR_IO, "'%s' is a device, not a file", path);
    return 0;
}

/* Opens what can be read to its end. */
static int open_to_read_whole(const char *path, struct error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int rc = fd < 0 ? cannot_open(path, err) : refuse_endless(fd, path, err);

    if (rc < 0) {
        if (fd >= 0)
            close(fd);
        return rc;
    }
    fcntl(fd, F_SETFL, 0); /* waits for what comes, from here on */
    return fd;
}

int file_read(const char *path, size_t limit, char **ret, size_t *ret_size, struct error *err)
{
    size_t size = 0;
    int rc = 0;

    if (limit > SIZE_MAX / 4)
        limit = SIZE_MAX / 4;
    int fd = open_to_read_whole(path, err);
    if (fd < 0)
        return fd;

    size_t capacity = first_guess(fd, limit);
    char *data = malloc(capacity);
    while (data) {
        if (size + 1 == capacity) {
            char *larger = realloc(data, capacity * 2);
            if (!larger)
                break;
            data = larger;
            capacity *= 2;
        }
        ssize_t got = read(fd, data + size, capacity - 1 - size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            rc = error_set_errno(err, ERR_IO, "cannot read '%s'", path);
            goto done;
        }
        size += (size_t)got;
        if (size > limit) {
            rc = error_set(err, ERR_UNSUPPORTED, "'%s' is larger than %zu bytes", path, limit);
            goto done;
        }
        if (got == 0) {
            data[size] = '\0';
            *ret = data;
            *ret_size = size;
            data = NULL;
            goto done;
        }
    }
    rc = error_set(err, ERR_MEMORY, "cannot read '%s': out of memory", path);
done:
    free(data);
    close(fd);
    return rc;
}

static int wait_for_turn(int fd, enum file_lock kind, const char *path, struct error *err)
{
    while (flock(fd, kind == FILE_LOCK_TO_CHANGE ? LOCK_EX : LOCK_SH) != 0) {
        if (errno != EINTR)
            return error_set_errno(err, ERR_IO, "cannot lock '%s'", path);
        if (interrupt_pending())
            return error_set(err, ERR_INTERRUPTED, "interrupted");
    }
    return 0;
}

/* The previous holder may have replaced the file: then the lock is on an unlinked file. */
static bool lock_is_on_path(int fd, const char *path)
{
    struct stat locked, named;

    return fstat(fd, &locked) == 0 && stat(path, &named) == 0 && locked.st_dev == named.st_dev &&
           locked.st_ino == named.st_ino;
}

int file_lock(const char *path, enum file_lock kind, int *ret_fd, struct error *err)
{
    int flags = kind == FILE_LOCK_TO_CHANGE ? O_RDWR | O_CREAT | O_CLOEXEC : O_RDONLY | O_CLOEXEC;
    int rc = kind == FILE_LOCK_TO_CHANGE ? file_make_parent_folders(path, err) : 0;

    while (rc == 0) {
        int fd = open(path, flags, 0666);

        if (fd < 0)
            return error_set_errno(err, errno == ENOENT ? ERR_MISSING : ERR_IO, "cannot open '%s'", path);
        rc = wait_for_turn(fd, kind, path, err);
        if (rc == 0 && lock_is_on_path(fd, path)) {
            *ret_fd = fd;
            return 0;
        }
        close(fd);
    }
    return rc;
}

bool file_exists(const char *path)
{
    struct stat status;

    return lstat(path, &status) == 0;
}

bool file_is_folder(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

bool file_is_regular(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

int file_make_folders(const char *path, struct error *err)
{
    if (file_is_folder(path))
        return 0;

    char *prefix SCOPED_FREE = memory_strdup(path);
    size_t length = strlen(prefix);
    int rc = 0;

    for (size_t i = 1; i <= length && rc == 0; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        prefix[i] = '\0';
        /* Check first: mkdir() on a read-only file system does not always return EEXIST. */
        if (!file_is_folder(prefix) && mkdir(prefix, 0777) != 0 && (errno != EEXIST || !file_is_folder(prefix)))
            rc = error_set_errno(err, ERR_IO, "cannot create the folder '%s'", prefix);
        prefix[i] = path[i];
    }
    return rc;
}

int file_make_parent_folders(const char *path, struct error *err)
{
    char *folder SCOPED_FREE = file_folder(path);

    return file_make_folders(folder, err);
}

/* The part of `path` before its trailing slashes; at least one byte of "/". */
static size_t length_without_slashes(const char *path, size_t length)
{
    while (length > 1 && path[length - 1] == '/')
        length--;
    return length;
}

char *file_folder(const char *path)
{
    size_t length = length_without_slashes(path, strlen(path));

    while (length > 0 && path[length - 1] != '/')
        length--;
    if (length == 0)
        return memory_strdup(".");
    return memory_copy(path, length_without_slashes(path, length));
}

char *file_basename(const char *path)
{
    size_t end = length_without_slashes(path, strlen(path));
    size_t start = end;

    while (start > 0 && path[start - 1] != '/')
        start--;
    if (start == end) /* "/" or "" */
        start = 0;
    return memory_copy(path + start, end - start);
}

char *file_join(const char *folder, const char *name)
{
    size_t length = strlen(folder), name_length = strlen(name);
    bool slash = length > 0 && folder[length - 1] != '/';
    char *ret = memory_alloc(length + name_length + 2);

    memcpy(ret, folder, length);
    if (slash)
        ret[length++] = '/';
    memcpy(ret + length, name, name_length + 1);
    return ret;
}

const char *file_extension(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(name, '.');

    return dot != NULL && dot > name + strspn(name, ".") ? dot : path + strlen(path);
}

bool file_has_extension(const char *path, const char *extension)
{
    return strcmp(file_extension(path), extension) == 0;
}

/* Folders that do not exist yet contain no links to resolve. */
char *file_place(const char *path)
{
    char *name SCOPED_FREE = file_basename(path), *folder SCOPED_FREE = file_folder(path);
    char *real SCOPED_FREE = file_real_path(folder);

    if (real == NULL && errno == ENOENT && strcmp(folder, path) != 0)
        real = file_place(folder);
    return file_join(real != NULL ? real : folder, name);
}

char *file_real_path(const char *path)
{
    return realpath(path, NULL);
}
