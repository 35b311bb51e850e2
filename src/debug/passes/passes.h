/* debug/passes/passes.h: `debug passes`: finds the optimizations of a compiler that make a model fail.
 *
 * The module debug/passes/ searches optimizations: optimizers that change the model, settings that change how it is
 * computed; "decisions" is the collective name. Inputs: their names and a session. Output: a set of them that makes the
 * difference, verified in both directions. It may use debug/experiment, debug/session and the searches, and knows no
 * runtime: a candidate is a list of names for the check to disable.
 *
 * With all of them disabled the check has to pass, with none to fail. Then delta debugging
 * (search/sets/set_isolation.h) finds optimizations that fail with all others disabled. If the check still fails with
 * only these disabled, others are wrong as well: the found ones stay disabled, and the search runs again. So every set
 * was observed to fail alone, and disabling all of them to be sufficient.
 *
 * If there are many, those of a kind (names with the same text before '@', and all barriers) are treated as one first,
 * then singly within the kinds that fail, in either case with all others disabled. After some rounds that found single
 * ones, whole kinds are used: they fail nearly everywhere.
 */
#ifndef DEBUG_PASSES_PASSES_H
#define DEBUG_PASSES_PASSES_H

#include "base/container/bitset.h"
#include "base/text/text.h"
#include "debug/session/session.h"

enum passes_outcome {
    PASSES_FOUND,
    PASSES_ALL_OFF_FAILS, /* fails with all disabled: the cause is not among them */
    PASSES_NONE_OFF_PASSES,
    PASSES_UNDECIDED, /* inconclusive with the culprits disabled, or too flaky to find any */
};

struct passes_result {
    enum passes_outcome outcome;
    struct bitset off;     /* the check passes with exactly these disabled; undecided: all culprits */
    struct bitset singles; /* if `off` is a single one: it, and others each of which is enough alone; else none */
    bool is_minimal;       /* fails with any single one of them enabled again */

    /* Sets of optimizations that fail together with all others disabled, and not without any one of them; in the order
     * in which they were found. If more culprits do not always mean a failure, one of them may stay enabled. */
    VECTOR(struct bitset) culprits;
};

/* `decisions`: at least one, distinct, without line breaks. `phase`: begins the keys of verdicts in the debug replay,
 * for a further search of a session; else "". Release `ret`, also after an error. */
int passes_run(struct words decisions, const char *phase, struct debug_session *session, struct log *log,
               struct passes_result *ret, struct error *err);
void passes_result_release(struct passes_result *result);

#endif
