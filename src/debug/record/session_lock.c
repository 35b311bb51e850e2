/* debug/record/session_lock.c: see session_lock.h. */
#include "debug/record/session_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/interrupt.h"
#include "base/text/string_builder.h"
#include "debug/candidate/place.h"
#include "debug/check/check.h"

/* ---- One of them ---- */

#define LONGEST_NAME 220    /* limit for the name part of a lock file, whose name has at most 255 bytes */
#define LONGEST_COMMAND 200 /* of another session's command line, in bytes */
#define MOST_ATTEMPTS 100   /* the holder may terminate while it is looked up */

/* Path of the lock file: "dir/.name.lock" for "dir/name", after resolving links. NULL if links form a cycle. malloc'd.
 * */
static char *make_path(const char *path)
{
    char *target = file_follow_links(path), *folder, *name, *ret;
    char hidden[LONGEST_NAME + sizeof("..lock")];

    if (target == NULL)
        return NULL;
    folder = file_folder(target);
    name = file_basename(target);
    snprintf(hidden, sizeof(hidden), ".%.*s.lock", LONGEST_NAME, name);
    ret = file_join(folder, hidden);
    free(target);
    free(folder);
    free(name);
    return ret;
}

/* Whether `path` still names the open file: a previous holder may have removed it. */
static bool is_still_there(int fd, const char *path)
{
    struct stat locked, named;

    return fstat(fd, &locked) == 0 && lstat(path, &named) == 0 && locked.st_dev == named.st_dev &&
           locked.st_ino == named.st_ino;
}

/* Opens the lock file, which is empty; other files are the user's. Returns -1 with errno set. */
static int open_file(const char *path)
{
    struct stat status;
    int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);

    if (fd >= 0 && (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size != 0)) {
        close(fd);
        errno = EEXIST;
        return -1;
    }
    return fd;
}

/* The process that holds the lock; -1 if it is not visible from here, 0 if none. */
static long find_holder(int fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    if (fcntl(fd, F_GETLK, &whole) != 0 || whole.l_type == F_UNLCK)
        return 0;
    return whole.l_pid > 0 ? (long)whole.l_pid : -1;
}

/* Appends " (polygraphy debug reduce ...)" if the system reports the command. */
static void add_command(long process, struct string_builder *ret)
{
    char path[32], words[LONGEST_COMMAND + 1];
    ssize_t size;
    int fd;

    snprintf(path, sizeof(path), "/proc/%ld/cmdline", process);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    size = read(fd, words, sizeof(words));
    close(fd);
    if (size <= 1)
        return;
    for (ssize_t i = 0; i < size; i++)
        words[i] = words[i] != '\0' ? words[i] : ' ';
    if (size > LONGEST_COMMAND)
        string_add_format(ret, " (%.*s...)", LONGEST_COMMAND, words);
    else
        string_add_format(ret, " (%.*s)", (int)size - 1, words);
}

static int refuse_locked(long holder, const char *path, const char *what, const char *option, struct error *err)
{
    SCOPED_STRING(who);

    if (holder > 0) {
        string_add_format(&who, "process %ld", holder);
        add_command(holder, &who);
    } else {
        string_add(&who, "a process in another container or on another machine");
    }
    return error_set(
        err, ERR_EXISTS,
        "%s already %s '%s': wait until it terminates, work in another folder, or choose another path with %s",
        who.data, what, path, option);
}

/* A POSIX lock belongs to the process, not to the open file: forked children do not hold it. */
static int take_lock(struct session_lock *lock, const char *path, const char *what, const char *option,
                     struct error *err)
{
    int rc = 0;

