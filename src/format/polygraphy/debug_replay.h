/* format/polygraphy/debug_replay.h: what a debugging session keeps in files: the verdicts so far, so that it can be
 * resumed, and which iteration a check belongs to.
 *
 * A replay is Polygraphy's, with one entry more, which Polygraphy carries along and ignores: "_session" names the
 * content hashes of the model and of the check that the verdicts belong to. The verdict on the original model has the
 * key "_verify". Entries of a check that was run several times hold the numbers "runs" and "fails". All of that is
 * absent from files that Polygraphy wrote: docs/coming-from-polygraphy.md, "Debug replays".
 */
#ifndef FORMAT_POLYGRAPHY_DEBUG_REPLAY_H
#define FORMAT_POLYGRAPHY_DEBUG_REPLAY_H

#include <stdint.h>

#include "base/hash.h"
#include "base/process/process.h"
#include "base/text/string_builder.h"

struct replay_entry {
    char *key;                     /* "_N0_outputs"; owned */
    int64_t num_nodes;             /* of the candidate; -1 when the entry has none */
    int64_t iteration;             /* 0-based, as in the iteration info */
    bool success;                  /* also when skipped: Polygraphy knows only two verdicts */
    bool skipped;                  /* the check said nothing about the candidate */
    int64_t runs, fails;           /* of a check that was run several times; runs is 0 for one that was not */
    size_t text_offset, text_size; /* private: where the entry lies in the text of its replay */
};

struct debug_replay {
    struct replay_entry *items; /* in the order of the file, then as set */
    size_t count, capacity;
    bool has_session;
    char model_hash[HASH_TEXT_SIZE], check_hash[HASH_TEXT_SIZE]; /* valid when has_session */
    bool has_failure_code; /* of the session: the exit code that its failures have */
    int64_t failure_code;
    char failure_reason[PROCESS_REASON_SIZE]; /* that they have; "": any */

    /* Private: all entries as they stand in the file, each with the line break before it, parted by commas. Kept
     * because the file is written again after every iteration. What means nothing here survives in it, too. */
    struct string_builder text;
};

void debug_replay_init(struct debug_replay *replay);
void debug_replay_release(struct debug_replay *replay);

/* Reads a file of ours or of Polygraphy's (legacy markers included) in place of what `replay` held. A tail that a kill
 * tore off is an error like any other damage: files are replaced as a whole, so it cannot come from here. */
int debug_replay_load(struct debug_replay *replay, const char *path, struct error *err);

/* The same for a file of `size` bytes in memory, called `name` in messages. */
int debug_replay_parse(struct debug_replay *replay, const void *data, size_t size, const char *name, struct error *err);

const struct replay_entry *debug_replay_find(const struct debug_replay *replay, const char *key);

/* Adds the entry or replaces the one with its key. Of `verdict`, key and place in the text are not looked at. */
void debug_replay_set(struct debug_replay *replay, const char *key, const struct replay_entry *verdict);

/* Replaces the file at `path` as a whole, not synced to the disk: what counts is that a killed process loses
 * nothing. */
int debug_replay_save(const struct debug_replay *replay, const char *path, struct error *err);

/* "dir/replay.json" gives "dir/replay_skip_current.json"; malloc'd. */
char *debug_replay_skip_current_path(const char *path);

/* ---- The file that tells a check which iteration it belongs to ---- */

/* Writes {"iteration": index}, index counting from 0. */
int iteration_info_save(const char *path, int64_t index, struct error *err);

/* Whether the file at `path` may be written over and removed: it is such a file, or empty, or no regular file (then it
 * is written to, and stays). */
bool iteration_info_may_replace(const char *path);

#endif
