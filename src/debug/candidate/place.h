/* debug/candidate/place.h: the paths of a candidate's files, which exist only while it is checked.
 *
 * The module debug/candidate/ contains the files of a candidate, independent of how it was created: their paths, the
 * hash of their content (hash.h), and files that a check must not modify (watched_files.h). Inputs: paths. Outputs:
 * files, stamps and hashes. It may use the layers below debug, and no other module of debug/.
 *
 * Checks that run in parallel use separate paths. The first place has the usual paths; in the others a number precedes
 * the extension: polygraphy_debug.j2.onnx.
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
    CANDIDATE_FILES,       /* their number */
};

/* Paths, indexed by enum candidate_file; NULL: no such file. */
struct candidate_paths {
    const char *items[CANDIDATE_FILES];
};

/* A file that exists only during an iteration of the session. */
struct temporary_file {
    char *path;              /* NULL: not used */
    bool kept;               /* not removed at the end */
    bool present;            /* written, or about to be written, and to be removed */
    struct file_stamp stamp; /* when it was written */
};

struct candidate_place {
    struct temporary_file files[CANDIDATE_FILES];
};

/* `folder`: the folder of all files; NULL: that of their usual paths. `number` 0: the usual names. */
void candidate_place_init(struct candidate_place *place, const struct candidate_paths *usual, const char *folder,
                          size_t number);
void candidate_place_release(struct candidate_place *place);

/* Valid as long as the place. */
struct candidate_paths candidate_place_paths(const struct candidate_place *place);

/* Removes partly written files of killed processes. */
void candidate_place_remove_leftovers(const struct candidate_place *place);

/* Called before all files are written, replacing existing ones; without `has_artifact` only the information is written.
 * From now on they are removed if this process terminates. A device, a pipe or a link at such a path is written to, but
 * never removed. */
struct candidate_paths candidate_place_begin(struct candidate_place *place, bool has_artifact);

/* Called after candidate_place_begin() and writing. `rc` 0: adds the information on this iteration; an error: removes
 * the files. Returns `rc`, or the error of adding the information. */
int candidate_place_end(struct candidate_place *place, int64_t iteration, int rc, struct error *err);

/* Whether all files that were written still exist; checks may remove files. */
bool candidate_place_is_whole(const struct candidate_place *place);

/* The file of the candidate (except its information) that differs from what was written; CANDIDATE_FILES: none. */
enum candidate_file candidate_place_find_changed(const struct candidate_place *place);

/* Treats files that no longer exist as moved: they are not reported as missing. */
void candidate_place_forget_moved(struct candidate_place *place);

/* Removes the remaining files. A file that cannot be removed is a warning. */
void candidate_place_remove(struct candidate_place *place, struct log *log);

/* Takes over a file of another process at this path: removes it, unless the file is kept. Returns false if it is not a
 * regular file or cannot be removed. */
bool temporary_file_take_over(const struct temporary_file *file);

/* The file was moved to its final path and no longer belongs to the place. */
void temporary_file_forget(struct temporary_file *file);

#endif
