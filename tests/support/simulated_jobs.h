/* support/simulated_jobs.h: simulates a search with parallel checks, without running commands and without a clock.
 *
 * As in the program, the next candidate is checked, and those that the search will probably need (search/lookahead.h).
 * No candidate is checked twice.
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
    size_t requests; /* verdicts passed to the search */
    size_t checks;   /* checks run, needed or not */
    size_t rounds;   /* times that all running checks were waited for */
    struct hash way; /* all candidates and their verdicts, in the order of the search's requests */
};

/* Runs `search` to its end with `jobs` checks at a time. `random` NULL: waits for all of them each time; else for one,
 * chosen at random with that state. */
struct simulated_outcome simulate_jobs(const struct simulated_search *subject, void *search, size_t jobs,
                                       uint64_t *random);

/* The next number of a sequence, below `limit`. */
size_t simulated_random(uint64_t *state, size_t limit);

#endif
