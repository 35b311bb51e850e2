/* search/graph/best_cut.h: the cut of a graph whose verdict is most informative: git's rule for bisection.
 *
 * A cut keeps an element with all its ancestors (or descendants). The best cut splits the suspects most evenly; ties
 * are resolved by the smallest element.
 */
#ifndef SEARCH_GRAPH_BEST_CUT_H
#define SEARCH_GRAPH_BEST_CUT_H

#include "search/graph/dag.h"

struct cut_question {
    const struct dag *dag;
    enum dag_direction direction;
    const struct bitset *current;  /* the set to be cut */
    bool is_convex;                /* `current` is convex: see dag_is_convex() */
    const struct bitset *suspects; /* in `current` */
    const struct bitset *refused;  /* elements where cuts are excluded */
};

struct best_cut {
    uint32_t pivot;
    size_t balance; /* suspects on the smaller side */
};

/* False if no cut removes anything. If there are many suspects, only evenly spaced ones are tried, which is nearly as
 * good. */
bool best_cut_find(const struct cut_question *question, struct best_cut *ret);

/* Sets `ret` to the part of `current` that a cut at `pivot` keeps. */
void cut_make(const struct cut_question *question, uint32_t pivot, struct bitset *ret);

#endif
