/* debug/reduce/part.h: the candidates of `debug reduce`, parts of the model, as the session sees them. */
#ifndef DEBUG_REDUCE_PART_H
#define DEBUG_REDUCE_PART_H

#include "debug/cut/candidate.h"
#include "debug/cut/external.h"
#include "debug/session/session.h"

/* A subject whose candidates are parts: what identify() returns was filled by part_identify(). Its `data` begins with a
 * struct candidate_maker *. */
struct session_subject part_subject(void *data, int (*identify)(void *data, const void *search,
                                                                struct candidate_description *ret, struct error *err));

/* Fills `ret` with the candidate that `part` is, which now belongs to it. `external`, which outlives the candidate: how
 * its weights are saved; NULL: inside. */
void part_identify(struct candidate_maker *maker, struct subgraph *part, const struct external_settings *external,
                   struct candidate_description *ret);
const struct subgraph *part_of(const struct candidate_description *candidate);

/* ---- Parts that no search has proposed: the original, the result, one that has passed ---- */

struct given_part {
    struct candidate_maker *maker; /* borrowed, as is what follows */
    struct debug_session *session;
    struct candidate_files *files;
    const struct subgraph *part;
    const struct external_settings *external; /* NULL: everything inside */
};

/* See session_check(). */
int given_part_check(struct given_part *given, struct check_request request, enum verdict *ret, struct error *err);

/* A check of this session has to have said so of the part, in the form that it is written in, byte for byte, but for
 * what the file of its external data will be called: see belief_confirm(). */
int given_part_confirm(struct given_part *given, const char *what, enum verdict expected, struct error *err);

/* The same of the part in any form: what is known of it must not be from a debug replay or a verdict cache. */
int given_part_confirm_known(struct given_part *given, const char *what, enum verdict expected, struct error *err);

#endif
