/* debug/precision/precision.h: finds the layers that need higher precision for the check to pass.
 *
 * The module debug/precision/ implements `debug precision`: the search for these layers, and the lab that builds
 * engines, or writes ONNX models with Casts, with some layers in higher precision (lab.h). Inputs: a network and a
 * session. Output: a set of layers. It may use the engine, and of debug the session and the files of candidates.
 *
 * All layers in higher, then all in lower precision are checked first, outside of the numbered iterations: if the first
 * fails or the second passes, there is nothing to search. Then a search proposes layers, and a target writes a file
 * with these.
 */
#ifndef DEBUG_PRECISION_PRECISION_H
#define DEBUG_PRECISION_PRECISION_H

#include "base/container/bitset.h"
#include "debug/session/session.h"
#include "search/sets/precision_search.h"

/* Phrases of the log and of errors for the searched items. */
struct precision_words {
    const char *kind;                 /* of candidates: "engine" */
    const char *all, *none;           /* the ends: "all layers in higher precision", "all layers in lower precision" */
    const char *with_all, *with_none; /* a candidate at an end: "with all layers in higher precision" */
    const char *choosing, *chosen; /* before and after a number: "Selecting", "layer(s) to run in higher precision" */
    const char *found;             /* the result: "the engine with the found layers in higher precision" */
    const char *unchanged;         /* a candidate without chosen items: "The model in lower precision" */
    const char *all_fail, *none_needed, *no_choice; /* sentences: why there is nothing to search */
    const char *not_found;                          /* sentence: no choice passed */
    const char *advice, *advised; /* before and after a number: "To achieve ..., try running these", "layer(s) ..." */
};

extern const struct precision_words precision_words_of_layers; /* for engines as candidates */

/* Range of a layer's tensors in higher precision, compared with that of the lower one. */
enum precision_range {
    PRECISION_FITS,
    PRECISION_VANISHES,  /* a large part of a tensor underflows to 0 */
    PRECISION_OVERFLOWS, /* finite values overflow to infinity */
};

/* The layers to search, in the order in which they run, and how a choice of them becomes a file. */
struct precision_target {
    void *data;
    size_t count; /* layers */

    const char *(*name)(void *data, size_t layer);

    /* Whether the layer runs in lower precision unless chosen. The others are not changed, but count. */
    bool (*is_lowered)(void *data, size_t layer);

    /* For the minimal search: estimated importance of each layer (`count` numbers, including infinity). */
    int (*score)(void *data, double *ret, struct error *err);

    /* Called after score(): layers out of range are tried in higher precision first, all of them at once. NULL: all are
     * in range. */
    enum precision_range (*range)(void *data, size_t layer);

    /* Number of the block of this layer, for instance layers without Casts in between: blocks are tried before single
     * layers. NULL: each layer is a block. */
    uint32_t (*block)(void *data, size_t layer);

    /* For the result of a minimal search: lowered layers that would be cheaper in higher precision, in addition to the
     * chosen ones. They form independent sets, each of which saves by itself: `ret`, zeroed, gets the number of the set
     * of each layer, from 1; 0: none. Returns the number of sets. NULL: none. */
    uint32_t (*savings)(void *data, const struct bitset *chosen, uint32_t *ret);

    /* Creates the candidate for write(), with these layers chosen, a subset of the lowered ones. After ERR_BACKEND
     * and ERR_UNSUPPORTED the candidate fails if the failure that is searched for is the same, and is skipped
     * otherwise; other errors, which all candidates would have, end the session. */
    int (*prepare)(void *data, const struct bitset *chosen, struct error *err);
    int (*write)(void *data, const char *path, struct error *err);
    const char *saving; /* logged before a path: "Saving engine to" */

    /* Called if the check passes with all layers in lower precision. True if write() uses another form from now on, in
     * which a runtime cannot skip the rounding to lower precision; the log reports it. NULL: no other form. */
    bool (*insist)(void *data);

    const struct precision_words *words; /* NULL: precision_words_of_layers */
};

/* Data of the check that consist of steps of a decoder. */
struct precision_steps {
    size_t count; /* with the prefill; 0: none */
    /* Lets the check have the data of this step alone; SIZE_MAX: of all steps again. */
    int (*select)(void *data, size_t step, struct error *err);
    void *data;
};

struct precision_run_settings {
    enum precision_mode mode;
    bool reverse; /* starts at the last layer; not for the minimal search */
    bool verify;
    struct precision_steps steps;
};

struct precision_result {
    enum precision_outcome outcome;
    bool none_needed;     /* the check passes with all layers in lower precision */
    int64_t lowered;      /* number of layers in lower precision unless chosen */
    int64_t selected;     /* number of selected layers, including those that are not lowered */
    struct bitset chosen; /* the selected layers that are lowered */
    struct bitset added;  /* further layers that save Casts; the check passes with them */
    double *scores;       /* of each layer; NULL: none */
    bool is_minimal;      /* the check fails without any single one of `chosen` */
    int64_t unfit;        /* number of layers out of range; -1: unknown */
    size_t step;          /* first step that fails with all layers in lower precision; SIZE_MAX: unknown */
};

/* Runs the search and logs its result; that no choice passes is a result, not an error. `ret` is initialized; release
 * it unless an error is returned. Errors are those of the session and of the target, except those that are a failed
 * iteration. */
int precision_run(const struct precision_target *target, const struct precision_run_settings *settings,
                  struct debug_session *session, struct log *log, struct precision_result *ret, struct error *err);
void precision_result_release(struct precision_result *result);

#endif
