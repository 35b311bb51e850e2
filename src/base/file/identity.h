/* base/file/identity.h: whether a file is still the one that it was.
 *
 * A file is told by device, inode, size and times, which costs nothing; only where one of these has changed does its
 * content decide, by a hash that was taken before. Of a file above FILE_IDENTITY_WHOLE bytes the hash is of its size
 * and of blocks spread over it: a change between these is not seen unless the times tell.
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

/* Whether there is a file now, and was, and its content was written since, by the time of its modification. False also
 * when the file is gone: that is no change to its content. */
bool file_stamp_differs(const struct file_stamp *stamp, const char *path);

struct file_identity {
    struct file_stamp stamp;
    bool is_settled; /* the stamp is old enough for a later change to have another one */
    struct hash content;
};

/* Reads the file, unless this process has done so with the same stamp. ERR_MISSING or ERR_IO when it cannot be read.
 * May be called from several threads. */
int file_identity_take(const char *path, struct file_identity *ret, struct error *err);

/* The hash of such a file is of parts of it. */
bool file_identity_is_sampled(const struct file_identity *identity);

/* Whether the file at `path` holds something else than it did. A file of other times and the same content has not
 * changed: its stamp is taken anew. False also when there is no file now: that is no change to its content. */
bool file_identity_has_changed(struct file_identity *identity, const char *path);

#endif
