/* search/index_search.h: bisection and linear search over a list of cut points, as Polygraphy's `reduce` does them.
 *
 * The search is told how many nodes the candidate at an index had and whether it failed, and says in the end which
 * index gave the smallest failing candidate. Arithmetic and order of indices:
 * docs/coming-from-polygraphy.md, "Bisection in reduce".
 */
#ifndef SEARCH_INDEX_SEARCH_H
#define SEARCH_INDEX_SEARCH_H

#include "search/search.h"

enum index_mode { INDEX_BISECT, INDEX_LINEAR };

/* Which way candidates shrink: as outputs are cut, small indices leave few nodes; as inputs are cut, large ones do. */
enum index_direction { INDEX_FOR_OUTPUTS, INDEX_FOR_INPUTS };

struct index_pass {
    int64_t index, nodes;
};

struct index_search {
    enum index_mode mode;
    enum index_direction direction;
    int64_t count; /* indices are 0 .. count-1 */
    int64_t next;  /* to be tried; -1: the search is over */
    int64_t tried;
    int64_t good, bad; /* bisection's bounds */
    bool seen_pass;
    int64_t best_bad, best_bad_nodes; /* index -1: nothing failed */
    struct {
        struct index_pass *items;
        size_t count, capacity;
    } passes; /* one for each node count */
};

void index_search_start(struct index_search *search, enum index_mode mode, enum index_direction direction,
                        int64_t count);
/* The candidate is the index search.next. One that is skipped leads on as if it had passed, but it is no passing
 * candidate. */
extern const struct search_ops index_search_ops;

/* The pass whose candidate is closest in size to one of so many nodes that fails: the largest below it, else the
 * smallest. `best` is what was found in another search, or NULL; of equally good ones the later one is taken. NULL when
 * nothing passed. */
const struct index_pass *index_search_closest_pass(const struct index_search *search, int64_t bad_nodes,
                                                   const struct index_pass *best);

#endif
