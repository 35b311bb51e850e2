/* search/sets/greedy_search.h: how far each of many things can be simplified while the failure stays.
 *
 * Each element has alternatives, the simplest one first, and is what it was in the beginning: choice 0. Its n-th
 * alternative is choice n. A configuration is a choice for each element.
 *
 * The first alternative is tried on all elements at once, then on halves, quarters, and so on to single ones; parts
 * that still fail keep it. Then the second one on those that are left, and so on. When most elements do not matter that
 * takes one check, and about 2 * k * log2(n / k) when k of n do. An element that was refused an alternative alone does
 * not get it again, so the result fails, but is not the simplest of all.
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
    uint8_t *alternatives; /* of each element, how many it has */
    uint8_t *current;      /* a choice for each element: fails */
    uint8_t *candidate;    /* likewise; to be checked next */
    uint8_t choice;        /* the one that is tried on elements now; 0: the search is over */
    size_t checks;         /* verdicts so far */

    uint32_t *members; /* elements that this choice is open to */
    size_t member_count;
    struct { /* parts to be tried, the first one now */
        struct greedy_range *items;
        size_t first, count, capacity;
    } ranges;
};

/* `alternatives` is copied; an element may have none. The configuration of all zeros is known to fail. False when there
 * is nothing to try. */
bool greedy_search_start(struct greedy_search *search, const uint8_t *alternatives, size_t count);

/* The candidate is the configuration search.candidate; when the search is over, search.current is the result. One that
 * is skipped is treated like one that passes. What is expected presumes that nothing is left to try below the parts
 * that wait. */
extern const struct search_ops greedy_search_ops;

#endif
