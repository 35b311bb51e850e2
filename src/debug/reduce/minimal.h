/* debug/reduce/minimal.h: `debug reduce --mode minimal`: the search of search/minimal_search.h over the nodes of a
 * model.
 *
 * Every set of nodes is a candidate (candidate_of_nodes()). What the inputs of a candidate hold in the original, and
 * what its outputs held there, can be written beside it, so that a check can compare without files of its own.
 */
#ifndef DEBUG_REDUCE_MINIMAL_H
#define DEBUG_REDUCE_MINIMAL_H

#include "debug/cut/candidate.h"
#include "debug/loop/loop.h"
#include "search/doubtful_search.h"

struct minimal_reduction {
    struct candidate_maker *maker; /* borrowed, as is what follows */
    struct loop *loop;
    struct log *log;

    struct dag dag; /* of the model's nodes */
    struct doubtful_search search;
    struct subgraph candidate; /* the one that was described last, for now */
    struct subgraph bad;       /* the smallest that failed, unless the search went back */
    bool went_back;            /* from it: a second look at it has shown that it does not fail */
    struct subgraph good;      /* the passing one that is closest to it */
    bool has_good;
    bool is_ended;   /* the search came to its end */
    size_t untested; /* single nodes of `bad` without which the check says nothing, rather than that it does not fail */
};

/* `bad` is known to fail, and is copied. */
void minimal_reduction_init(struct minimal_reduction *reduction, struct candidate_maker *maker,
                            const struct subgraph *bad, struct loop *loop, struct log *log);
void minimal_reduction_release(struct minimal_reduction *reduction);

/* `number`: which search of the session it is, counted from 1: its verdicts have keys of their own in the replay. */
int minimal_reduction_run(struct minimal_reduction *reduction, size_t number, struct error *err);

/* Logs what a search that came to its end has shown of its result. */
void minimal_reduction_certify(size_t nodes, size_t untested, struct log *log);

#endif
