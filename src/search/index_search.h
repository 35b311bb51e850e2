/* search/index_search.h: bisection and linear search over a list of cut points, as Polygraphy's `reduce` does them.
 *
 * A search is a value: it never reads a file, starts a process or keeps time. It is asked for an index, told how many
 * nodes the candidate had and whether it failed, and says in the end which index gave the smallest failing candidate.
 * Arithmetic and order of indices are Polygraphy's, with one addition: bisection for outputs presumes that index 0
 * passes; when the search ends there without having seen it, index 0 is tried too.
 */
#ifndef SEARCH_INDEX_SEARCH_H
#define SEARCH_INDEX_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "search/verdict.h"

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
void index_search_copy(struct index_search *search, const struct index_search *from);
void index_search_release(struct index_search *search);

/* Records the verdict on index search->next, whose candidate had `nodes` nodes, and moves on. Returns false when the
 * search is over. */
bool index_search_advance(struct index_search *search, int64_t nodes, enum verdict verdict);

/* The candidate at search->next cannot be checked. Moves on as if it had passed, but it is no passing candidate.
 * Returns false when the search is over. */
bool index_search_skip(struct index_search *search);

/* Checks still expected; may undershoot by one. */
int64_t index_search_remaining(const struct index_search *search);

/* Of what passed, and of `best` if that is not NULL: the candidate that is closest in size to a failing one of
 * `bad_nodes` nodes. That is the largest below it, else the smallest; later ones win over equally large earlier ones.
 * NULL when nothing passed. */
const struct index_pass *index_search_closest_pass(const struct index_search *search, int64_t bad_nodes,
                                                   const struct index_pass *best);

#endif
