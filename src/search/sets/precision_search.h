/* search/sets/precision_search.h: which elements have to stay in high precision, in few checks.
 *
 * Elements are positions 0 .. count - 1, the first of them first in line for the high precision. A check passes or
 * fails with a set of elements in high precision. Three searches:
 *
 * - bisect and linear: the smallest number of elements from the first on, except that all elements are an answer,
 *   and that there is always one (docs/coming-from-polygraphy.md, "Bisection in precision").
 * - minimal: a set without any element that it could do without. Elements are in the order of how much they are thought
 *   to matter: the shortest beginning that passes is looked for, then what is not needed is taken out of it from its
 *   end, in chunks that are halved, then one by one, until each that is left was seen to be needed. When no chunk of a
 *   whole round could go, and they were short, single ones have their turn at once: most are needed, as where errors
 *   add up. That last round is the proof: it does not presume that more high precision is always better. Hints make it
 *   shorter: elements that are probably needed are tried together before all others, and elements that belong together
 *   stay together until single ones have their turn.
 */
#ifndef SEARCH_SETS_PRECISION_SEARCH_H
#define SEARCH_SETS_PRECISION_SEARCH_H

#include "base/container/bitset.h"
#include "search/search.h"

enum precision_mode { PRECISION_BISECT, PRECISION_LINEAR, PRECISION_MINIMAL };
enum precision_outcome { PRECISION_SEARCHING, PRECISION_FOUND, PRECISION_NOT_FOUND };

enum precision_phase {
    PRECISION_ALL,    /* minimal: do all of them suffice? */
    PRECISION_NONE,   /* minimal: are any needed? */
    PRECISION_PREFIX, /* how many from the first on? */
    PRECISION_DELETE, /* minimal: which of those? */
};

/* What is thought of the elements of a minimal search. */
struct precision_hints {
    int64_t first; /* so many from the first on are tried together at once; 0: none */
    /* Of these, the first that are taken out only one by one, because each is probably needed. */
    int64_t presumed;
    /* Of each element: the number of its group, which never falls from one to the next. Beginnings that are tried are
     * whole groups, and chunks, too, at first. It outlives the search. NULL: each element is one. */
    const uint32_t *groups;
};

struct precision_search {
    enum precision_mode mode;
    enum precision_phase phase;
    enum precision_outcome outcome;
    int64_t count;
    struct bitset candidate; /* elements in high precision, to be checked next; in the end those that were found */

    /* prefixes */
    int64_t next;      /* how many elements the candidate has */
    int64_t good, bad; /* so many suffice, and do not, as far as is known */

    /* deletion */
    struct bitset kept;      /* suffices */
    struct bitset needed;    /* without it `kept` was seen to fail */
    struct bitset suspected; /* without it some set with all of `kept` was */
    int64_t chunk;           /* elements that are taken out at a time */
    int64_t end;             /* elements from here on have had their turn in this round */
    bool by_groups;          /* chunks are of groups */
    bool in_vain;            /* in this round nothing could be taken out so far */

    struct precision_hints hints;
};

/* `verified`: that all elements suffice, and none do not, was checked before; else a minimal search begins with
 * that. */
void precision_search_start(struct precision_search *search, enum precision_mode mode, size_t count, bool verified);

/* For a minimal search that was just started. */
void precision_search_hint(struct precision_search *search, const struct precision_hints *hints);

/* The candidate is the set search.candidate; when the search is over, search.outcome says what came of it. What is not
 * known to pass counts as failing. */
extern const struct search_ops precision_search_ops;

#endif
