/* debug/candidate/place.h: where a candidate is while it is checked: its files, which live no longer than that.
 *
 * Checks that run at the same time have a place each. The first one has the usual paths, in the others a number stands
 * in front of the extension: polygraphy_debug.j2.onnx.
 */
#ifndef DEBUG_CANDIDATE_PLACE_H
#define DEBUG_CANDIDATE_PLACE_H

#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "debug/candidate/paths.h"
#include "debug/candidate/temporary_file.h"
#include "debug/check/watched_files.h"

struct candidate_place {
    struct temporary_file files[CANDIDATE_FILES]; /* path NULL: there is none */
    char *paths[CANDIDATE_FILES];
    struct file_stamp stamps[CANDIDATE_FILES]; /* as it was written */
};

/* What is put there. */
struct candidate_content {
    int (*write)(void *data, const struct candidate_paths *paths,
                 struct error *err); /* NULL: nothing but the information */
    void *data;
    int64_t iteration; /* in the information */
};

/* `folder`: all files are there; NULL: where their usual paths are. `number` 0: under their usual names. */
void candidate_place_init(struct candidate_place *place, const struct candidate_paths *usual, const char *folder,
                          size_t number);
void candidate_place_release(struct candidate_place *place);

/* Valid as long as the place is. */
struct candidate_paths candidate_place_paths(const struct candidate_place *place);

/* Removes what processes that were killed have left of half-written files. */
void candidate_place_remove_leftovers(const struct candidate_place *place);

/* Writes all files, in place of those that are there. */
int candidate_place_write(struct candidate_place *place, const struct candidate_content *content, struct error *err);

/* True when nothing of what was written is missing: checks may take files away. */
bool candidate_place_is_whole(const struct candidate_place *place);

/* The file of the candidate (its information aside) that is another one than was written; CANDIDATE_FILES: none. */
enum candidate_file candidate_place_find_changed(const struct candidate_place *place);

/* Files that are not there any more have found another place: they are not missed. */
void candidate_place_forget_moved(struct candidate_place *place);

/* Removes what is still there. What cannot be removed is a warning. */
void candidate_place_remove(struct candidate_place *place, struct log *log);

#endif
