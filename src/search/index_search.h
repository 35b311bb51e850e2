/* search/index_search.h: bisection and linear search over a list of cut points, as Polygraphy's `reduce` does them.
 *
 * The search gets the node count and verdict of the candidate at each index, and finds the index of the smallest
 * failing candidate. Arithmetic and order of indices: docs/coming-from-polygraphy.md, "Bisection in reduce".
 */
#ifndef SEARCH_INDEX_SEARCH_H
#define SEARCH_INDEX_SEARCH_H

#include "base/memory.h"
#include "search/search.h"

enum index_mode { INDEX_BISECT, INDEX_LINEAR };

/* Direction of the reduction: when moving outputs, small indices give small candidates; when moving inputs, large ones
 * do. */
enum index_direction { INDEX_FOR_OUTPUTS, INDEX_FOR_INPUTS };

struct index_pass {
    int64_t index, nodes;
};

struct index_search {
    enum index_mode mode;
    enum index_direction direction;
    int64_t count; /* indices are 0 .. count-1 */
    int64_t next;  /* next index to try; -1: the search is over */
    int64_t tried;
    int64_t good, bad; /* bisection's bounds */
    bool seen_pass;
    int64_t best_bad, best_bad_nodes; /* smallest failing candidate; index -1: none */
    VECTOR(struct index_pass) passes; /* one for each node count */
};

void index_search_start(struct index_search *search, enum index_mode mode, enum index_direction direction,
                        int64_t count);
/* The candidate is the index search.next. A skipped one is treated as passed, but not recorded as a pass. */
extern const struct search_ops index_search_ops;

/* The passing candidate closest in size to the smallest failing one of this search: the largest below it, else the
 * smallest; of equal ones the later (Polygraphy's `best good`). NULL if none passed. */
const struct index_pass *index_search_closest_pass(const struct index_search *search);

#endif
