/* library/checked_search.h: a minimal search with an oracle: budget, answers, and a cache of verdicts.
 *
 * The module library/ contains the functions of include/polygraphy/: reduce_graph.c and reduce_model.c check
 * requests and build candidates from sets, checked_search.c runs the search. It may depend on all modules except those
 * for output to users (plot, report, lint, cli).
 */
#ifndef LIBRARY_CHECKED_SEARCH_H
#define LIBRARY_CHECKED_SEARCH_H

#include "base/error.h"
#include "polygraphy/reduce.h"
#include "search/minimal_search.h"

struct checked_search {
    const struct dag *dag;
    uint64_t max_checks; /* 0: no limit */

    /* Calls the oracle with `set`. `ret_answer` gets its return value, unchecked. If no candidate can be built from the
     * set, sets `ret_asked` to false, and the set is skipped. */
    int (*ask)(void *data, const struct bitset *set, const struct polygraphy_progress *progress, int32_t *ret_answer,
               bool *ret_asked, struct error *err);
    void *data;
};

struct checked_result {
    int32_t outcome; /* POLYGRAPHY_MINIMAL, ... */
    uint64_t checks;
    struct bitset smallest; /* smallest failing set; empty if none failed. The caller releases it */
};

/* Checks the full set, then smaller ones. `ret` is also filled after an error, with the state at that time. */
int checked_search_run(const struct checked_search *search, struct checked_result *ret, struct error *err);

/* Copies an error to the caller's struct, which may be NULL. Returns its code, or 0 if `rc` is 0. */
int32_t library_return(int rc, const struct error *err, struct polygraphy_error *ret);

#endif
