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
void doubtful_search_copy(struct doubtful_search *doubtful, const struct doubtful_search *from);
void doubtful_search_release(struct doubtful_search *doubtful);

/* What is to be checked next. */
const struct bitset *doubtful_search_candidate(const struct doubtful_search *doubtful);

/* Records the verdict on it and moves on. Returns false when the search is over. A second look that ends with
 * VERDICT_SKIP has not confirmed anything. */
bool doubtful_search_advance(struct doubtful_search *doubtful, enum verdict verdict);

/* As minimal_search_failure_probability(). */
double doubtful_search_failure_probability(const struct doubtful_search *doubtful);

/* As minimal_search_remaining(). */
size_t doubtful_search_remaining(const struct doubtful_search *doubtful);

#endif
