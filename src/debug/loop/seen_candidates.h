/* debug/loop/seen_candidates.h: which candidates have a verdict already. */
#ifndef DEBUG_LOOP_SEEN_CANDIDATES_H
#define DEBUG_LOOP_SEEN_CANDIDATES_H

#include "base/container/arena.h"
#include "base/container/name_map.h"
#include "base/hash.h"
#include "search/failure_rates.h"
#include "search/search.h"

/* Who has said so. */
enum verdict_source {
    VERDICT_OF_CHECK, /* that was run in this session */
    VERDICT_OF_REPLAY,
    VERDICT_OF_CACHE,
};

struct seen_candidate {
    enum verdict verdict;
    enum verdict_source source;
    const char *what;         /* "iteration 3" */
    const char *phase;        /* "outputs"; NULL: of none */
    struct run_counts counts; /* of a check that was run several times */
};

struct seen_candidates {
    struct name_map indices; /* from the bytes of an identity to an index into `items` */
    struct seen_candidate *items;
    size_t count, capacity;
    struct arena memory; /* of identities and texts */
};

void seen_candidates_init(struct seen_candidates *seen);
void seen_candidates_release(struct seen_candidates *seen);

/* NULL when no candidate of this identity was added. */
const struct seen_candidate *seen_candidates_find(const struct seen_candidates *seen, struct hash identity);

/* Remembers a verdict, unless the identity has one: that is kept, or replaced with seen_candidates_correct(), which
 * leaves alone what the candidate is called. The texts are copied. */
void seen_candidates_correct(struct seen_candidates *seen, struct hash identity, struct seen_candidate candidate);
void seen_candidates_add(struct seen_candidates *seen, struct hash identity, struct seen_candidate candidate);

#endif
