/* base/file/identity.c: see identity.h. */
#include "base/file/identity.h"

#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/container/arena.h"
#include "base/container/name_map.h"
#include "base/file/file.h"
#include "base/memory.h"

#define SAMPLES 256                   /* blocks of a large file */
#define SAMPLE_SIZE ((size_t)1 << 18) /* bytes */

/* File times have the resolution of the kernel's clock tick, at most 10 ms; network file systems are coarser. */
#define SETTLED_SECONDS 2

struct file_stamp file_stamp_take(const char *path)
{
    struct stat status;

    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return (struct file_stamp){0};
    return (struct file_stamp){.present = true,
                               .device = (uint64_t)status.st_dev,
                               .number = (uint64_t)status.st_ino,
                               .size = (int64_t)status.st_size,
                               .modified = {(int64_t)status.st_mtim.tv_sec, (int64_t)status.st_mtim.tv_nsec},
                               .changed = {(int64_t)status.st_ctim.tv_sec, (int64_t)status.st_ctim.tv_nsec}};
}

static bool time_equal(struct file_time a, struct file_time b)
{
    return a.seconds == b.seconds && a.nanoseconds == b.nanoseconds;
}

static bool stamp_equal(const struct file_stamp *a, const struct file_stamp *b)
{
    return a->present == b->present && a->device == b->device && a->number == b->number && a->size == b->size &&
           time_equal(a->modified, b->modified) && time_equal(a->changed, b->changed);
}

bool file_stamp_differs(const struct file_stamp *stamp, const char *path)
{
    struct file_stamp now = file_stamp_take(path);

    now.changed = stamp->changed;
    return stamp->present && now.present && !stamp_equal(stamp, &now);
}

/* ---- Cache of content hashes ---- */

/* By the bytes of the stamp: a model can have thousands of files of external data. They are kept until the end of the
 * process. */
static struct {
    struct hash *items; /* of the content */
    size_t count, capacity;
    struct name_map by_stamp; /* indices of items */
    struct arena keys;
} known_files; /* zeros are an empty map and arena */
static pthread_mutex_t known_files_guard = PTHREAD_MUTEX_INITIALIZER;

/* All that tells a stamp from another one, without padding. */
struct stamp_key {
    uint64_t device, number;
    int64_t size;
    struct file_time modified, changed;
};

static struct stamp_key stamp_key_of(const struct file_stamp *stamp)
{
    return (struct stamp_key){stamp->device, stamp->number, stamp->size, stamp->modified, stamp->changed};
}

static bool find_known(struct file_identity *identity)
{
    struct stamp_key key = stamp_key_of(&identity->stamp);
    uint32_t found;

    pthread_mutex_lock(&known_files_guard);
    found = name_map_find(&known_files.by_stamp, (struct text){(const char *)&key, sizeof(key)});
    if (found != NAME_MAP_NONE)
        identity->content = known_files.items[found];
    pthread_mutex_unlock(&known_files_guard);
    return found != NAME_MAP_NONE;
}

static void note_known(const struct file_identity *identity)
{
    struct stamp_key key = stamp_key_of(&identity->stamp);

    pthread_mutex_lock(&known_files_guard);
    name_map_set(&known_files.by_stamp, (struct text){arena_copy(&known_files.keys, &key, sizeof(key)), sizeof(key)},
                 (uint32_t)known_files.count);
    *VECTOR_APPEND(&known_files) = identity->content;
    pthread_mutex_unlock(&known_files_guard);
}

/* ---- Content ---- */

static int hash_samples(const char *path, int64_t size, struct hash *ret, struct error *err)
{
    char *buffer SCOPED_FREE = memory_alloc(SAMPLE_SIZE);
    int fd = file_open_to_read(path, err);
    struct hash hash = hash_bytes(&size, sizeof(size));
    int64_t last = size - (int64_t)SAMPLE_SIZE;
    int rc = 0;

    if (fd < 0)
        return fd;
    for (int64_t i = 0; rc == 0 && i < SAMPLES; i++) {
        ssize_t got = pread(fd, buffer, SAMPLE_SIZE, i + 1 < SAMPLES ? last / (SAMPLES - 1) * i : last);

        if (got < 0)
            rc = error_set_errno(err, ERR_IO, "cannot read '%s'", path);
        else
            hash = hash_combine(hash, hash_bytes(buffer, (size_t)got));
    }
    close(fd);
    *ret = hash;
    return rc;
}

bool file_identity_is_sampled(const struct file_identity *identity)
{
    return identity->stamp.size > FILE_IDENTITY_WHOLE;
}

int file_identity_take(const char *path, struct file_identity *ret, struct error *err)
{
    struct file_identity identity = {.stamp = file_stamp_take(path)};
    int rc;

    identity.is_settled = identity.stamp.changed.seconds + SETTLED_SECONDS < (int64_t)time(NULL);
    if (identity.stamp.present && identity.is_settled && find_known(&identity)) {
        *ret = identity;
        return 0;
    }
    rc = file_identity_is_sampled(&identity) ? hash_samples(path, identity.stamp.size, &identity.content, err)
                                             : hash_file(path, &identity.content, err);
    if (rc < 0)
        return rc;
    if (identity.is_settled)
        note_known(&identity);
    *ret = identity;
    return 0;
}

int file_content_hash(const char *path, struct hash *ret, struct error *err)
{
    struct file_identity identity;
    int rc;

    if (file_stamp_take(path).size > FILE_IDENTITY_WHOLE)
        return hash_file(path, ret, err);
    rc = file_identity_take(path, &identity, err);
    if (rc == 0)
        *ret = identity.content;
    return rc;
}

bool file_identity_has_changed(struct file_identity *identity, const char *path)
{
    struct file_stamp now = file_stamp_take(path);
    struct file_identity other;

    if (!now.present || !identity->stamp.present || (identity->is_settled && stamp_equal(&now, &identity->stamp)))
        return false;
    if (file_identity_take(path, &other, NULL) < 0)
        return false;
    if (other.stamp.size != identity->stamp.size || !hash_equal(other.content, identity->content))
        return true;
    *identity = other;
    return false;
}
