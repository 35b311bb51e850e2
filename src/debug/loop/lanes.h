/* debug/loop/lanes.h: checks that run at the same time, each on a candidate at a place of its own.
 *
 * With a single lane a check runs when it is launched; with more of them each runs in a thread of its own, and whoever
 * launched it goes on. Candidates are written, and ends are looked at, by one thread only.
 */
#ifndef DEBUG_LOOP_LANES_H
#define DEBUG_LOOP_LANES_H

#include "base/hash.h"
#include "debug/cache/verdict_entry.h"
#include "debug/candidate/place.h"
#include "debug/check/check.h"

/* Which check it is. */
struct lane_key {
    struct hash identity; /* of the candidate */
    int64_t index;        /* of the iteration; -1: apart from the numbered ones */
    size_t run;           /* of the check on this candidate, when it is run several times */
};

struct lane {
    struct lane_key key;
    struct check_run run;
    struct candidate_place place;

    /* The owner's: what is known of what was written. */
    bool has_content;
    struct hash content;  /* of its files */
    struct hash question; /* that the verdict is the answer to */
    bool has_file;
    struct hash file; /* of the artifact alone */
    struct cached_verdict cached;

    /* When lane_has_ended(): */
    int rc; /* what check_execute() returned: 0, or `err` */
    struct error err;
    struct process_result result; /* if 0 */

    struct lane_thread *thread; /* private, as is the rest */
    enum { LANE_FREE, LANE_WRITTEN, LANE_LAUNCHED, LANE_DROPPED } state;
};

struct check_lanes;

struct lanes_settings {
    struct candidate_paths usual; /* of a candidate's files */
    bool keep_artifact;           /* the last one stays, under its usual name and in `folder`, where its data are */
    const char *folder;           /* --work-dir; NULL: usual paths */
    bool force;                   /* what lies at these paths is written over, whosever it is */
    size_t jobs;                  /* as many checks run at a time; 1 or more */
};

struct check_lanes *check_lanes_new(const struct check *check, const struct lanes_settings *settings, struct log *log);

/* Ends what runs, waits for it, and removes all files. */
void check_lanes_free(struct check_lanes *lanes);

/* Takes away what a session that was killed has left in places of checks (`take_over`), or refuses to write over
 * anything that is there: ERR_EXISTS. Artifacts that were replaced or removed are logged. */
int check_lanes_reserve(struct check_lanes *lanes, bool take_over, struct error *err);

size_t check_lanes_jobs(const struct check_lanes *lanes);

/* Where candidates of the first lane are. */
const char *check_lanes_artifact(const struct check_lanes *lanes);

/* The lane of this check, or NULL. */
struct lane *check_lanes_find(struct check_lanes *lanes, struct lane_key key);

/* True when one more check would run at once. */
bool check_lanes_have_room(struct check_lanes *lanes);

/* Writes a candidate to a free lane. When there is none, a check of the highest index that runs ahead is dropped for
 * it. */
int check_lanes_open(struct check_lanes *lanes, struct lane_key key, const struct candidate_content *content,
                     struct lane **ret, struct error *err);

/* Runs the check of a lane that was opened, or again one that has ended. */
int lane_launch(struct check_lanes *lanes, struct lane *lane, struct error *err);
bool lane_has_ended(struct check_lanes *lanes, const struct lane *lane);

/* Waits until a check ends. */
void check_lanes_sleep(struct check_lanes *lanes);

/* Calls `visit` for every lane that is in use. */
void check_lanes_each(struct check_lanes *lanes, void (*visit)(void *data, struct lane *lane), void *data);

/* Ends the check if it still runs, and removes its files. The lane is not to be used any more. */
void lane_drop(struct check_lanes *lanes, struct lane *lane);

/* The same for those up to an index. */
void check_lanes_drop_until(struct check_lanes *lanes, int64_t index);

/* The candidate has got its verdict: what of it is to be kept is moved to where the first lane has it. */
void lane_keep_artifact(struct check_lanes *lanes, struct lane *lane);

#endif
