/* debug/reduce/control.h: tests whether the check can pass at all.
 *
 * If the check fails on everything, a search ends at an arbitrary node without a contradiction. So when a search ends
 * and no candidate has passed, two single nodes are checked that share nothing with the result nor with each other. If
 * they fail, or do not exist, a model with the inputs and outputs of the result is checked that computes nothing: its
 * outputs are constants, the values of the original (zeros for infinities and NaN). A check that fails on that, too,
 * fails on everything.
 */
#ifndef DEBUG_REDUCE_CONTROL_H
#define DEBUG_REDUCE_CONTROL_H

#include "debug/cut/candidate.h"
#include "debug/session/session.h"

enum control_outcome {
    CONTROL_PASSED,     /* the check does not fail on everything */
    CONTROL_IMPOSSIBLE, /* no suitable control exists */
};

/* ERR_INVALID if the check fails on everything; the log then shows its last output. `answer` is the result of the
 * search. Verdicts have separate keys in the replay: "_control_1" and so on. */
int reduce_control_run(struct candidate_maker *maker, const struct subgraph *answer, struct debug_session *session,
                       struct log *log, enum control_outcome *ret, struct error *err);

#endif
