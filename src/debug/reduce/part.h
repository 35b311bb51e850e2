/* debug/reduce/part.h: candidates of `debug reduce`, which are subgraphs, as a session subject. */
#ifndef DEBUG_REDUCE_PART_H
#define DEBUG_REDUCE_PART_H

#include "debug/cut/candidate.h"
#include "debug/cut/external.h"
#include "debug/session/session.h"

/* A subject whose candidates are subgraphs: identify() fills its result with part_identify(). `data` begins with a
 * struct candidate_maker *. */
struct session_subject part_subject(void *data, int (*identify)(void *data, const void *search,
                                                                struct candidate_description *ret, struct error *err));

/* Fills `ret` with the candidate `part`, which now belongs to it. `external`, valid for the lifetime of the candidate:
 * how its weights are saved; NULL: inside of the model. */
void part_identify(struct candidate_maker *maker, struct subgraph *part, const struct external_settings *external,
                   struct candidate_description *ret);
const struct subgraph *part_of(const struct candidate_description *candidate);

/* ---- Parts that no search has proposed: the original, the result, one that has passed ---- */

struct given_part {
    struct candidate_maker *maker; /* borrowed, like the following members */
    struct debug_session *session;
    struct candidate_files *files;
    const struct subgraph *part;
    const struct external_settings *external; /* NULL: weights inside of the model */
    const struct hash *data;                  /* of other input data than those of the search; NULL: the same */
};

/* See session_check(). */
int given_part_check(struct given_part *given, struct check_request request, enum verdict *ret, struct error *err);

/* Confirms `expected` with a check of this session on exactly the bytes to be written, except for the name of the
 * external data: see belief_confirm(). */
int given_part_confirm(struct given_part *given, const char *what, enum verdict expected, struct error *err);

/* The same, without comparing bytes: the verdict must not be from a debug replay or a verdict cache. */
int given_part_confirm_known(struct given_part *given, const char *what, enum verdict expected, struct error *err);

#endif
