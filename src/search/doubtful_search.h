/* search/doubtful_search.h: a minimal search with an unreliable check, whose verdicts may be wrong.
 *
 * A wrongly accepted candidate would make all later results wrong. So the current set is re-verified after a number of
 * acceptances and at the end. If it does not fail, the search backtracks to the state before the last acceptance and
 * re-verifies that, until a set fails.
 */
#ifndef SEARCH_DOUBTFUL_SEARCH_H
#define SEARCH_DOUBTFUL_SEARCH_H

#include "search/minimal_search.h"

struct doubtful_search {
    struct minimal_search search;
    size_t trusted;   /* acceptances between two re-verifications; 0: never re-verify */
    bool looks_again; /* the next verdict is a re-verification of search.current */
    struct search_stack {
        struct minimal_search *items;
        size_t count, capacity;
    } accepted; /* states before each acceptance since the last re-verification */
};

/* Like minimal_search_start(). */
bool doubtful_search_start(struct doubtful_search *doubtful, const struct dag *dag, const struct bitset *all,
                           size_t trusted);

/* The candidate to be checked next. */
const struct bitset *doubtful_search_candidate(const struct doubtful_search *doubtful);

/* Like minimal_search_ops. A skipped re-verification confirms nothing. */
extern const struct search_ops doubtful_search_ops;

#endif
