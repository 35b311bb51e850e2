/* debug/reduce/control.h: whether the check can pass at all.
 *
 * A check that fails on everything leads a search to a single node without a moment of doubt: "the smallest model that
 * fails" is then whatever was tried last. So when a search ends and no candidate has passed, two single nodes are
 * checked that have nothing in common with the answer nor with each other. When they fail, or there are none, so is a
 * model that has the inputs and outputs of the answer but computes nothing: its outputs are constants, what the
 * original has there (zeros where that is infinite or no number). A check that fails on that, too, fails on everything.
 */
#ifndef DEBUG_REDUCE_CONTROL_H
#define DEBUG_REDUCE_CONTROL_H

#include "debug/cut/candidate.h"
#include "debug/session/session.h"

enum control_outcome {
    CONTROL_PASSED,     /* the check does not fail on everything */
    CONTROL_IMPOSSIBLE, /* nothing could be tried that would tell */
};

/* ERR_INVALID when the check fails on everything; the log then shows what it wrote last. `answer` is what the search
 * has found. Verdicts have keys of their own in the replay: "_control_1" and so on. */
int reduce_control_run(struct candidate_maker *maker, const struct subgraph *answer, struct debug_session *session,
                       struct log *log, enum control_outcome *ret, struct error *err);

#endif
