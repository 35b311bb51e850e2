/* format/polygraphy/debug_replay.h: files of a debugging session: the verdicts so far, so that it can be resumed, and
 * the iteration info for checks.
 *
 * A replay is Polygraphy's, with one more entry, which Polygraphy keeps and ignores: "_session" contains the content
 * hashes of the model and of the check. The verdict on the original model has the key "_verify". Entries of a check
 * that was run several times contain the numbers "runs" and "fails". Files written by Polygraphy have none of these:
 * docs/coming-from-polygraphy.md, "Debug replays".
 */
#ifndef FORMAT_POLYGRAPHY_DEBUG_REPLAY_H
#define FORMAT_POLYGRAPHY_DEBUG_REPLAY_H

#include <stdint.h>

#include "base/hash.h"
#include "base/process/process.h"
#include "base/text/string_builder.h"

struct replay_entry {
    char *key;                     /* "_N0_outputs"; owned */
    int64_t num_nodes;             /* of the candidate; -1 if the entry has none */
    int64_t iteration;             /* 0-based, as in the iteration info */
    bool success;                  /* also if skipped: Polygraphy has only two verdicts */
    bool skipped;                  /* the check was inconclusive */
    int64_t runs, fails;           /* of a check that was run several times; else runs is 0 */
    size_t text_offset, text_size; /* private: position of the entry in `text` of its replay */
};

struct debug_replay {
    struct replay_entry *items; /* in the order of the file, then as set */
    size_t count, capacity;
    bool has_session;
    char model_hash[HASH_TEXT_SIZE], check_hash[HASH_TEXT_SIZE]; /* valid when has_session */
    bool has_failure_code; /* the session counts only this exit code as a failure */
    int64_t failure_code;
    char failure_reason[PROCESS_REASON_SIZE]; /* reason that failures must have; "": any */

    /* Private: all entries as in the file, each with the preceding line break, separated by commas. Stored because the
     * file is rewritten after every iteration; also preserves unknown entries. */
    struct string_builder text;
};

void debug_replay_init(struct debug_replay *replay);
void debug_replay_release(struct debug_replay *replay);

/* Reads a file of this program or of Polygraphy (legacy markers included); replaces the content of `replay`. A
 * truncated file is an error like any other damage: this program replaces files atomically. */
int debug_replay_load(struct debug_replay *replay, const char *path, struct error *err);

/* The same for a file of `size` bytes in memory, called `name` in messages. */
int debug_replay_parse(struct debug_replay *replay, const void *data, size_t size, const char *name, struct error *err);

const struct replay_entry *debug_replay_find(const struct debug_replay *replay, const char *key);

/* Adds an entry or replaces the one with this key. Key and text position in `verdict` are ignored. */
void debug_replay_set(struct debug_replay *replay, const char *key, const struct replay_entry *verdict);

/* Replaces the file at `path` atomically, without syncing it: it must survive a killed process, not a power cut. */
int debug_replay_save(const struct debug_replay *replay, const char *path, struct error *err);

/* "dir/replay.json" gives "dir/replay_skip_current.json"; malloc'd. */
char *debug_replay_skip_current_path(const char *path);

/* ---- Iteration info: the file that passes the iteration to a check ---- */

/* Writes {"iteration": index}, index counting from 0. */
int iteration_info_save(const char *path, int64_t index, struct error *err);

/* Whether the file at `path` may be overwritten and removed: it is an iteration info, empty, or not a regular file
 * (which is written to, and not removed). */
bool iteration_info_may_replace(const char *path);

#endif
