/* base/file/lock.c: files that several processes change by turns. */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/interrupt.h"

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

/* Whoever held the lock before may have put another file in place: the lock is on a file without a name then. */
static bool is_still_there(int fd, const char *path)
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
        if (rc == 0 && is_still_there(fd, path)) {
            *ret_fd = fd;
            return 0;
        }
        close(fd);
    }
    return rc;
}
