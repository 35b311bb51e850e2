/* cli/debug/passes/reduction.h: the smallest part of the model in which a decision alone makes the difference. */
#ifndef CLI_DEBUG_PASSES_REDUCTION_H
#define CLI_DEBUG_PASSES_REDUCTION_H

#include "base/container/bitset.h"
#include "cli/debug/passes/runner.h"

/* What it is made of, all borrowed. */
struct reduction_request {
    const struct passes_subject *subject;
    const struct passes_runner *runner;
    const char *folder;            /* where files go */
    const char *inputs;            /* for which the model fails; NULL: those that the command line gives */
    const struct bitset *culprits; /* of `decisions`: they fail with all else switched off */
    struct words decisions;
    struct words off; /* without these the model was seen to pass */
    size_t number;    /* of several, from 1 */
};

/* Strings belong to the arena of the subject. */
struct passes_reduction {
    const char *why_not;                 /* there is no such part; NULL: there is, and all below */
    const char *model, *inputs, *golden; /* files; the golden outputs are those with all switched off */
    size_t original_nodes;
    struct rewritten_list nodes; /* of the model; `items` to be freed */
    bool alone_fails;            /* with the culprits on, and all else off, it was seen to differ from all off */
    bool without_passes;         /* with `off` switched off, and nothing else, it was seen not to */
    const char *command;         /* that shows the difference, as it can be typed */
};

/* Runs `polygraphy debug reduce`, whose check compares each part with itself, everything switched off; then looks at
 * the answer from both sides. That there is no such part is no error, nor that a command of this program fails with it.
 */
int passes_reduce(const struct reduction_request *request, struct passes_reduction *ret, struct error *err);

#endif
