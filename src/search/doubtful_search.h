/* search/doubtful_search.h: a minimal search whose verdicts may be wrong, because the check is unreliable.
 *
 * What was wrongly found to fail would lead all of the rest astray. So what the search has come to is looked at again
 * after every few acceptances, and in the end. When it does not fail after all, the search goes back to where it was
 * before, and looks at that again, until it comes to something that fails.
 */
#ifndef SEARCH_DOUBTFUL_SEARCH_H
#define SEARCH_DOUBTFUL_SEARCH_H

#include "search/minimal_search.h"

struct doubtful_search {
    struct minimal_search search;
    size_t trusted;   /* so many acceptances go without a second look; 0: any number */
    bool looks_again; /* the next verdict is to be about search.current */
    struct search_stack {
        struct minimal_search *items;
        size_t count, capacity;
    } accepted; /* as the search was before each acceptance since the last second look */
};

/* As minimal_search_start(). */
bool doubtful_search_start(struct doubtful_search *doubtful, const struct dag *dag, const struct bitset *all,
                           size_t trusted);

/* What is to be checked next. */
const struct bitset *doubtful_search_candidate(const struct doubtful_search *doubtful);

/* As minimal_search_ops. A second look that is skipped has not confirmed anything. */
extern const struct search_ops doubtful_search_ops;

#endif
