/* debug/session/job_slots.h: checks that run at the same time, each on a candidate at a place of its own.
 *
 * With a single slot a check runs when it is launched; with more of them each runs in a thread of its own, and whoever
 * launched it goes on. Candidates are written, and ends are looked at, by one thread only.
 */
#ifndef DEBUG_SESSION_JOB_SLOTS_H
#define DEBUG_SESSION_JOB_SLOTS_H

#include "base/hash.h"
#include "debug/candidate/place.h"
#include "debug/check/check.h"
#include "debug/record/verdict_entry.h"

/* Which check it is. */
struct job_key {
    struct hash identity; /* of the candidate */
    int64_t index;        /* of the iteration; -1: apart from the numbered ones */
    size_t run;           /* of the check on this candidate, when it is run several times */
};

struct job_slot {
    struct job_key key;
    struct check_run run;
    struct candidate_place place;

    /* The owner's: what is known of what was written. */
    bool has_content;
    struct hash content;  /* of its files */
    struct hash question; /* that the verdict is the answer to */
    bool has_file;
    struct hash file;       /* of the artifact alone */
    struct log_lines lines; /* that writing it ahead of its turn has logged */
    struct cached_verdict cached;

    /* When job_slot_has_ended(): */
    int rc; /* what check_execute() returned: 0, or `err` */
    struct error err;
    struct process_result result; /* if 0 */

    struct job_thread *thread; /* private, as is the rest */
    enum { SLOT_FREE, SLOT_WRITTEN, SLOT_LAUNCHED, SLOT_DROPPED } state;
};

struct job_slots;

struct job_slots_settings {
    struct candidate_paths usual; /* of a candidate's files */
    bool keep_artifact;           /* the last one stays, under its usual name and in `folder`, where its data are */
    const char *folder;           /* --work-dir; NULL: usual paths */
    bool force;                   /* what lies at these paths is written over, whosever it is */
    size_t jobs;                  /* as many checks run at a time; 1 or more */
};

struct job_slots *job_slots_new(struct check *check, const struct job_slots_settings *settings, struct log *log);

/* Ends what runs, waits for it, and removes all files. */
void job_slots_free(struct job_slots *slots);

/* Takes away what a session that was killed has left in places of checks (`take_over`), or refuses to write over
 * anything that is there: ERR_EXISTS. Artifacts that were replaced or removed are logged. */
int job_slots_reserve(struct job_slots *slots, bool take_over, struct error *err);

size_t job_slots_jobs(const struct job_slots *slots);

/* Where candidates of the first slot are. */
const char *job_slots_artifact(const struct job_slots *slots);

/* The slot of this check, or NULL. */
struct job_slot *job_slots_find(struct job_slots *slots, struct job_key key);

/* True when one more check would run at once. */
bool job_slots_have_room(struct job_slots *slots);

/* A free slot, where a candidate is to be written now. When there is none, a check of the highest index that runs ahead
 * is dropped for it. */
struct job_slot *job_slots_take(struct job_slots *slots, struct job_key key);

/* Runs the check of a slot that was written to, or again one that has ended. */
int job_slot_launch(struct job_slots *slots, struct job_slot *slot, struct error *err);
bool job_slot_has_ended(struct job_slots *slots, const struct job_slot *slot);

/* Waits until a check ends. */
void job_slots_sleep(struct job_slots *slots);

/* Calls `visit` for every slot whose check was launched. */
void job_slots_each(struct job_slots *slots, void (*visit)(void *data, struct job_slot *slot), void *data);

/* Ends the check if it still runs, and removes its files. The slot is not to be used any more. */
void job_slot_drop(struct job_slots *slots, struct job_slot *slot);

/* The same for those up to an index. */
void job_slots_drop_until(struct job_slots *slots, int64_t index);

/* The candidate has got its verdict: what of it is to be kept is moved to where the first slot has it. */
void job_slot_keep_artifact(struct job_slots *slots, struct job_slot *slot);

#endif
