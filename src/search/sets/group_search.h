/* search/sets/group_search.h: in which of its places is one thing wrong?
 *
 * A configuration fails when one element of it is taken from a bad one, which fails without that element, too: perhaps
 * since others that are of a kind with it fail in the same way. The elements of that kind are the group. First all of
 * them are taken out of the bad configuration: if it fails still, the reason is not in the group. Then those are looked
 * for that fail alone, in chunks: a chunk that passes was harmless, and the next one is twice as large; in one that
 * fails the first culprit is found by halving. So a group in which all fail takes a check each, and one in which k of n
 * do takes about 2 k log2(n). At the end these alone are taken out of the bad configuration.
 *
 * Every statement is about sets that were checked. What cannot be checked counts as passed; then the last check may
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
    struct bitset candidate; /* to be checked next: elements taken from the bad configuration */
    struct bitset group;
    struct bitset guilty; /* of the group: seen to fail alone */
    struct bitset open;   /* of the group: nothing is known of these so far */
    size_t chunk;         /* so many of these are tried next */
    size_t suspect;       /* among so many of these one fails; 0: that is not known */

    enum verdict without; /* in the end: what was seen of the bad configuration without the group */
    bool cures;           /* in the end: that it passes */
    bool exact;           /* in the end: it was seen to pass without the guilty ones */
};

/* `failing` is an element of the group that was seen to fail alone. SIZE_MAX: none was, and all that is asked is
 * whether the group cures. */
void group_search_start(struct group_search *search, const struct bitset *group, size_t failing);

/* The candidate is the set search.candidate. */
extern const struct search_ops group_search_ops;

#endif
