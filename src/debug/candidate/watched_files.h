/* debug/candidate/watched_files.h: files that a check should leave as they are.
 *
 * What it changes in the model or in the data makes its verdicts ones about something else, or dependent on those
 * before. Files are told by number, size and time of change, not by content: they can be large, and there are many
 * checks.
 */
#ifndef DEBUG_CANDIDATE_WATCHED_FILES_H
#define DEBUG_CANDIDATE_WATCHED_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/container/name_map.h"

struct file_stamp {
    bool present; /* a regular file; else the rest is 0 */
    uint64_t device, number;
    int64_t size, seconds, nanoseconds; /* of the last change */
};

struct file_stamp file_stamp_take(const char *path);

/* Both are of the same file with the same content, as far as can be told without reading it. */
bool file_stamp_equal(const struct file_stamp *a, const struct file_stamp *b);

/* False also when the file is gone, or was not there before: that is no change to its content. */
bool file_stamp_differs(const struct file_stamp *stamp, const char *path);

struct watched_file {
    char *path;
    struct file_stamp stamp;
    bool vital; /* verdicts mean nothing once it has changed; else that is worth a word */
};

struct watched_files { /* all zero in the beginning */
    struct watched_file *items;
    size_t count, capacity;
    struct name_map by_path;
};

/* Adds a file as it is now. One that is not there, or was added before, is not watched. */
void watched_files_add(struct watched_files *files, const char *path, bool vital);
void watched_files_release(struct watched_files *files);

/* A file that has changed since it was last told to have, or since it was added; NULL: none. */
const struct watched_file *watched_files_find_changed(struct watched_files *files);

#endif
