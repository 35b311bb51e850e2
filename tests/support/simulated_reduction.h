/* support/simulated_reduction.h: `debug reduce` on sets of nodes instead of models, with the searches of the
 * program. */
#ifndef SUPPORT_SIMULATED_REDUCTION_H
#define SUPPORT_SIMULATED_REDUCTION_H

#include "search/index_search.h"
#include "search/minimal_search.h"
#include "simulated_jobs.h"

enum simulated_mode { SIMULATED_BISECT, SIMULATED_LINEAR, SIMULATED_MINIMAL, SIMULATED_MODES };

struct simulated_reduction {
    const struct dag *dag; /* borrowed; its last element computes the output */
    enum simulated_mode mode;
    struct minimal_search minimal;

    /* bisection and linear search */
    struct index_search index;
    struct bitset base; /* start of this phase; finally the result, in every mode */
    struct bitset candidate;
    uint32_t output; /* the element that computes it */
};

/* Returns false when there is nothing to search. Must be released in any case. */
bool simulated_reduction_start(struct simulated_reduction *reduction, const struct dag *dag, enum simulated_mode mode);
void simulated_reduction_release(struct simulated_reduction *reduction);

const struct bitset *simulated_reduction_candidate(const struct simulated_reduction *reduction);

/* For simulate_jobs(), but without a check. */
extern const struct simulated_search simulated_reduction_search;

#endif
