/* debug/loop/speculation.h: keeping job slots busy with checks that will probably be needed (search/lookahead.h).
 *
 * The loop decides as if it were alone. Here only the work is done that it will ask for: when its turn comes, a check
 * has been running for a while, or has ended. Work that is not needed any more is dropped.
 */
#ifndef DEBUG_LOOP_SPECULATION_H
#define DEBUG_LOOP_SPECULATION_H

#include "debug/loop/job_slots.h"
#include "debug/loop/loop.h"

struct speculation;

/* What the loop knows beforehand: false when a candidate has to be checked. */
struct known_verdicts {
    /* Of the candidate of iteration `index`. */
    bool (*find)(void *data, int64_t index, const struct loop_candidate *candidate, enum verdict *ret,
                 int64_t *ret_nodes);
    /* Of one that was written to this slot. */
    bool (*look_up)(void *data, struct job_slot *slot, enum verdict *ret);
    void *data;
};

/* The subject has to have a foresight, and is about to begin with iteration 0. */
struct speculation *speculation_new(struct job_slots *slots, const struct judge *judge,
                                    const struct loop_subject *subject, const struct known_verdicts *known,
                                    struct log *log);
void speculation_free(struct speculation *speculation);

/* The subject has got this verdict, and asks for the next candidate now. A candidate that was not checked counts as
 * skipped. */
void speculation_advance(struct speculation *speculation, int64_t nodes, enum verdict verdict);

/* Starts what will probably be needed as far as there is room, and drops what will not; not the check that is needed
 * now. */
void speculation_fill(struct speculation *speculation, const struct job_slot *needed);

#endif
