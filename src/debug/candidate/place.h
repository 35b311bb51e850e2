/* debug/candidate/place.h: where a candidate is while it is checked: its files, which live no longer than that.
 *
 * The module debug/candidate/ holds what is known of a candidate apart from how it was made: the files it consists of,
 * what they hold as a hash (hash.h), and which files a check must leave as they are (watched_files.h). Paths come
 * in; files, stamps and hashes go out. It may use the layers below debug, and no other module
 * of it.
 *
 * Checks that run at the same time have a place each. The first one has the usual paths, in the others a number stands
 * in front of the extension: polygraphy_debug.j2.onnx.
 */
#ifndef DEBUG_CANDIDATE_PLACE_H
#define DEBUG_CANDIDATE_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/log.h"
#include "debug/candidate/watched_files.h"

enum candidate_file {
    CANDIDATE_ARTIFACT,    /* the model or engine */
    CANDIDATE_INPUTS,      /* --iter-inputs */
    CANDIDATE_GOLDEN,      /* --iter-golden */
    CANDIDATE_INFORMATION, /* --iter-info */
    CANDIDATE_FILES,       /* how many there are */
};

/* By enum candidate_file; NULL: there is none. */
struct candidate_paths {
    const char *items[CANDIDATE_FILES];
};

/* A file that lives no longer than an iteration of the session. */
struct temporary_file {
    char *path;              /* NULL: not wanted */
    bool kept;               /* stays behind after all */
    bool present;            /* written, or about to be, and to be removed */
    struct file_stamp stamp; /* as it was written */
};

struct candidate_place {
    struct temporary_file files[CANDIDATE_FILES];
};

/* `folder`: all files are there; NULL: where their usual paths are. `number` 0: under their usual names. */
void candidate_place_init(struct candidate_place *place, const struct candidate_paths *usual, const char *folder,
                          size_t number);
void candidate_place_release(struct candidate_place *place);

/* Valid as long as the place is. */
struct candidate_paths candidate_place_paths(const struct candidate_place *place);

/* Removes what processes that were killed have left of half-written files. */
void candidate_place_remove_leftovers(const struct candidate_place *place);

/* All files are written now, in place of those that are there; or just the information, without `has_artifact`. From
 * here on whatever ends this process removes them, too. A device, a pipe or a link of the user's at such a path can be
 * written to, but is never removed. */
struct candidate_paths candidate_place_begin(struct candidate_place *place, bool has_artifact);

/* What was begun has come to its end: `rc` is 0, and the information on this iteration is added, or an error, and
 * nothing is left. Returns `rc`, or why the information cannot be added. */
int candidate_place_end(struct candidate_place *place, int64_t iteration, int rc, struct error *err);

/* True when nothing of what was written is missing: checks may take files away. */
bool candidate_place_is_whole(const struct candidate_place *place);

/* The file of the candidate (its information aside) that is another one than was written; CANDIDATE_FILES: none. */
enum candidate_file candidate_place_find_changed(const struct candidate_place *place);

/* Files that are not there any more have found another place: they are not missed. */
void candidate_place_forget_moved(struct candidate_place *place);

/* Removes what is still there. What cannot be removed is a warning. */
void candidate_place_remove(struct candidate_place *place, struct log *log);

/* Takes what is at the path for this file, left by another process: removes it, unless the file is kept. Returns false
 * when it is no regular file or cannot be removed. */
bool temporary_file_take_over(const struct temporary_file *file);

/* From here on the file is not ours: it was moved to where it belongs. */
void temporary_file_forget(struct temporary_file *file);

#endif
