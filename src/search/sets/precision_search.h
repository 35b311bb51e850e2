/* search/sets/precision_search.h: finds the elements that need high precision, with few checks.
 *
 * Elements are positions 0 .. count - 1, sorted by priority for high precision. A check passes or fails with a set of
 * elements in high precision. Three searches:
 *
 * - bisect and linear: the shortest prefix that passes, except that all elements are always a result, so there is
 *   always one (docs/coming-from-polygraphy.md, "Bisection in precision").
 * - minimal: a 1-minimal set. Elements are sorted by their expected importance: the shortest passing prefix is found,
 *   then unneeded elements are removed from its end, in chunks of decreasing size, then one by one, until each
 *   remaining one was verified as needed. If no chunk of a whole round could be removed, and chunks were short, single
 *   elements are tried at once: most are needed, as when errors accumulate. The last round is the proof: it does not
 *   assume that more high precision is always better. Hints shorten it: elements that are probably needed are tried
 *   first, together, and elements of a group stay together until single elements are tried.
 */
#ifndef SEARCH_SETS_PRECISION_SEARCH_H
#define SEARCH_SETS_PRECISION_SEARCH_H

#include "base/container/bitset.h"
#include "search/search.h"

enum precision_mode { PRECISION_BISECT, PRECISION_LINEAR, PRECISION_MINIMAL };
enum precision_outcome { PRECISION_SEARCHING, PRECISION_FOUND, PRECISION_NOT_FOUND };

enum precision_phase {
    PRECISION_ALL,    /* minimal: are all elements sufficient? */
    PRECISION_NONE,   /* minimal: are any needed? */
    PRECISION_PREFIX, /* how long is the prefix? */
    PRECISION_DELETE, /* minimal: which elements of the prefix? */
};

/* Hints about the elements of a minimal search. */
struct precision_hints {
    int64_t first; /* length of the prefix that is tried first; 0: none */
    /* Of these, the number of first elements that are only removed one by one, because each is probably needed. */
    int64_t presumed;
    /* The group of each element, ascending. Prefixes consist of whole groups, and initially chunks, too. Must outlive
     * the search. NULL: each element is a group. */
    const uint32_t *groups;
};

struct precision_search {
    enum precision_mode mode;
    enum precision_phase phase;
    enum precision_outcome outcome;
    int64_t count;

    /* the bit sets, see SEARCH_SETS() */
    struct bitset candidate; /* elements in high precision, to be checked next; finally the result */
    struct bitset kept;      /* deletion: sufficient set */
    struct bitset needed;    /* elements without which `kept` fails */
    struct bitset suspected; /* elements without which a superset of `kept` failed */

    /* prefixes */
    int64_t next;      /* length of the candidate */
    int64_t good, bad; /* known lengths that are sufficient, and insufficient */

    /* deletion */
    int64_t chunk;  /* elements removed at once */
    int64_t end;    /* elements from here on were tried in this round */
    bool by_groups; /* chunks are of groups */
    bool in_vain;   /* nothing was removed in this round so far */

    struct precision_hints hints;
};

/* `verified`: it is already known that all elements are sufficient and the empty set is not; else a minimal search
 * checks that first. */
void precision_search_start(struct precision_search *search, enum precision_mode mode, size_t count, bool verified);

/* Sets hints of a minimal search; call directly after the start. */
void precision_search_hint(struct precision_search *search, const struct precision_hints *hints);

/* The candidate is the set search.candidate; when the search is over, search.outcome is the result. A candidate that is
 * not known to pass counts as failing. */
extern const struct search_ops precision_search_ops;

#endif
