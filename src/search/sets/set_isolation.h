/* search/sets/set_isolation.h: which of many changes makes the difference between a good and a bad configuration.
 *
 * Some elements are taken from the bad configuration, the others from the good one. None of them is known to pass, all
 * of them are known to fail. This is the isolation of Zeller and Hildebrandt ("Simplifying and Isolating
 * Failure-Inducing Input", IEEE TSE 28, 2002: dd), which narrows a passing and a failing set until they differ by one
 * element. With verdicts that are always one or the other, it halves the difference with every check: log2(n) of them
 * find an element that turns the verdict.
 *
 * An element that turns the verdict may need others. So it is kept, and if it does not fail alone, the next one is
 * looked for in the same way among those before it (a search for transitions: k * log2(n) checks for k of them). At the
 * end single elements are left out again, until the set is 1-minimal: it was seen to fail, and without any one of its
 * elements it was seen to pass. One more check says whether the bad configuration passes without the set, or fails for
 * another reason as well.
 *
 * Failures need not be monotone: every statement is about sets that were checked.
 *
 * The module search/sets/ holds searches for a set among numbered elements that no graph connects.
 */
#ifndef SEARCH_SETS_SET_ISOLATION_H
#define SEARCH_SETS_SET_ISOLATION_H

#include "base/container/bitset.h"
#include "search/search.h"

enum isolation_phase {
    ISOLATION_NARROW,    /* between `low` and `high` */
    ISOLATION_ALONE,     /* does what was found fail by itself? */
    ISOLATION_DELETE,    /* does it fail without one of its elements? */
    ISOLATION_NECESSARY, /* does everything but what was found pass? */
    ISOLATION_DONE,
};

struct set_isolation {
    size_t count; /* elements are 0 .. count-1 */
    enum isolation_phase phase;
    struct bitset candidate; /* to be checked next: elements taken from the bad configuration */
    size_t checks;           /* verdicts so far */

    struct bitset found;  /* in the end: the elements that make the difference */
    enum verdict without; /* in the end: what was seen of the bad configuration without them */
    bool necessary;       /* in the end: that it passes */
    size_t low, high;     /* `found` and the first `low` elements pass, `found` and the first `high` fail */
    size_t next_delete;   /* the element that is left out next */
    size_t last_found;    /* without it, `found` passes */
};

/* False when there is nothing to look for, because there is only one element: it is the one. `count` is at least 1. */
bool set_isolation_start(struct set_isolation *search, size_t count);

/* The candidate is the set search.candidate; one that cannot be checked counts as passed. What is expected presumes
 * that a single element makes the difference. */
extern const struct search_ops set_isolation_ops;

#endif
