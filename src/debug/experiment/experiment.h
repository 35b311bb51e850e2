/* debug/experiment/experiment.h: which of many items make the difference between a candidate that passes the check and
 * one that fails.
 *
 * The module debug/experiment/ has the experiment that `debug precision`, `passes`, `quantization` and `tactics` share:
 * one end, a set of items, has to pass the check, another one to fail; a search looks for a set between them; what it
 * finds is confirmed. Items, a search and a session come in, verdicts go out. It may use debug/session/, debug/belief/
 * and search/. What a set means (items left out, in higher precision, of the bad replay) is the tool's: either end may
 * be the empty set, and choose() makes a search's set the candidate's.
 *
 *   rc = experiment_check(&experiment, &all, (struct check_request){ROLE_GOOD_END, "_all", "all layers"}, ...);
 *   if (verdict != VERDICT_PASS)
 *       rc = experiment_question_end(&experiment, &good, verdict, err);
 *   ...
 *   rc = experiment_run(&experiment, &search, err);
 *   rc = experiment_look_back(&experiment, &good, &bad, err);
 *   rc = experiment_confirm(&experiment, &found, "the engine with the layers that were found", VERDICT_PASS, err);
 */
#ifndef DEBUG_EXPERIMENT_EXPERIMENT_H
#define DEBUG_EXPERIMENT_EXPERIMENT_H

#include "base/container/bitset.h"
#include "debug/session/session.h"

/* What is varied. A candidate is a set of items. */
struct experiment_items {
    void *data;
    size_t count;
    const char *kind;             /* what candidates are: "engine" */
    const char *saving;           /* logged before the path of a candidate; NULL: nothing is */
    enum expectation expectation; /* of candidates that a search asks for */
    bool confirms_always; /* the verdict on an answer is confirmed even if a check of this session gave it, unless that
                           * was repeated (--flaky) */
    /* A candidate that make() refuses (ERR_BACKEND, ERR_UNSUPPORTED) fails, and one for which a GPU has too little
     * memory is skipped; else these are errors. */
    bool fails_unmade;

    /* Identity of the candidate. NULL: the set is. */
    struct hash (*identify)(void *data, const struct bitset *set);

    /* Makes the candidate and keeps it in `data`, in place of the one before; save() writes it to `path`. Called ahead
     * of the candidate's turn, too, when checks run in parallel. */
    int (*make)(void *data, const struct bitset *set, struct error *err);
    int (*save)(void *data, const char *path, struct error *err);
};

struct experiment {
    const struct experiment_items *items;
    struct debug_session *session;
    struct log *log;
    const void *made; /* private: the candidate that was made last */
};

/* A search over the items; all members but `suffix` are wanted. */
struct experiment_search {
    const struct search_ops *ops;
    void *search;
    const char *suffix; /* of replay keys; NULL: none */

    /* The set that a state of the search asks for into `ret`, which is empty. */
    void (*choose)(void *data, const void *search, struct bitset *ret);

    /* Logs what the candidate is. */
    void (*announce)(void *data, const void *search, const struct bitset *set);
};

/* One of the two sets that a search is between. */
struct experiment_end {
    const struct bitset *set;
    const char *key;  /* in the replay: "_all_high" */
    const char *name; /* "all layers in higher precision" */
    const char *how;  /* "with all layers in higher precision" */
};

/* Checks a candidate apart from the search: see session_check(). */
int experiment_check(struct experiment *experiment, const struct bitset *set, struct check_request request,
                     enum verdict *ret, struct error *err);

/* Runs the search to its end: see session_search(). */
int experiment_run(struct experiment *experiment, const struct experiment_search *search, struct error *err);

/* This end has another verdict than it should. ERR_INVALID when that is due to the check, which says nothing about it,
 * or the same of a file that is none; or when the verdict is one that is known from elsewhere, and is another now. */
int experiment_question_end(struct experiment *experiment, const struct experiment_end *end, enum verdict verdict,
                            struct error *err);

/* After the search: the end with the contrary of the last verdict is checked once more, because a check that has
 * changed its mind on the way leads the search anywhere. ERR_INVALID when its verdict is another now. */
int experiment_look_back(struct experiment *experiment, const struct experiment_end *good,
                         const struct experiment_end *bad, struct error *err);

/* The answer rests on `expected` as the verdict on this set. If that is known from a debug replay or a verdict cache,
 * it is checked now; with `confirms_always` in any case. Errors are those of belief_confirm(). */
int experiment_confirm(struct experiment *experiment, const struct bitset *set, const char *what, enum verdict expected,
                       struct error *err);

#endif
