/* debug/candidate/watched_files.h: files that a check should leave as they are.
 *
 * What it changes in the model or in the data makes its verdicts ones about something else, or dependent on those
 * before. What says that a file has changed is base/file/identity.h.
 */
#ifndef DEBUG_CANDIDATE_WATCHED_FILES_H
#define DEBUG_CANDIDATE_WATCHED_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/container/name_map.h"
#include "base/file/identity.h"

/* A file that a command names, and whether verdicts mean nothing once it has changed. */
struct named_file {
    char *path;
    bool vital;
};

struct named_files { /* all zero in the beginning */
    struct named_file *items;
    size_t count, capacity;
};

/* Only what is a regular file is added. */
void named_files_add(struct named_files *files, const char *path, bool vital);
void named_files_release(struct named_files *files);

struct watched_file {
    char *path;
    struct file_identity identity;
    bool vital; /* verdicts mean nothing once it has changed; else that is worth a word */
};

struct watched_files { /* all zero in the beginning */
    struct watched_file *items;
    size_t count, capacity;
    struct name_map by_path;
};

/* Adds a file as it is now, whose content is read. One that is not there, or was added before, is not watched. */
void watched_files_add(struct watched_files *files, const char *path, bool vital);
void watched_files_release(struct watched_files *files);

/* A file that has changed since it was last told to have, or since it was added; NULL: none. */
const struct watched_file *watched_files_find_changed(struct watched_files *files);

/* Of their paths and contents, in the order in which they were added. */
struct hash watched_files_hash(const struct watched_files *files);

#endif
