/* search/sets/greedy_search.h: simplifies many elements as far as the failure persists.
 *
 * Each element has alternatives, the simplest first. Choice 0 is its original state, choice n its n-th alternative. A
 * configuration is a choice for each element.
 *
 * The first alternative is tried on all elements at once, then on halves, quarters, and so on to single elements; parts
 * that still fail keep it. Then the second alternative is tried on the remaining elements, and so on. If no element
 * matters this needs one check, and about 2 * k * log2(n / k) if k of n do. An alternative that was refused for a
 * single element is not tried again, so the result fails, but is not necessarily the simplest.
 */
#ifndef SEARCH_SETS_GREEDY_SEARCH_H
#define SEARCH_SETS_GREEDY_SEARCH_H

#include "search/search.h"

/* Positions in greedy_search.members. */
struct greedy_range {
    uint32_t begin, end;
};

struct greedy_search {
    size_t count;
    uint8_t *alternatives; /* number of alternatives of each element */
    uint8_t *current;      /* a choice for each element; this configuration fails */
    uint8_t *candidate;    /* likewise; to be checked next */
    uint8_t choice;        /* the alternative being tried; 0: the search is over */
    size_t checks;         /* verdicts so far */

    uint32_t *members; /* elements for which this choice is tried */
    size_t member_count;
    struct { /* parts to be tried; the first is the current one */
        struct greedy_range *items;
        size_t first, count, capacity;
    } ranges;
};

/* `alternatives` is copied; an element may have none. The configuration of all zeros must be known to fail. False if
 * there is nothing to try. */
bool greedy_search_start(struct greedy_search *search, const uint8_t *alternatives, size_t count);

/* The candidate is the configuration search.candidate; when the search is over, search.current is the result. A skipped
 * one is treated as passed. Expected counts assume that queued parts are not split further. */
extern const struct search_ops greedy_search_ops;

#endif
