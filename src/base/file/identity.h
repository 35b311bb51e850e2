/* base/file/identity.h: detects whether a file's content has changed.
 *
 * A file is identified by device, inode, size and times, which is cheap; only if one of these has changed is its
 * content compared, by a hash taken before. For a file above FILE_IDENTITY_WHOLE bytes the hash covers its size and
 * blocks spread over it: a change between these blocks is detected only if the times changed.
 */
#ifndef BASE_FILE_IDENTITY_H
#define BASE_FILE_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"

#define FILE_IDENTITY_WHOLE ((int64_t)4 << 30) /* bytes */

struct file_time {
    int64_t seconds, nanoseconds;
};

struct file_stamp {
    bool present; /* a regular file; else the rest is 0 */
    uint64_t device, number;
    int64_t size;
    struct file_time modified, changed; /* content; content, name or mode */
};

struct file_stamp file_stamp_take(const char *path);

/* Whether the file existed, still exists, and its modification time has changed. False also if the file is gone: that
 * does not count as a change of its content. */
bool file_stamp_differs(const struct file_stamp *stamp, const char *path);

struct file_identity {
    struct file_stamp stamp;
    bool is_settled; /* the stamp is old enough that any later change gets a different one */
    struct hash content;
};

/* Reads the file, unless this process has done so with the same stamp. ERR_MISSING or ERR_IO when it cannot be read.
 * May be called from several threads. */
int file_identity_take(const char *path, struct file_identity *ret, struct error *err);

/* hash_file(), but a file of at most FILE_IDENTITY_WHOLE bytes is not read again while its stamp is the same. May be
 * called from several threads. */
int file_content_hash(const char *path, struct hash *ret, struct error *err);

/* Whether the file was too large to hash whole, so that the hash covers samples of it. */
bool file_identity_is_sampled(const struct file_identity *identity);

/* Whether the content of the file at `path` has changed. A file with new times but the same content has not: its stamp
 * is then updated. False also if the file is gone: that does not count as a change of its content. */
bool file_identity_has_changed(struct file_identity *identity, const char *path);

#endif
