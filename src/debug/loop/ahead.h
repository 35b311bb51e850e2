/* debug/loop/ahead.h: keeping lanes busy with checks that will probably be needed (search/lookahead.h).
 *
 * The loop decides as if it were alone. Here only the work is done that it will ask for: when its turn comes, a check
 * has been running for a while, or has ended. Work that is not needed any more is dropped.
 */
#ifndef DEBUG_LOOP_AHEAD_H
#define DEBUG_LOOP_AHEAD_H

#include "debug/loop/lanes.h"
#include "debug/loop/loop.h"

struct checks_ahead;

/* What the loop knows beforehand: false when a candidate has to be checked. */
struct known_verdicts {
    /* Of the candidate of iteration `index`. */
    bool (*find)(void *data, int64_t index, const struct loop_candidate *candidate, enum verdict *ret,
                 int64_t *ret_nodes);
    /* Of one that was written to this lane. */
    bool (*look_up)(void *data, struct lane *lane, enum verdict *ret);
    void *data;
};

/* The subject has to have a foresight, and is about to begin with iteration 0. */
struct checks_ahead *checks_ahead_new(struct check_lanes *lanes, const struct check *check,
                                      const struct loop_subject *subject, const struct known_verdicts *known,
                                      struct log *log);
void checks_ahead_free(struct checks_ahead *ahead);

/* The subject has got this verdict, and asks for the next candidate now. A candidate that was not checked counts as
 * skipped. */
void checks_ahead_advance(struct checks_ahead *ahead, int64_t nodes, enum verdict verdict);

/* Starts what will probably be needed as far as there is room, and drops what will not; not the check that is needed
 * now. */
void checks_ahead_fill(struct checks_ahead *ahead, const struct lane *needed);

#endif
