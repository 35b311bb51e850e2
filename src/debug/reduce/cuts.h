/* debug/reduce/cuts.h: `debug reduce --mode bisect` and `linear`: the searches of search/index_search.h over the list
 * of nodes.
 *
 * First the earliest outputs that still fail are looked for, then, in what is left, the latest inputs.
 */
#ifndef DEBUG_REDUCE_CUTS_H
#define DEBUG_REDUCE_CUTS_H

#include "debug/cut/candidate.h"
#include "debug/loop/loop.h"

/* What is cut, where, and what was found. */
struct cut_phase {
    struct subgraph base;
    uint32_t *nodes; /* of base, in order: what the search's indices stand for */
    struct index_search search;
    bool done;
};

struct cut_reduction {
    struct candidate_maker *maker; /* borrowed, as is what follows */
    struct loop *loop;
    struct log *log;
    enum index_mode mode;

    struct cut_phase phases[2]; /* by enum index_direction */
    struct cut_phase *phase;    /* the one that runs */
    struct subgraph candidate;  /* the one that was described last, for now */
    struct subgraph bad;        /* the smallest that failed */
};

/* `bad` is known to fail, and is copied. */
void cut_reduction_init(struct cut_reduction *reduction, struct candidate_maker *maker, const struct subgraph *bad,
                        enum index_mode mode, struct loop *loop, struct log *log);
void cut_reduction_release(struct cut_reduction *reduction);

/* Runs one phase on what the one before has left. */
int cut_reduction_run(struct cut_reduction *reduction, enum index_direction direction, struct error *err);

/* Makes the passing candidate that is closest in size to `bad` again. */
int cut_reduction_find_good(struct cut_reduction *reduction, const struct subgraph *bad, bool *ret_found,
                            struct subgraph *ret, struct error *err);

#endif