    for (int i = 0; rc == 0 && lock->fd < 0; i++) {
        struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        int fd = open_file(lock->path);
        bool locked = fd >= 0 && fcntl(fd, F_SETLK, &whole) == 0;
        bool taken = fd >= 0 && !locked && (errno == EACCES || errno == EAGAIN);
        long holder;

        if (fd < 0)
            return error_set_errno(err, ERR_IO, "cannot open '%s'", lock->path);
        if (!locked && (!taken || i == MOST_ATTEMPTS)) {
            rc = error_set_errno(err, ERR_IO, "cannot lock '%s'", lock->path);
            if (!taken)
                unlink(lock->path);
        } else if (taken && (holder = find_holder(fd)) != 0) {
            rc = refuse_locked(holder, path, what, option, err);
        } else if (locked && is_still_there(fd, lock->path)) {
            interrupt_remove_at_exit(lock->path);
            lock->fd = fd;
            return 0;
        }
        close(fd);
    }
    return rc;
}

int session_lock_take(struct session_lock *lock, const char *path, const char *what, const char *option,
                      struct log *log, struct error *err)
{
    struct stat status;
    struct error why = {0};
    int rc;

    *lock = (struct session_lock){.fd = -1};
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return 0;
    lock->path = make_path(path);
    if (lock->path == NULL || file_make_parent_folders(lock->path, NULL) < 0)
        return 0; /* nothing can be written there, which others report */
    rc = take_lock(lock, path, what, option, &why);
    if (rc == ERR_EXISTS)
        return error_set(err, rc, "%s", why.message);
    if (rc < 0)
        log_message(log, LOG_WARNING, "Cannot lock '%s', so another session could overwrite it: %s", path, why.message);
    return 0;
}

void session_lock_release(struct session_lock *lock)
{
    if (lock->fd >= 0) {
        if (is_still_there(lock->fd, lock->path))
            unlink(lock->path); /* while no other process can hold it */
        interrupt_keep(lock->path);
        close(lock->fd);
    }
    free(lock->path);
    *lock = (struct session_lock){.fd = -1};
}

/* ---- Those of a session ---- */

static int lock_candidate(struct session_locks *locks, const struct candidate_paths *usual, const char *folder,
                          bool has_replay, struct log *log, struct error *err)
{
    const char *const options[] = {
        [CANDIDATE_ARTIFACT] =
            has_replay ? "--intermediate-artifact (and with --save-debug-replay)" : "--intermediate-artifact",
        [CANDIDATE_INPUTS] = "--iter-inputs",
        [CANDIDATE_GOLDEN] = "--iter-golden",
        [CANDIDATE_INFORMATION] = "--iter-info",
    };
    struct candidate_place place;
    int rc = 0;

    candidate_place_init(&place, usual, folder, 0);
    for (enum candidate_file i = 0; rc == 0 && i < CANDIDATE_FILES; i++)
        if (place.files[i].path != NULL)
            rc = session_lock_take(&locks->items[locks->count++], place.files[i].path,
                                   i == CANDIDATE_ARTIFACT ? "writes candidates to" : "writes", options[i], log, err);
    candidate_place_release(&place);
    return rc;
}

int session_locks_take(struct session_locks *locks, const struct candidate_paths *usual, const char *folder,
                       const char **replay, struct log *log, struct error *err)
{
    struct error why;
    int rc;

    *locks = (struct session_locks){0};
    rc = lock_candidate(locks, usual, folder, *replay != NULL, log, err);
    if (rc < 0 || *replay == NULL)
        return rc;
    rc = session_lock_take(&locks->items[locks->count++], *replay, "saves its debug replay to", "--save-debug-replay",
                           log, &why);
    if (rc == 0)
        return 0;
    if (!check_is_around_us())
        return error_set(err, rc, "%s", why.message);
    log_message(log, LOG_WARNING, "No debug replay is saved, because this session runs inside a check: %s",
                why.message);
    *replay = NULL;
    return 0;
}

void session_locks_release(struct session_locks *locks)
{
    for (size_t i = 0; i < locks->count; i++)
        session_lock_release(&locks->items[i]);
    locks->count = 0;
}
