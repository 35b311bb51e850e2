/* support/simulated_jobs.h: a search whose checks run several at a time, with neither checks nor time.
 *
 * It is led as the program leads it: what it asks for next is checked, and what it will probably ask for
 * (search/lookahead.h). A candidate that it has asked for before is not checked again.
 */
#ifndef SUPPORT_SIMULATED_JOBS_H
#define SUPPORT_SIMULATED_JOBS_H

#include "search/lookahead.h"

struct simulated_search {
    const struct search_ops *ops;
    struct hash (*identify)(const void *search, int64_t *ret_nodes); /* the candidate */
    enum verdict (*check)(void *data, const void *search);
    void *data; /* for check() */
};

struct simulated_outcome {
    size_t requests; /* verdicts that the search was given */
    size_t checks;   /* that were run, needed or not */
    size_t rounds;   /* in which all that ran were waited for */
    struct hash way; /* all candidates and their verdicts, in the order in which the search asked for them */
};

/* Leads `search` to its end, with so many checks at a time. `random` NULL: all of them are waited for; else one after
 * the other ends, which one is drawn by lot. */
struct simulated_outcome simulate_jobs(const struct simulated_search *subject, void *search, size_t jobs,
                                       uint64_t *random);

/* The next number of a sequence, below `limit`. */
size_t simulated_random(uint64_t *state, size_t limit);

#endif
