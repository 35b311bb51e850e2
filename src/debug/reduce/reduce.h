/* debug/reduce/reduce.h: cutting a failing model down to the smallest part that still fails.
 *
 * The module debug/reduce/ is `debug reduce`: two searches over a model's nodes (searches.h), and checks that no
 * search proposes, of the original, the result, and whether the check is to be believed (part.h, control.h). A
 * model and settings come in; files and what was found go out. It may use debug/cut/, debug/simplify/, debug/session/.
 *
 * Two phases: first the earliest outputs that still fail are looked for, then, in what is left, the latest inputs. In
 * each, a search over the list of nodes proposes a cut, the session checks it. What is written in the end is a model
 * that was seen to fail, and beside it, when wanted, one that was seen to pass.
 */
#ifndef DEBUG_REDUCE_REDUCE_H
#define DEBUG_REDUCE_REDUCE_H

#include "debug/simplify/simplify.h"

struct reduce_settings {
    /* MINIMAL: any set of nodes, down to a 1-minimal one. */
    enum reduce_mode { REDUCE_BISECT, REDUCE_LINEAR, REDUCE_MINIMAL } mode;
    bool all;                           /* MINIMAL: every part that fails by itself, not only one */
    bool reduce_outputs, reduce_inputs; /* BISECT and LINEAR: whether that end of the model is moved */
    size_t original_nodes;              /* of the model's file */
    bool verify;                        /* check the original first */
    struct simplify_settings simplify;  /* what fails, once nothing can be left out any more */
    const char *output, *min_good;      /* paths; NULL: not wanted */
    struct external_settings external;  /* of the two files above */
    bool keep_intermediate;             /* the last candidate stays where it is */
    bool copy_weights;                  /* candidates share no external data with the original */
    bool ignore_external_data;          /* they are not looked for: candidates refer to them, wherever they are */
    bool force_fallback;                /* run the model once and take all types and shapes from there */
    struct candidate_settings candidates;
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

/* `model` is prepared: its Constant nodes are initializers. */
int reduce_run(const struct model *model, const struct reduce_settings *settings, struct debug_session *session,
               struct log *log, struct reduce_result *ret, struct error *err);

#endif
