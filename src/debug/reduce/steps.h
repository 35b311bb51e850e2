/* debug/reduce/steps.h: the step of a decoder that a reduction is about.
 *
 * A reduced model has lost caches and logits, so it cannot be run in steps. The original is checked with the inputs of
 * each step, which a run in steps has recorded; the first step that fails is a model with input data like any other.
 */
#ifndef DEBUG_REDUCE_STEPS_H
#define DEBUG_REDUCE_STEPS_H

#include "debug/cut/maker.h"
#include "debug/session/session.h"

struct step_checks {
    const struct model *model;                   /* the original */
    const struct candidate_settings *candidates; /* the data of their loader are replaced */
    const struct feed_dicts *steps;              /* the inputs of each */
    struct debug_session *session;
    struct log *log;
};

/* Checks the original with the inputs of each step, in order, and leaves those of the last check in the data loader.
 * `*ret`: the first step that fails; SIZE_MAX: none. ERR_INVALID if none fails and the check was inconclusive for
 * one. */
int reduce_find_step(const struct step_checks *checks, size_t *ret, struct error *err);

/* Logs it with a result. */
void reduce_report_step(size_t step, struct log *log);

#endif
