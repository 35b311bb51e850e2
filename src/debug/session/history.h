/* debug/session/history.h: the candidates and verdicts of a session so far, and their counts. */
#ifndef DEBUG_SESSION_HISTORY_H
#define DEBUG_SESSION_HISTORY_H

#include "base/container/arena.h"
#include "base/container/name_map.h"
#include "base/hash.h"
#include "search/failure_rates.h"

/* Origin of a verdict. */
enum verdict_source {
    VERDICT_OF_CHECK, /* run in this session */
    VERDICT_OF_REPLAY,
    VERDICT_OF_CACHE,
};

struct seen_candidate {
    enum verdict verdict;
    enum verdict_source source;
    const char *what;         /* "iteration 3" */
    const char *phase;        /* "outputs"; NULL: none */
    struct run_counts counts; /* if the check was repeated */
};

struct seen_candidates {
    struct name_map indices; /* maps the bytes of an identity to an index into `items` */
    struct seen_candidate *items;
    size_t count, capacity;
    struct arena memory; /* of identities and texts */
};

struct history {
    struct seen_candidates candidates; /* by identity */
    struct seen_candidates files;      /* checked in this session, by content */
    int64_t iterations[3];             /* number for each enum verdict */
    int64_t told;                      /* passes and failures of distinct candidates, including reused verdicts */
    int64_t last_pass, last_failure;   /* their numbers among `told`, from 1; 0: none */
    int64_t nodes_now, nodes_whole;    /* of the latest and of the first failing candidate; -1: unknown */
    int64_t written;                   /* number of candidates whose writing was logged */
    int64_t checks;                    /* number of runs */
    double check_seconds;              /* their total duration */
};

void history_init(struct history *history);
void history_release(struct history *history);

/* NULL if no candidate with this identity was added. */
const struct seen_candidate *seen_candidates_find(const struct seen_candidates *seen, struct hash identity);

/* Stores a verdict, unless the identity has one; then the verdict is kept, or replaced with `correct`, and the name of
 * the candidate is updated. Texts are copied. */
void seen_candidates_add(struct seen_candidates *seen, struct hash identity, struct seen_candidate candidate,
                         bool correct);

/* Counts the verdict on a new candidate. */
void history_count(struct history *history, enum verdict verdict);

/* Records the size of a failing candidate in nodes; -1: unknown. */
void history_note_nodes(struct history *history, int64_t nodes);

#endif
