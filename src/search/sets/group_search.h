/* search/sets/group_search.h: finds the faulty elements of a group of similar elements.
 *
 * A good configuration fails with one element of a bad one, but the bad one also fails without that element: perhaps
 * because similar elements (the group) fail in the same way. First the whole group is removed from the bad
 * configuration: if it still fails, the cause is not in the group. Then elements that fail alone are searched in
 * chunks: after a passing chunk the next one is twice as large; in a failing chunk the first culprit is found by
 * bisection. If all elements fail this needs one check each, and about 2 k log2(n) checks if k of n do. Finally only
 * these elements are removed from the bad configuration.
 *
 * Every result is based on sets that were checked. Inconclusive checks count as passed; the last check may then
 * contradict.
 */
#ifndef SEARCH_SETS_GROUP_SEARCH_H
#define SEARCH_SETS_GROUP_SEARCH_H

#include "base/container/bitset.h"
#include "search/search.h"

enum group_phase {
    GROUP_WITHOUT_ALL,    /* does all but the group pass? */
    GROUP_CHUNKS,         /* which of its elements fail? */
    GROUP_WITHOUT_GUILTY, /* does all but these pass? */
    GROUP_DONE,
};

struct group_search {
    size_t count; /* elements are 0 .. count-1 */
    enum group_phase phase;

    /* the bit sets, see SEARCH_SETS() */
    struct bitset candidate; /* to be checked next: elements taken from the bad configuration */
    struct bitset group;
    struct bitset guilty; /* of the group: fail alone */
    struct bitset open;   /* of the group: unknown so far */

    size_t chunk;   /* number of elements to try next */
    size_t suspect; /* one of this many next elements fails; 0: unknown */

    enum verdict without; /* result: verdict on the bad configuration without the group */
    bool cures;           /* result: `without` is a pass */
    bool exact;           /* result: it passes without the guilty elements */
};

/* `failing` is an element of the group that fails alone. SIZE_MAX: none is known; only test whether removing the group
 * makes the bad configuration pass. */
void group_search_start(struct group_search *search, const struct bitset *group, size_t failing);

/* The candidate is the set search.candidate. */
extern const struct search_ops group_search_ops;

#endif
