/* search/minimal_search.h: the smallest set of elements that still fails: 1-minimal, in few checks.
 *
 * The elements are the nodes of a graph, and every subset is a candidate. What is found fails, and without any single
 * one of its elements it does not: that is the certificate, and it was checked, not inferred. In this order:
 *
 * 1. Cuts from the outputs, by git's rule for bisection on a graph: the candidate is an element with its ancestors, the
 *    one that halves the suspects best. Then cuts from the inputs, with descendants.
 * 2. Chunks are left out, in topological order so that they are nearly connected pieces; their size halves, and where
 *    it is known which scopes elements stand in, they end where scopes do. (The complements of
 *    Zeller and Hildebrandt's ddmin, "Simplifying and Isolating Failure-Inducing Input", 2002; its tests of subsets
 *    cost more than they bring.)
 * 3. Single elements are left out, until a whole round changes nothing.
 *
 * Monotone failures are not presumed: only what was seen to fail is ever gone on with.
 */
#ifndef SEARCH_MINIMAL_SEARCH_H
#define SEARCH_MINIMAL_SEARCH_H

#include "search/graph/dag.h"
#include "search/search.h"

enum minimal_phase {
    MINIMAL_CUT_OUTPUTS,
    MINIMAL_CUT_INPUTS,
    MINIMAL_DELETE, /* chunks, then single elements */
    MINIMAL_DONE,
};

struct minimal_search {
    const struct dag *dag; /* borrowed */
    enum minimal_phase phase;
    struct bitset current;   /* fails */
    struct bitset candidate; /* to be checked next */
    size_t checks;           /* verdicts so far */

    /* cuts */
    bool is_convex;         /* `current` is, as long as it is cut */
    struct bitset suspects; /* elements at one of which the failure begins */
    struct bitset refused;  /* cuts there cannot be checked */
    uint32_t pivot;         /* where the candidate is cut */

    /* deletion */
    size_t chunk;         /* elements that are left out at a time */
    size_t end;           /* elements beyond this one have had their turn in this round */
    size_t last;          /* the last element that the candidate leaves out; the first one is `end` */
    struct bitset needed; /* without it, `current` was seen not to fail */

    /* Only for what is expected: there are culprits between each of these borders and the next one,
     * because without what lies there `current` was seen not to fail. In this round some were seen in a part of what
     * begins at `explained`. */
    struct bitset borders;
    size_t explained;
};

/* `all` is known to fail. False when nothing can be left out of it. */
bool minimal_search_start(struct minimal_search *search, const struct dag *dag, const struct bitset *all);

/* The candidate is the set search.candidate; when the search is over, search.current is 1-minimal. One that is skipped
 * counts as one that does not fail, except that cuts beside it are tried. What is expected presumes few culprits, and
 * nothing else to it. */
extern const struct search_ops minimal_search_ops;

#endif
