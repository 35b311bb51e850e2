/* search/greedy_search.h: how far each of many things can be simplified while the failure stays.
 *
 * Each element has alternatives, the simplest one first, and is what it was in the beginning: choice 0. Its n-th
 * alternative is choice n. A configuration is a choice for each element.
 *
 * The first alternative is tried on all elements at once, then on halves, quarters, and so on to single ones; parts
 * that still fail keep it. Then the second one on those that are left, and so on. When most elements do not matter that
 * takes one check, and about 2 * k * log2(n / k) when k of n do. An element that was refused an alternative alone does
 * not get it again, so the result fails, but is not the simplest of all.
 *
 * A search is a value: it never reads a file, starts a process or keeps time.
 */
#ifndef SEARCH_GREEDY_SEARCH_H
#define SEARCH_GREEDY_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "search/verdict.h"

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
void greedy_search_copy(struct greedy_search *search, const struct greedy_search *from);
void greedy_search_release(struct greedy_search *search);

/* Records the verdict on search->candidate and moves on. Returns false when the search is over. What cannot be checked
 * is treated like what passes. */
bool greedy_search_advance(struct greedy_search *search, enum verdict verdict);

/* Checks still expected, should nothing be left to try below the parts that wait. */
size_t greedy_search_remaining(const struct greedy_search *search);

#endif
