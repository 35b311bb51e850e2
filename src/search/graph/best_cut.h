/* search/graph/best_cut.h: where to cut a graph so that a verdict on what is left says most: git's rule for bisection.
 *
 * What is left behind a cut is an element with all its ancestors (or descendants). Best is the cut that splits the
 * suspects most evenly; of several the one at the smallest element.
 */
#ifndef SEARCH_GRAPH_BEST_CUT_H
#define SEARCH_GRAPH_BEST_CUT_H

#include "search/graph/dag.h"

struct cut_question {
    const struct dag *dag;
    enum dag_direction direction;
    const struct bitset *current;  /* what is cut */
    bool is_convex;                /* so it is: see dag_is_convex() */
    const struct bitset *suspects; /* in `current` */
    const struct bitset *refused;  /* no cuts there */
};

struct best_cut {
    uint32_t pivot;
    size_t balance; /* suspects on the smaller side */
};

/* False when there is no cut that leaves anything out. Not all suspects are looked at when there are many: evenly
 * spaced ones do nearly as well. */
bool best_cut_find(const struct cut_question *question, struct best_cut *ret);

/* `ret` becomes what is left of `current` behind a cut at `pivot`. */
void cut_make(const struct cut_question *question, uint32_t pivot, struct bitset *ret);

#endif
