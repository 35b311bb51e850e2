/* debug/record/verdict_cache.c: see verdict_cache.h. */
#include "debug/record/verdict_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "base/system.h"

#define LOCK_NAME "lock" /* lock file in the folder for updating counts */

struct verdict_cache {
    char *folder;
    int fd; /* of the folder, so that replacing the folder has no effect */
    struct hash check;
    struct log *log;
    size_t ignored; /* entries */
    char *reason;   /* reason for the first of them */
};

/* ---- Whose it is ---- */

/* Opens a folder or file that is not a link and belongs to this user. ERR_MISSING if it does not exist,
 * ERR_UNSUPPORTED, with the reason, if another user could have changed it, ERR_IO if it cannot be opened. */
static int open_own(int folder, const char *name, const char *path, int flags, int *ret, struct error *err)
{
    int fd = openat(folder, name, flags | O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat status;
    int rc;

    if (fd < 0) {
        int reason = errno;

        if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode))
            return error_set(err, ERR_UNSUPPORTED, "'%s' is a symbolic link, which the verdict cache does not follow",
                             path);
        errno = reason;
        return error_set_errno(err, reason == ENOENT ? ERR_MISSING : ERR_IO, "cannot open '%s'", path);
    }
    if (fstat(fd, &status) != 0) {
        rc = error_set_errno(err, ERR_IO, "cannot get the status of '%s'", path);
    } else if (status.st_uid != geteuid()) {
        rc = error_set(err, ERR_UNSUPPORTED, "'%s' belongs to another user (uid %lu), whose verdicts are not used",
                       path, (unsigned long)status.st_uid);
    } else if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        rc = error_set(err, ERR_UNSUPPORTED,
                       "users other than the owner can write to '%s' and so change verdicts: run `chmod go-w` on it",
                       path);
    } else {
        *ret = fd;
        return 0;
    }
    close(fd);
    return rc;
}

/* ---- The folder ---- */

/* The path without slashes at the end, with which a link would be followed. */
static char *plain_path(const char *path)
{
    char *folder SCOPED_FREE = file_folder(path), *name SCOPED_FREE = file_basename(path);

    return strchr(path, '/') != NULL ? file_join(folder, name) : memory_strdup(path);
}

int verdict_cache_open(const char *folder, struct hash check, struct log *log, struct verdict_cache **ret,
                       struct error *err)
{
    struct error why = {0};
    char *path = NULL;
    int rc, fd;

    *ret = NULL;
    if (folder[0] == '\0')
        return error_set(err, ERR_INVALID, "the path of the verdict cache is empty: name a folder");
    if (file_exists(folder) && !file_is_folder(folder))
        return error_set(err, ERR_INVALID,
                         "verdict cache '%s' is not a folder: name a folder, or a path that does not exist", folder);
    path = plain_path(folder);
    rc = file_make_parent_folders(path, err);
    if (rc == 0 && mkdir(path, 0700) != 0 && errno != EEXIST && !file_is_folder(path))
        rc = error_set_errno(err, ERR_IO, "cannot create the folder '%s'", path);
    if (rc < 0) {
        error_context(err, "cannot create the verdict cache '%s'", folder);
        goto done;
    }
    rc = open_own(AT_FDCWD, path, path, O_DIRECTORY, &fd, &why);
    if (rc == ERR_UNSUPPORTED) {
        log_message(log, LOG_WARNING, "The verdict cache is not used: %s", why.message);
        rc = 0;
        goto done;
    }
    if (rc < 0) {
        error_set(err, rc, "verdict cache: %s", why.message);
        goto done;
    }
    *ret = memory_alloc_zero(1, sizeof(**ret));
    **ret = (struct verdict_cache){.folder = path, .fd = fd, .check = check, .log = log};
    path = NULL;
done:
    free(path);
    return rc;
}

void verdict_cache_close(struct verdict_cache *cache)
{
    if (cache == NULL)
        return;
    if (cache->ignored == 1)
        log_message(cache->log, LOG_WARNING, "An entry of the verdict cache was ignored: %s", cache->reason);
    else if (cache->ignored > 1)
        log_message(cache->log, LOG_WARNING, "%zu entries of the verdict cache were ignored. The first one: %s",
                    cache->ignored, cache->reason);
    close(cache->fd);
    free(cache->reason);
    free(cache->folder);
    free(cache);
}

