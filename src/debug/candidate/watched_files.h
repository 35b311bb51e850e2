/* debug/candidate/watched_files.h: files that a check must not modify.
 *
 * A check that modifies the model or the data invalidates its verdicts or makes them depend on earlier runs.
 * base/file/identity.h detects modifications.
 */
#ifndef DEBUG_CANDIDATE_WATCHED_FILES_H
#define DEBUG_CANDIDATE_WATCHED_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/container/name_map.h"
#include "base/file/identity.h"

/* A file that a command names. Vital: a modification invalidates verdicts. */
struct named_file {
    char *path;
    bool vital;
};

struct named_files { /* zero-initialized */
    struct named_file *items;
    size_t count, capacity;
};

/* Adds a file if it is a regular file. */
void named_files_add(struct named_files *files, const char *path, bool vital);
void named_files_release(struct named_files *files);

struct watched_file {
    char *path;
    struct file_identity identity;
    bool vital; /* a modification invalidates verdicts; else it is a warning */
};

struct watched_files { /* zero-initialized */
    struct watched_file *items;
    size_t count, capacity;
    struct name_map by_path;
};

/* Adds a file in its present state and reads its content. Missing files and duplicates are ignored. */
void watched_files_add(struct watched_files *files, const char *path, bool vital);
void watched_files_release(struct watched_files *files);

/* A file that was modified since it was added or last returned; NULL: none. */
const struct watched_file *watched_files_find_changed(struct watched_files *files);

/* Hash of paths and contents, in the order of addition. */
struct hash watched_files_hash(const struct watched_files *files);

#endif
