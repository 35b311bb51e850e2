/* debug/reduce/reduce.h: reduces a failing model to the smallest subgraph that still fails.
 *
 * The module debug/reduce/ implements `debug reduce`: two searches over a model's nodes (searches.h), and additional
 * checks of the original, of the result, and of the check itself (part.h, control.h). Inputs: a model and settings.
 * Outputs: files and the result. It may use debug/cut/, debug/simplify/, debug/session/.
 *
 * There are two phases: first the earliest outputs that still fail are found, then the latest inputs. In each, a search
 * over the list of nodes proposes a cut and the session checks it. The model that is written has failed the check; on
 * request, one that passed is written, too.
 */
#ifndef DEBUG_REDUCE_REDUCE_H
#define DEBUG_REDUCE_REDUCE_H

#include "debug/simplify/simplify.h"

struct reduce_settings {
    /* MINIMAL: any set of nodes, reduced to a 1-minimal one. */
    enum reduce_mode { REDUCE_BISECT, REDUCE_LINEAR, REDUCE_MINIMAL } mode;
    bool all;                           /* MINIMAL: find all subgraphs that fail independently */
    bool reduce_outputs, reduce_inputs; /* BISECT and LINEAR: whether to move that end of the model */
    size_t original_nodes;              /* in the model's file */
    const struct model *inlined;        /* the model with the bodies of If, Loop and Scan inlined; NULL: none */
    bool verify;                        /* check the original first */
    struct simplify_settings simplify;  /* applied to the result */
    const char *output, *min_good;      /* paths; NULL: not written */
    struct external_settings external;  /* of the two files above */
    bool keep_intermediate;             /* the last candidate is not removed */
    bool copy_weights;                  /* candidates share no external data with the original */
    bool ignore_external_data;          /* external data are not opened: candidates keep the references */
    bool force_fallback;                /* take all types and shapes from one run of the model */
    /* Inputs of the steps of a decoder: the search has those of the first step with which the original fails. The
     * data loader's data are replaced. NULL: none */
    const struct feed_dicts *steps;
    struct candidate_settings candidates;
};

enum reduce_outcome {
    REDUCE_FOUND,          /* the output is a failing model */
    REDUCE_DOES_NOT_FAIL,  /* the original passes the check: nothing to reduce */
    REDUCE_NOTHING_FAILED, /* no candidate failed, and the original was not checked */
};

/* Evidence that the check does not fail on everything. */
enum ruled_out {
    RULED_OUT_BY_NOTHING, /* none */
    RULED_OUT_BY_CANDIDATE,
    RULED_OUT_BY_CONTROL, /* debug/reduce/control.h */
};

/* A failing model. */
struct culprit {
    struct bitset nodes; /* its nodes, as a set of the original's nodes */
    bool is_minimal;     /* 1-minimal, which was tested */
};

struct reduce_result {
    enum reduce_outcome outcome;
    struct culprit *items; /* REDUCE_FOUND: one; with `all`, one for each result */
    size_t count, capacity;
    enum ruled_out ruled_out; /* REDUCE_FOUND */
    bool has_good;            /* a passing model was written to `min_good` */
    bool is_inlined;          /* nodes are those of settings->inlined, which fails, too */
    size_t step;              /* with settings->steps: the first that fails; SIZE_MAX: none */
};

void reduce_result_release(struct reduce_result *result);

/* `model` is prepared: its Constant nodes are initializers. */
int reduce_run(const struct model *model, const struct reduce_settings *settings, struct debug_session *session,
               struct log *log, struct reduce_result *ret, struct error *err);

#endif
