/* search/search.h: the interface of searches: a state that proposes the next candidate and is advanced by its verdict.
 *
 * The module search/ contains the searches of the debug tools and the sequential tests for unreliable checks. A search
 * gets numbers, graphs and verdicts, and proposes candidates: an index, a set, or a choice for each element. It never
 * accesses files, processes or clocks, so it can be copied and advanced speculatively (search/lookahead.h). It depends
 * on base/ only.
 */
#ifndef SEARCH_SEARCH_H
#define SEARCH_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The verdict of a check on one candidate. */
enum verdict {
    VERDICT_PASS,
    VERDICT_FAIL,
    VERDICT_SKIP, /* inconclusive: the candidate cannot be tested, or has another failure */
};

/* The operations of a search. Each header documents how its search is started, where its candidate is stored, and how
 * skipped candidates are treated. */
struct search_ops {
    size_t size; /* of the search, in bytes */

    /* Of a search that owns no memory but bit sets: see SEARCH_SETS(). */
    size_t sets, set_count;

    /* Of other searches, else NULL: `copy` initializes `search` as a deep copy, to be released. */
    void (*copy)(void *search, const void *from);
    void (*release)(void *search);

    /* Records the verdict on the candidate, which had `nodes` nodes, and advances to the next one. Returns false if the
     * search is over. */
    bool (*advance)(void *search, int64_t nodes, enum verdict verdict);

    /* Expected number of remaining checks; NULL: unknown. */
    int64_t (*remaining)(const void *search);

    /* The probability that the candidate fails; NULL: unknown. */
    double (*expect)(const void *search);
};

/* Initializes `sets` and `set_count` of search_ops: the bit sets from member `first` to member `last` of `type`. There
 * are no other members between them. */
#define SEARCH_SETS(type, first, last)                                                                                 \
    .sets = offsetof(type, first),                                                                                     \
    .set_count = (offsetof(type, last) - offsetof(type, first)) / sizeof(struct bitset) + 1

/* Initializes `search` as a deep copy of `from`, to be released. */
void search_copy(const struct search_ops *ops, void *search, const void *from);

/* Releases the memory of a search, and sets all of it to zero. */
void search_release(const struct search_ops *ops, void *search);

/* What ends a search. */
enum search_end {
    ENDS_BY_ITSELF,
    ENDS_BY_PASS, /* so with a check that always fails it never ends */
    ENDS_BY_FAILURE,
};

/* The simplest search: repeats the same candidate. */
struct repetition {
    enum search_end end;
    int64_t count; /* ENDS_BY_ITSELF: number of candidates; at least 1 */
    int64_t index; /* of the candidate, counted from 0 */
};

extern const struct search_ops repetition_ops;

#endif
