/* debug/reduce/searches.h: the two searches for the smallest failing subgraph. */
#ifndef DEBUG_REDUCE_SEARCHES_H
#define DEBUG_REDUCE_SEARCHES_H

#include "debug/cut/candidate.h"
#include "debug/session/session.h"
#include "search/index_search.h"

/* Result of a search. */
struct found_part {
    struct subgraph bad;  /* the smallest failing subgraph */
    struct subgraph good; /* with `has_good`: the passing subgraph closest to it */
    bool has_good;
    /* Of nodes: */
    bool is_ended;   /* the search is complete */
    size_t untested; /* single nodes of `bad` without which the check is inconclusive */
};

struct cut_settings {
    enum index_mode mode;
    bool outputs, inputs; /* which ends are moved */
};

/* `debug reduce --mode bisect` and `linear`, over the list of nodes (search/index_search.h): first the earliest outputs
 * that still fail are found, then the latest inputs. `part->bad` fails at the beginning. */
int reduce_by_cuts(struct candidate_maker *maker, const struct cut_settings *settings, struct debug_session *session,
                   struct found_part *part, struct error *err);

/* `--mode minimal` (search/minimal_search.h): every set of nodes is a candidate (candidate_of_nodes()). `number`: of
 * the search in the session, from 1, for separate replay keys. An existing `part->good` is kept. */
int reduce_by_nodes(struct candidate_maker *maker, struct debug_session *session, size_t number,
                    struct found_part *part, struct error *err);

#endif
