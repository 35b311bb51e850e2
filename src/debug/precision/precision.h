/* debug/precision/precision.h: which layers have to run in higher precision for the check to pass.
 *
 * The module debug/precision/ is `debug precision`: the search for such layers, and the lab that makes engines, or ONNX
 * models with Casts, in which some layers are in higher precision (lab.h). A network and a session come in, a set of
 * layers goes out. It may use the engine, and of debug the session and the files of candidates.
 *
 * All layers in higher, then all in lower precision are checked first, apart from the numbered iterations: if the first
 * fails or the second passes there is nothing to look for. Then a search proposes layers, a target makes a file of
 * them.
 */
#ifndef DEBUG_PRECISION_PRECISION_H
#define DEBUG_PRECISION_PRECISION_H

#include "base/container/bitset.h"
#include "debug/session/session.h"
#include "search/sets/precision_search.h"

/* How the log and errors speak of what is searched, and of what the search chooses. */
struct precision_words {
    const char *kind;                 /* what candidates are: "engine" */
    const char *all, *none;           /* the ends: "all layers in higher precision", "all layers in lower precision" */
    const char *with_all, *with_none; /* what a candidate is then: "with all layers in higher precision" */
    const char *choosing, *chosen; /* before and after a number: "Selecting", "layer(s) to run in higher precision" */
    const char *found;             /* what the answer is: "the engine with the layers that were found" */
    const char *unchanged;         /* what nothing was chosen of: "The model in lower precision" */
    const char *all_fail, *none_needed, *no_choice; /* sentences: why there is nothing to look for */
    const char *not_found;                          /* and that no choice was seen to pass */
    const char *advice, *advised; /* before and after a number: "To achieve ..., try running these", "layer(s) ..." */
};

extern const struct precision_words precision_words_of_layers; /* where candidates are engines */

/* What a layer reads and writes in higher precision, held against the lower one. */
enum precision_range {
    PRECISION_FITS,
    PRECISION_VANISHES,  /* a good part of a tensor is so small that it becomes 0 */
    PRECISION_OVERFLOWS, /* finite values become infinite */
};

/* What is searched: layers in the order in which they run, and how a choice of them becomes a file. */
struct precision_target {
    void *data;
    size_t count; /* layers */

    const char *(*name)(void *data, size_t layer);

    /* Whether the layer runs in lower precision unless it is chosen. The others stay as they are, but count. */
    bool (*is_lowered)(void *data, size_t layer);

    /* For the minimal search: how much each layer is thought to matter (`count` numbers, infinity included). */
    int (*score)(void *data, double *ret, struct error *err);

    /* Asked after score(): layers that do not fit are the first to be tried in higher precision, all of them at once.
     * NULL: all fit. */
    enum precision_range (*range)(void *data, size_t layer);

    /* The number of the block of layers that this one belongs to, between which there are no Casts, say: they are
     * tried together before single ones are. NULL: each is one. */
    uint32_t (*block)(void *data, size_t layer);

    /* Asked of an answer to a minimal search: which lowered layers would be cheaper in higher precision, beside those
     * chosen. They come in sets that have nothing to do with one another, each worth it by itself: `ret`, zeroed, gets
     * the number of the set of each layer, from 1 on; 0: it is in none. Returns how many there are. NULL: none ever. */
    uint32_t (*savings)(void *data, const struct bitset *chosen, uint32_t *ret);

    /* Makes ready what write() writes: these layers are chosen, a subset of the lowered ones. ERR_BACKEND and
     * ERR_UNSUPPORTED are a failed iteration; any other error ends the session, as no candidate would fare better. */
    int (*prepare)(void *data, const struct bitset *chosen, struct error *err);
    int (*write)(void *data, const char *path, struct error *err);
    const char *saving; /* how the log calls the latter, in front of a path: "Saving engine to" */

    /* Called when the check passes with all layers in lower precision. True when write() has another form from now on,
     * in which lower precision cannot be left out by whoever runs it; the log says so. NULL: it never has. */
    bool (*insist)(void *data);

    const struct precision_words *words; /* NULL: precision_words_of_layers */
};

struct precision_run_settings {
    enum precision_mode mode;
    bool reverse; /* from the last layer on; not for the minimal search */
    bool verify;
};

struct precision_result {
    enum precision_outcome outcome;
    bool none_needed;     /* the check passes with all layers in lower precision */
    int64_t lowered;      /* layers that run in lower precision unless they are chosen */
    int64_t selected;     /* how many layers were selected, those that stay as they are included */
    struct bitset chosen; /* of them, those that are lowered */
    struct bitset added;  /* more of these, that the check was seen to pass with, because that is cheaper */
    double *scores;       /* of each layer; NULL: not made */
    bool is_minimal;      /* without any one of `chosen` the check was seen to fail */
    int64_t unfit;        /* layers that do not fit; -1: that was not asked */
};

/* Searches, and says in `log` what was found; that nothing passes is an outcome, and no error. `ret` is made anew, and
 * is to be released unless an error is returned. Errors are those of the session, and of the target but for those that
 * are a failed iteration. */
int precision_run(const struct precision_target *target, const struct precision_run_settings *settings,
                  struct debug_session *session, struct log *log, struct precision_result *ret, struct error *err);
void precision_result_release(struct precision_result *result);

#endif