/* ---- Finding ---- */

/* Path of an entry: "<folder>/ab/ab12….json", because folders with very many files are slow on some file systems. */
struct place {
    char folder[3], name[HASH_TEXT_SIZE + 8];
    char *path, *folder_path; /* for messages */
};

static struct place place_of(const struct verdict_cache *cache, struct hash content)
{
    struct hash program = hash_bytes(POLYGRAPHY_VERSION, strlen(POLYGRAPHY_VERSION));
    char key[HASH_TEXT_SIZE];
    struct place ret;

    hash_to_text(hash_combine(hash_combine(content, cache->check), program), key);
    snprintf(ret.folder, sizeof(ret.folder), "%.2s", key);
    snprintf(ret.name, sizeof(ret.name), "%s.json", key);
    ret.folder_path = file_join(cache->folder, ret.folder);
    ret.path = file_join(ret.folder_path, ret.name);
    return ret;
}

static void place_release(struct place *place)
{
    free(place->folder_path);
    free(place->path);
}

static void describe_entry(const struct verdict_cache *cache, struct hash content, struct verdict_entry *ret)
{
    *ret = (struct verdict_entry){0};
    snprintf(ret->program, sizeof(ret->program), "%s", POLYGRAPHY_VERSION);
    hash_to_text(cache->check, ret->check);
    hash_to_text(content, ret->content);
}

/* An invalid entry is a warning. */
static int parse_entry(const char *path, const char *text, size_t size, const struct verdict_entry *expected,
                       struct verdict_entry *ret, struct error *err)
{
    struct verdict_entry entry;
    int rc = verdict_entry_parse(text, size, path, &entry, err);

    if (rc < 0)
        return rc;
    if (!verdict_entry_is_sealed(text, size))
        return error_set(err, ERR_CORRUPT, "%s: checksum mismatch: the entry was modified or truncated", path);
    if (strcmp(entry.check, expected->check) != 0 || strcmp(entry.content, expected->content) != 0 ||
        strcmp(entry.program, expected->program) != 0)
        return error_set(err, ERR_CORRUPT, "%s: it belongs to another candidate or check", path);
    *ret = entry;
    return 0;
}

static int read_text(int fd, const char *path, char *text, size_t *ret_size, struct error *err)
{
    size_t size = 0;
    ssize_t got;

    while ((got = read(fd, text + size, VERDICT_ENTRY_LARGEST + 1 - size)) != 0) {
        if (got < 0 && errno != EINTR)
            return error_set_errno(err, errno == EISDIR ? ERR_CORRUPT : ERR_IO, "cannot read '%s'", path);
        size += got > 0 ? (size_t)got : 0;
    }
    if (size > VERDICT_ENTRY_LARGEST)
        return error_set(err, ERR_CORRUPT, "'%s' is too large for an entry", path);
    *ret_size = size;
    return 0;
}

/* ERR_MISSING if there is no entry, ERR_IO if it cannot be read; other errors are the reason for ignoring it. */
static int read_entry(const struct verdict_cache *cache, struct hash content, struct cached_verdict *ret,
                      struct error *err)
{
    struct place place = place_of(cache, content);
    char *text SCOPED_FREE = memory_alloc(VERDICT_ENTRY_LARGEST + 1);
    struct verdict_entry expected, entry;
    int folder = -1, fd = -1, rc;
    size_t size = 0;

    rc = open_own(cache->fd, place.folder, place.folder_path, 0, &folder, err);
    if (rc < 0)
        goto done;
    rc = open_own(folder, place.name, place.path, 0, &fd, err);
    if (rc < 0)
        goto done;
    rc = read_text(fd, place.path, text, &size, err);
    if (rc < 0)
        goto done;
    describe_entry(cache, content, &expected);
    rc = parse_entry(place.path, text, size, &expected, &entry, err);
    if (rc == 0)
        *ret = entry.verdict;
done:
    if (fd >= 0)
        close(fd);
    if (folder >= 0)
        close(folder);
    place_release(&place);
    return rc;
}

