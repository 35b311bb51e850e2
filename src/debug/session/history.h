/* debug/session/history.h: what a session knows by now: which candidates have got which verdicts, and how many. */
#ifndef DEBUG_SESSION_HISTORY_H
#define DEBUG_SESSION_HISTORY_H

#include "base/container/arena.h"
#include "base/container/name_map.h"
#include "base/hash.h"
#include "search/failure_rates.h"

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

struct history {
    struct seen_candidates candidates; /* by identity */
    struct seen_candidates files;      /* that were checked in this session, by what they hold, too */
    int64_t iterations[3];             /* how many have each enum verdict */
    int64_t told;                      /* passes and failures of different candidates, known ones included */
    int64_t last_pass, last_failure;   /* which of them these were, counted from 1; 0: there was none */
    int64_t nodes_now, nodes_whole;    /* of the latest and of the first that failed; -1: not known */
    int64_t written;                   /* candidates, as far as the log says so */
    int64_t checks;                    /* that were run */
    double check_seconds;              /* what they took */
};

void history_init(struct history *history);
void history_release(struct history *history);

/* NULL when no candidate of this identity was added. */
const struct seen_candidate *seen_candidates_find(const struct seen_candidates *seen, struct hash identity);

/* Remembers a verdict, unless the identity has one: that is kept, or replaced (`correct`), but for what the candidate
 * is called. The texts are copied. */
void seen_candidates_add(struct seen_candidates *seen, struct hash identity, struct seen_candidate candidate,
                         bool correct);

/* Counts the verdict on a candidate that had none before. */
void history_count(struct history *history, enum verdict verdict);

/* Notes how large a candidate is that fails; -1: that is not known. */
void history_note_nodes(struct history *history, int64_t nodes);

#endif
