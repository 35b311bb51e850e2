/* search/search.h: what a search is: a value that says what to check next, and learns what the check says of it.
 *
 * The module search/ holds the searches of the debug tools, and what decides when an unreliable check has said enough.
 * Numbers, graphs and verdicts come in, the next candidate goes out: an index, a set, a choice for each element. A
 * search never reads a file, starts a process or keeps time; so it can be copied, told what might be, and asked what it
 * would want then (search/lookahead.h). It may use base/.
 */
#ifndef SEARCH_SEARCH_H
#define SEARCH_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a check said about one candidate. */
enum verdict {
    VERDICT_PASS,
    VERDICT_FAIL,
    VERDICT_SKIP, /* neither: the candidate cannot be tested, or fails in another way */
};

/* What all searches can do. Each header says how its search is started, where its candidate stands, and what it takes
 * a skipped one for. */
struct search_ops {
    size_t size; /* of the search, in bytes */

    /* Makes `search` a copy of its own; to be released. */
    void (*copy)(void *search, const void *from);
    void (*release)(void *search);

    /* Records the verdict on the candidate, which had so many nodes, and moves on to the next one. Returns false when
     * the search is over. */
    bool (*advance)(void *search, int64_t nodes, enum verdict verdict);

    /* Checks still expected; NULL: that is not known. */
    int64_t (*remaining)(const void *search);

    /* How probable it is that the candidate fails; NULL: nothing is known. */
    double (*expect)(const void *search);
};

/* What ends a search. */
enum search_end {
    ENDS_BY_ITSELF,
    ENDS_BY_PASS, /* so a check that always fails has it go on for ever */
    ENDS_BY_FAILURE,
};

/* The simplest one: the same again, until enough was seen. */
struct repetition {
    enum search_end end;
    int64_t count; /* ENDS_BY_ITSELF: after so many candidates; at least 1 */
    int64_t index; /* of the candidate, counted from 0 */
};

extern const struct search_ops repetition_ops;

#endif
