/* base/file/move.c: moving files and folders, also from one file system to another; copies. */
#define _GNU_SOURCE /* renameat2 */
#include "base/file/file.h"
#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEEPEST_FOLDER 256

/* Renames unless `to` exists (errno EEXIST). */
static int rename_to_new(const char *from, const char *to)
{
#if defined(__linux__) && defined(RENAME_NOREPLACE)
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != ENOSYS && errno != EINVAL) /* the file system may not support the flag */
        return -1;
#endif
    if (file_exists(to)) {
        errno = EEXIST;
        return -1;
    }
    return rename(from, to);
}

/* Calls `visit` for each entry of a folder until one fails. */
static int for_each_entry(const char *folder, int (*visit)(const char *entry, void *data, struct error *err),
                          void *data, struct error *err)
{
    DIR *stream = opendir(folder);
    int rc = 0;

    if (!stream)
        return error_set_errno(err, ERR_IO, "cannot read the folder '%s'", folder);
    for (struct dirent *entry; rc == 0 && (entry = readdir(stream));) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            rc = visit(entry->d_name, data, err);
    }
    closedir(stream);
    return rc;
}

static int remove_entry(const char *name, void *folder, struct error *err)
{
    char *path SCOPED_FREE = file_join(folder, name);

    return file_remove_tree(path, err);
}

int file_remove_tree(const char *path, struct error *err)
{
    struct stat status;
    int rc = 0;

    if (lstat(path, &status) == 0 && S_ISDIR(status.st_mode))
        rc = for_each_entry(path, remove_entry, (void *)path, err);
    if (rc == 0 && remove(path) != 0)
        rc = error_set_errno(err, ERR_IO, "cannot remove '%s'", path);
    return rc;
}

static int copy_regular_file(const char *from, const char *to, const struct stat *status, struct error *err)
{
    struct file_writer writer;
    const struct timespec times[] = {status->st_atim, status->st_mtim};

    int fd = file_open_to_read(from, err);
    if (fd < 0)
        return fd;
    int rc = file_writer_open_like(&writer, to, status, err);
    if (rc == 0)
        rc = file_writer_copy(&writer, fd, 0, (uint64_t)status->st_size, err);
    if (rc == 0) {
        /* As with mv, failing to copy these attributes is no error. */
        (void)!fchmod(writer.fd, status->st_mode & 07777);
        (void)!futimens(writer.fd, times);
        rc = file_writer_commit(&writer, FILE_INTERMEDIATE, err);
    }
    file_writer_release(&writer);
    close(fd);
    return rc;
}

static int copy_link(const char *from, const char *to, struct error *err)
{
    char target[4096];

    ssize_t length = readlink(from, target, sizeof(target) - 1);
    if (length < 0)
        return error_set_errno(err, ERR_IO, "cannot read the link '%s'", from);
    target[length] = '\0';
    if (symlink(target, to) != 0)
        return error_set_errno(err, ERR_IO, "cannot create the link '%s'", to);
    return 0;
}

struct tree_copy {
    const char *from, *to;
    int depth;
};

static int copy_tree(const struct tree_copy *copy, struct error *err);

static int copy_entry(const char *name, void *data, struct error *err)
{
    const struct tree_copy *folder = data;
    char *from SCOPED_FREE = file_join(folder->from, name), *to SCOPED_FREE = file_join(folder->to, name);

    return copy_tree(&(struct tree_copy){from, to, folder->depth + 1}, err);
}

static int copy_folder(const struct tree_copy *copy, const struct stat *status, struct error *err)
{
    if (copy->depth > DEEPEST_FOLDER)
        return error_set(err, ERR_UNSUPPORTED, "'%s' has more than %d folders inside each other", copy->from,
                         DEEPEST_FOLDER);
    if (mkdir(copy->to, 0700) != 0)
        return error_set_errno(err, ERR_IO, "cannot create the folder '%s'", copy->to);
    int rc = for_each_entry(copy->from, copy_entry, (void *)copy, err);
    if (rc == 0)
        (void)!chmod(copy->to, status->st_mode & 07777);
    return rc;
}

static int copy_tree(const struct tree_copy *copy, struct error *err)
{
    struct stat status;

    if (lstat(copy->from, &status) != 0)
        return error_set_errno(err, ERR_IO, "cannot read '%s'", copy->from);
    if (S_ISDIR(status.st_mode))
        return copy_folder(copy, &status, err);
    if (S_ISLNK(status.st_mode))
        return copy_link(copy->from, copy->to, err);
    if (S_ISREG(status.st_mode))
        return copy_regular_file(copy->from, copy->to, &status, err);
    return error_set(err, ERR_UNSUPPORTED, "cannot move '%s' to another file system: it is a device, pipe or socket",
                     copy->from);
}

/* Copies to a temporary name next to `to` first, so that `to` is never incomplete. */
static int move_across(const char *from, const char *to, struct error *err)
{
    char *temporary SCOPED_FREE = file_temporary_name(to);

    int rc = copy_tree(&(struct tree_copy){from, temporary, 0}, err);
    if (rc == 0 && rename_to_new(temporary, to) != 0)
        rc = error_set_errno(err, errno == EEXIST ? ERR_EXISTS : ERR_IO, "cannot move '%s' to '%s'", from, to);
    if (rc == 0)
        rc = file_remove_tree(from, err);
    else if (file_exists(temporary))
        file_remove_tree(temporary, NULL);
    return rc;
}

int file_move(const char *from, const char *to, struct error *err)
{
    if (rename_to_new(from, to) == 0)
        return 0;
    if (errno == EXDEV)
        return file_exists(to) ? error_set(err, ERR_EXISTS, "cannot move '%s': '%s' exists already", from, to)
                               : move_across(from, to, err);
    if (errno == EEXIST)
        return error_set(err, ERR_EXISTS, "cannot move '%s': '%s' exists already", from, to);
    if (errno == ENOENT && !file_exists(from))
        return error_set(err, ERR_MISSING, "cannot move '%s': it does not exist", from);
    return error_set_errno(err, ERR_IO, "cannot move '%s' to '%s'", from, to);
}

int file_copy(const char *from, const char *to, enum file_durability durability, struct error *err)
{
    struct file_writer writer;
    struct stat status;
    int fd = file_open_to_read(from, err);
    int rc;

    if (fd < 0)
        return fd;
    rc = file_writer_open(&writer, to, err);
    if (rc < 0)
        goto done;
    rc = fstat(fd, &status) == 0 ? file_writer_copy(&writer, fd, 0, (uint64_t)status.st_size, err)
                                 : error_set_errno(err, ERR_IO, "cannot access '%s'", from);
    if (rc == 0)
        rc = file_writer_commit(&writer, durability, err);
    else
        file_writer_release(&writer);
done:
    close(fd);
    return rc;
}
