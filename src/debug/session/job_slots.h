/* debug/session/job_slots.h: checks that run in parallel, each on a candidate at a separate path.
 *
 * With one slot, a check runs when it is launched; with more, each runs in its own thread and the launcher returns at
 * once. One thread only writes candidates and processes finished checks.
 */
#ifndef DEBUG_SESSION_JOB_SLOTS_H
#define DEBUG_SESSION_JOB_SLOTS_H

#include "base/hash.h"
#include "debug/candidate/place.h"
#include "debug/check/check.h"
#include "debug/record/verdict_entry.h"

/* Identity of a check. */
struct job_key {
    struct hash identity; /* of the candidate */
    int64_t index;        /* of the iteration; -1: not a numbered iteration */
    size_t run;           /* number of the run on this candidate, if the check is repeated */
};

struct job_slot {
    struct job_key key;
    struct check_run run;
    struct candidate_place place;

    /* Set by the owner: hashes of the candidate's files. */
    bool has_content;
    struct hash content;  /* of all files */
    struct hash question; /* key of the verdict */
    bool has_file;
    struct hash file;       /* of the artifact alone: struct candidate_description */
    struct log_lines lines; /* log lines of writing it ahead of its turn */
    struct cached_verdict cached;

    /* Valid if job_slot_has_ended(): */
    int rc; /* what check_execute() returned: 0, or `err` */
    struct error err;
    struct process_result result; /* if `rc` is 0 */

    struct job_thread *thread; /* private, like the rest */
    enum { SLOT_FREE, SLOT_WRITTEN, SLOT_LAUNCHED, SLOT_DROPPED } state;
};

struct job_slots;

struct job_slots_settings {
    struct candidate_paths usual; /* paths of a candidate */
    bool keep_artifact;           /* the last artifact is kept under its usual name, in `folder`, next to its external
                                   * data */
    const char *folder;           /* --work-dir; NULL: usual paths */
    bool force;                   /* overwrite any file at these paths */
    size_t jobs;                  /* number of parallel checks, at least 1 */
};

struct job_slots *job_slots_new(struct check *check, const struct job_slots_settings *settings, struct log *log);

/* Kills running checks, waits for them, and removes all files. */
void job_slots_free(struct job_slots *slots);

/* Removes files of a killed session (`take_over`), or refuses to overwrite existing files: ERR_EXISTS. Replaced or
 * removed artifacts are logged. */
int job_slots_reserve(struct job_slots *slots, bool take_over, struct error *err);

size_t job_slots_jobs(const struct job_slots *slots);

/* Path of the artifact in the first slot. */
const char *job_slots_artifact(const struct job_slots *slots);

/* The slot of this check, or NULL. */
struct job_slot *job_slots_find(struct job_slots *slots, struct job_key key);

/* Whether another check would start at once. */
bool job_slots_have_room(struct job_slots *slots);

/* A free slot for a candidate that is written now. If none is free, drops a speculative check with the highest index.
 * */
struct job_slot *job_slots_take(struct job_slots *slots, struct job_key key);

/* Runs the check of a slot whose candidate was written, or repeats a finished check. */
int job_slot_launch(struct job_slots *slots, struct job_slot *slot, struct error *err);
bool job_slot_has_ended(struct job_slots *slots, const struct job_slot *slot);

/* Waits until a check finishes. */
void job_slots_sleep(struct job_slots *slots);

/* Calls `visit` for every slot whose check was launched. */
void job_slots_each(struct job_slots *slots, void (*visit)(void *data, struct job_slot *slot), void *data);

/* Kills the check if it runs, and removes its files. The slot must not be used afterwards. */
void job_slot_drop(struct job_slots *slots, struct job_slot *slot);

/* The same for those up to an index. */
void job_slots_drop_until(struct job_slots *slots, int64_t index);

/* Called when the candidate has its verdict: moves the artifact to the path of the first slot if it is to be kept. */
void job_slot_keep_artifact(struct job_slots *slots, struct job_slot *slot);

#endif
