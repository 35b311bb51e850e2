/* debug/reduce/reduce.h: cutting a failing model down to the smallest part that still fails.
 *
 * Two phases: first the earliest outputs that still fail are looked for, then, in what is left, the latest inputs. In
 * each, a search over the list of nodes proposes a cut, the loop checks it. What is written in the end is a model that
 * was seen to fail, and beside it, when wanted, one that was seen to pass.
 */
#ifndef DEBUG_REDUCE_REDUCE_H
#define DEBUG_REDUCE_REDUCE_H

#include "backend/backend.h"
#include "comparator/data/loader.h"
#include "debug/loop/loop.h"
#include "onnx/write/model.h"
#include "search/index_search.h"

/* What can be made simpler once nothing can be left out any more (debug/simplify/simplify.h). */
enum simplification { SIMPLIFY_BODIES, SIMPLIFY_WEIGHTS, SIMPLIFY_ATTRIBUTES, SIMPLIFY_SHAPES, SIMPLIFY_KINDS };

struct sandbox;

struct reduce_settings {
    /* MINIMAL: any set of nodes, down to a 1-minimal one. */
    enum reduce_mode { REDUCE_BISECT, REDUCE_LINEAR, REDUCE_MINIMAL } mode;
    bool all;                                        /* MINIMAL: every part that fails by itself, not only one */
    bool reduce_outputs, reduce_inputs;              /* BISECT and LINEAR: whether that end of the model is moved */
    bool verify;                                     /* check the original first */
    bool simplify[SIMPLIFY_KINDS];                   /* by enum simplification; any of them needs the sandbox: */
    struct sandbox *sandbox;                         /* debug/simplify/soundness.h; else NULL */
    const char *output, *min_good;                   /* paths; NULL: not wanted */
    struct external_settings external;               /* of the two files above */
    bool keep_intermediate;                          /* the last candidate stays where it is */
    bool copy_weights;                               /* candidates share no external data with the original */
    const char *iteration_inputs, *iteration_golden; /* MINIMAL: files with the candidate's data; NULL: none */
    bool static_inference;                           /* ask the runtime for missing types and shapes */
    bool force_fallback;                             /* run the model once and take all types and shapes from there */
    bool fixed_shapes; /* where the model's inputs have fixed shapes, those of cuts get such, if need be from a run */
    bool ignore_external_data;      /* they are not looked for: candidates refer to them, wherever they are */
    bool random_data;               /* no --load-inputs: branches would be frozen to random values */
    const struct backend *backend;  /* gives types, shapes and values of the original */
    struct backend_request request; /* its library, custom operators, log */
    struct data_loader *loader;
    const struct backend *golden;          /* gives the values in place of `backend`; NULL: that does */
    struct backend_request golden_request; /* for it */
};

enum reduce_outcome {
    REDUCE_FOUND,          /* the output is a model that was seen to fail */
    REDUCE_DOES_NOT_FAIL,  /* the original passes the check: nothing to reduce */
    REDUCE_NOTHING_FAILED, /* no candidate failed, nor was the original seen to */
};

/* What has shown that the check does not fail on everything. */
enum ruled_out {
    RULED_OUT_BY_NOTHING, /* so it may */
    RULED_OUT_BY_CANDIDATE,
    RULED_OUT_BY_CONTROL, /* debug/reduce/control.h */
};

/* A model that was seen to fail. */
struct culprit {
    struct bitset nodes; /* of the model, that it consists of */
    bool is_minimal;     /* 1-minimal, and that was checked */
};

struct reduce_result {
    enum reduce_outcome outcome;
    struct culprit *items; /* REDUCE_FOUND: one, with `all` as many as there are */
    size_t count, capacity;
    enum ruled_out ruled_out; /* REDUCE_FOUND */
    bool has_good;            /* a model that passes was written to `min_good` */
};

void reduce_result_release(struct reduce_result *result);

/* `model` is prepared: its Constant nodes are initializers. `original_nodes` is how many nodes its file has. */
int reduce_run(const struct model *model, size_t original_nodes, const struct reduce_settings *settings,
               struct loop *loop, struct log *log, struct reduce_result *ret, struct error *err);

#endif