static void count_ignored(struct verdict_cache *cache, const struct error *why)
{
    if (cache->ignored++ == 0)
        cache->reason = memory_strdup(why->message);
}

int verdict_cache_find(struct verdict_cache *cache, struct hash content, struct cached_verdict *ret, struct error *err)
{
    struct cached_verdict verdict = {0};
    struct error why = {0};
    int rc = read_entry(cache, content, &verdict, &why);

    if (rc == ERR_IO)
        return error_set(err, ERR_IO, "%s", why.message);
    if (rc < 0 && rc != ERR_MISSING)
        count_ignored(cache, &why);
    *ret = verdict;
    return 0;
}

/* ---- Adding ---- */

/* Waits until no other process updates counts. Returns a descriptor to close; -1 if the file system does not support
 * locks or creating the lock file: then a concurrent update may be lost. */
static int lock_folder(const struct verdict_cache *cache)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = openat(cache->fd, LOCK_NAME, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

    while (fd >= 0 && fcntl(fd, F_SETLKW, &whole) != 0)
        if (errno != EINTR) {
            close(fd);
            return -1;
        }
    return fd;
}

static int write_whole(int folder, const char *name, const char *path, const struct string_builder *text,
                       struct error *err)
{
    size_t done = 0;
    int rc = 0;
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return error_set_errno(err, ERR_IO, "cannot create a file next to '%s'", path);
    while (rc == 0 && done < text->size) {
        ssize_t written = write(fd, text->data + done, text->size - done);

        if (written >= 0)
            done += (size_t)written;
        else if (errno != EINTR)
            rc = error_set_errno(err, ERR_IO, "cannot write '%s'", path);
    }
    if (close(fd) != 0 && errno != EINTR && rc == 0)
        rc = error_set_errno(err, ERR_IO, "cannot write '%s'", path);
    return rc;
}

/* Writes an entry, replacing an existing one; a link is replaced, not followed. */
static int write_entry(struct verdict_cache *cache, struct hash content, const struct string_builder *text,
                       struct error *err)
{
    struct place place = place_of(cache, content);
    struct timespec now;
    char temporary[64];
    int folder = -1, rc;

    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(temporary, sizeof(temporary), ".%.8s.%ld.%ld.%09ld", place.name, (long)getpid(), (long)now.tv_sec,
             now.tv_nsec);
    if (mkdirat(cache->fd, place.folder, 0700) != 0 && errno != EEXIST) {
        rc = error_set_errno(err, ERR_IO, "cannot create the folder '%s'", place.folder_path);
        goto done;
    }
    rc = open_own(cache->fd, place.folder, place.folder_path, O_DIRECTORY, &folder, err);
    if (rc < 0)
        goto done;
    rc = write_whole(folder, temporary, place.path, text, err);
    if (rc == 0 && renameat(folder, temporary, folder, place.name) != 0)
        rc = error_set_errno(err, ERR_IO, "cannot move the new file to '%s'", place.path);
    if (rc < 0)
        unlinkat(folder, temporary, 0);
done:
    if (folder >= 0)
        close(folder);
    place_release(&place);
    return rc;
}

int verdict_cache_add(struct verdict_cache *cache, struct hash content, const struct cached_verdict *verdict,
                      struct error *err)
{
    struct verdict_entry entry;
    struct cached_verdict earlier = {0};
    SCOPED_STRING(text);
    struct error why = {0};
    int fd = verdict->runs > 0 ? lock_folder(cache) : -1, rc;

    describe_entry(cache, content, &entry);
    entry.verdict = *verdict;
    rc = verdict->runs > 0 ? read_entry(cache, content, &earlier, &why) : 0;
    if (rc == ERR_IO)
        goto done;
    entry.verdict.runs += earlier.runs;
    entry.verdict.fails += earlier.fails;
    verdict_entry_write(&entry, &text);
    rc = write_entry(cache, content, &text, &why);
    if (rc == ERR_UNSUPPORTED) { /* nothing is written there; the lookup has counted it */
        if (cache->ignored == 0)
            count_ignored(cache, &why);
        rc = 0;
    }
done:
    if (rc < 0)
        error_set(err, rc, "verdict cache: %s", why.message);
    if (fd >= 0)
        close(fd);
    return rc;
}
