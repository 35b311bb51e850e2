/* search/minimal_search.h: finds a 1-minimal failing set of elements with few checks.
 *
 * The elements are the nodes of a graph, and every subset is a candidate. The result fails, and removing any single
 * element makes it pass; both are verified by checks, not inferred. Steps:
 *
 * 1. Cuts from the outputs, by git's rule for bisection on a graph: each candidate is an element with its ancestors,
 *    the one that splits the suspects most evenly. Then cuts from the inputs, with descendants.
 * 2. Chunks are removed, in topological order so that they are nearly connected; their size is halved, and if scopes
 *    are known, chunks end at scope boundaries. (The complements of Zeller and Hildebrandt's ddmin, "Simplifying and
 *    Isolating Failure-Inducing Input", 2002; its subset tests cost more than they gain.)
 * 3. Single elements are removed, until a whole round changes nothing.
 *
 * Failures need not be monotone: the search only continues from sets that failed in a check.
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

    /* the bit sets, see SEARCH_SETS() */
    struct bitset current;   /* fails */
    struct bitset candidate; /* to be checked next */
    struct bitset suspects;  /* cuts: elements that may cause the failure */
    struct bitset refused;   /* cuts: elements whose cuts were skipped */
    struct bitset needed;    /* deletion: elements without which `current` did not fail */

    /* Only for expected verdicts: there are culprits between each of these borders and the next one, because `current`
     * did not fail without that chunk. In this round some were found in a part of the chunk at `explained`. */
    struct bitset borders;
    size_t explained;
    size_t checks; /* verdicts so far */

    /* cuts */
    bool is_convex; /* `current` is convex; maintained during cuts */
    uint32_t pivot; /* element of the current cut */

    /* deletion */
    size_t chunk; /* elements removed at once */
    size_t end;   /* elements from here on were tried in this round */
    size_t last;  /* the last element removed in the candidate; the first one is `end` */
};

/* `all` must be known to fail. False if nothing can be removed from it. */
bool minimal_search_start(struct minimal_search *search, const struct dag *dag, const struct bitset *all);

/* The candidate is the set search.candidate; when the search is over, search.current is 1-minimal. A skipped one counts
 * as not failing, except that neighbouring cuts are tried. Expected verdicts assume few culprits. */
extern const struct search_ops minimal_search_ops;

#endif
