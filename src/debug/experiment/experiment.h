/* debug/experiment/experiment.h: finds the items that make the difference between a candidate that passes the check and
 * one that fails.
 *
 * The module debug/experiment/ contains the experiment that `debug precision`, `passes`, `quantization` and `tactics`
 * share: one end, a set of items, has to pass the check, another one to fail; a search finds a set between them, and
 * the result is confirmed. Inputs: items, a search and a session. Outputs: verdicts. It may use debug/session/,
 * debug/belief/ and search/. The tool defines the meaning of a set (items disabled, in higher precision, from the bad
 * replay): either end may be the empty set, and choose() maps the search's set to the candidate's.
 *
 *   rc = experiment_check(&experiment, &all, (struct check_request){ROLE_GOOD_END, "_all", "all layers"}, ...);
 *   if (verdict != VERDICT_PASS)
 *       rc = experiment_question_end(&experiment, &good, verdict, err);
 *   ...
 *   rc = experiment_run(&experiment, &search, err);
 *   rc = experiment_look_back(&experiment, &good, &bad, err);
 *   rc = experiment_confirm(&experiment, &found, "the engine with the found layers in ...", VERDICT_PASS, err);
 */
#ifndef DEBUG_EXPERIMENT_EXPERIMENT_H
#define DEBUG_EXPERIMENT_EXPERIMENT_H

#include "base/container/bitset.h"
#include "debug/session/session.h"

/* The items. A candidate is a set of them. */
struct experiment_items {
    void *data;
    size_t count;
    const char *kind;             /* of candidates: "engine" */
    const char *saving;           /* logged before the path of a candidate; NULL: not logged */
    enum expectation expectation; /* of candidates that a search asks for */
    bool confirms_always; /* the verdict on an answer is confirmed even if this session has checked it, unless with
                           * --flaky */
    /* A candidate that make() rejects (ERR_BACKEND, ERR_UNSUPPORTED) has the verdict of session_judge_unmade(), and one
     * for which a GPU has too little memory is skipped; the end that has to pass is an error. False: all are errors. */
    bool fails_unmade;

    /* Identity of the candidate. NULL: the set itself. */
    struct hash (*identify)(void *data, const struct bitset *set);

    /* Creates the candidate and stores it in `data`, replacing the previous one; save() writes it to `path`. Also
     * called ahead of the candidate's turn if checks run in parallel. */
    int (*make)(void *data, const struct bitset *set, struct error *err);
    int (*save)(void *data, const char *path, struct error *err);
};

struct experiment {
    const struct experiment_items *items;
    struct debug_session *session;
    struct log *log;
    const void *made; /* private: the candidate that was created last */
};

/* A search over the items; all members but `suffix` are required. */
struct experiment_search {
    const struct search_ops *ops;
    void *search;
    const char *suffix; /* of replay keys; NULL: none */

    /* Adds the set that the search's state asks for to `ret`, which is empty. */
    void (*choose)(void *data, const void *search, struct bitset *ret);

    /* Logs a description of the candidate. */
    void (*announce)(void *data, const void *search, const struct bitset *set);
};

/* One of the two ends of a search. */
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

/* To be called for an end with an unexpected verdict. ERR_INVALID if the check is the reason: it is inconclusive, or
 * gives the same verdict for an invalid file; or if the verdict was reused from elsewhere and is not reproducible. */
int experiment_question_end(struct experiment *experiment, const struct experiment_end *end, enum verdict verdict,
                            struct error *err);

/* After the search: re-checks the end whose verdict should differ from the last one, because verdicts that are not
 * reproducible mislead the search. ERR_INVALID if its verdict has changed. */
int experiment_look_back(struct experiment *experiment, const struct experiment_end *good,
                         const struct experiment_end *bad, struct error *err);

/* Confirms `expected`, the verdict on this set that the answer depends on: re-checks the set if its verdict is from a
 * debug replay or a verdict cache, or with `confirms_always`. Errors are those of belief_confirm(). */
int experiment_confirm(struct experiment *experiment, const struct bitset *set, const char *what, enum verdict expected,
                       struct error *err);

#endif
