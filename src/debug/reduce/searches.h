/* debug/reduce/searches.h: the two ways to look for the smallest part of a model that fails. */
#ifndef DEBUG_REDUCE_SEARCHES_H
#define DEBUG_REDUCE_SEARCHES_H

#include "debug/cut/candidate.h"
#include "debug/session/session.h"
#include "search/index_search.h"

/* What a search has come to. */
struct found_part {
    struct subgraph bad;  /* the smallest that was seen to fail */
    struct subgraph good; /* with `has_good`: the passing one that is closest to it */
    bool has_good;
    /* Of nodes: */
    bool is_ended;   /* the search came to its end */
    size_t untested; /* single nodes of `bad` without which the check says nothing, rather than that it does not fail */
};

struct cut_settings {
    enum index_mode mode;
    bool outputs, inputs; /* which of them are moved */
};

/* `debug reduce --mode bisect` and `linear`, over the list of nodes (search/index_search.h): first the earliest outputs
 * that still fail are looked for, then, in what is left, the latest inputs. `part->bad` is known to fail in the
 * beginning. */
int reduce_by_cuts(struct candidate_maker *maker, const struct cut_settings *settings, struct debug_session *session,
                   struct found_part *part, struct error *err);

/* `--mode minimal` (search/minimal_search.h): every set of nodes is a candidate (candidate_of_nodes()). `number`: which
 * search of the session it is, counted from 1: its verdicts have keys of their own in the replay. A `part->good` from
 * before stays. */
int reduce_by_nodes(struct candidate_maker *maker, struct debug_session *session, size_t number,
                    struct found_part *part, struct error *err);

#endif
