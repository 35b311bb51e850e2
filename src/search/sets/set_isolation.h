/* search/sets/set_isolation.h: isolates the elements that make the difference between a good and a bad configuration.
 *
 * Some elements are from the bad configuration, the others from the good one. The empty set is known to pass, the full
 * set to fail. This is the isolation of Zeller and Hildebrandt ("Simplifying and Isolating Failure-Inducing Input",
 * IEEE TSE 28, 2002: dd), which narrows a passing and a failing set until they differ by one element. Without
 * inconclusive verdicts every check halves the difference: log2(n) checks find an element that changes the verdict.
 *
 * Such an element may depend on others. So it is kept, and if it does not fail alone, the next one is searched among
 * those before it (k * log2(n) checks for k elements). Then single elements are removed until the set is 1-minimal: it
 * fails, and passes without any one of its elements. A last check shows whether the bad configuration passes without
 * the set, or also fails for another reason.
 *
 * Failures need not be monotone: every result is based on sets that were checked.
 *
 * The module search/sets/ contains searches for a set of numbered elements without a graph.
 */
#ifndef SEARCH_SETS_SET_ISOLATION_H
#define SEARCH_SETS_SET_ISOLATION_H

#include "base/container/bitset.h"
#include "search/search.h"

enum isolation_phase {
    ISOLATION_NARROW,    /* between `low` and `high` */
    ISOLATION_ALONE,     /* does the found set fail alone? */
    ISOLATION_DELETE,    /* does it fail without one of its elements? */
    ISOLATION_NECESSARY, /* does everything except the found set pass? */
    ISOLATION_DONE,
};

struct set_isolation {
    size_t count; /* elements are 0 .. count-1 */
    enum isolation_phase phase;

    /* the bit sets, see SEARCH_SETS() */
    struct bitset candidate; /* to be checked next: elements taken from the bad configuration */
    struct bitset found;     /* result: the elements that make the difference */

    size_t checks;        /* verdicts so far */
    enum verdict without; /* result: verdict on the bad configuration without them */
    bool necessary;       /* result: `without` is a pass */
    size_t low, high;     /* `found` and the first `low` elements pass, `found` and the first `high` fail */
    size_t next_delete;   /* the element to remove next */
    size_t last_found;    /* without it, `found` passes */
};

/* False if there is only one element, which is then the result. `count` must be at least 1. */
bool set_isolation_start(struct set_isolation *search, size_t count);

/* The candidate is the set search.candidate; an inconclusive one counts as passed. Expected counts assume a single
 * culprit. */
extern const struct search_ops set_isolation_ops;

#endif
