/* cli/debug/passes/reduction.h: finds the smallest subgraph in which an optimization alone makes the difference. */
#ifndef CLI_DEBUG_PASSES_REDUCTION_H
#define CLI_DEBUG_PASSES_REDUCTION_H

#include "base/container/bitset.h"
#include "cli/debug/passes/runner.h"

/* Arguments; all pointers are borrowed. */
struct reduction_request {
    const struct passes_subject *subject;
    const struct passes_runner *runner;
    const char *folder;            /* folder for files */
    const char *inputs;            /* input data for which the model fails; NULL: those of the command line */
    const struct bitset *culprits; /* among `decisions`: they fail with all others disabled */
    struct words decisions;
    struct words off; /* the model passes with these disabled */
    size_t number;    /* number of the reduction, from 1 */
};

/* Strings are in the arena of the subject. */
struct passes_reduction {
    const char *why_not;                 /* reason why there is no subgraph; NULL: there is one */
    const char *model, *inputs, *golden; /* files; golden outputs are those with everything disabled */
    size_t original_nodes;
    struct rewritten_list nodes; /* of the model; `items` to be freed */
    bool alone_fails;            /* with only the culprits enabled it differs from everything disabled */
    bool without_passes;         /* with only `off` disabled it does not differ */
    const char *command;         /* command that reproduces the difference */
};

/* Runs `polygraphy debug reduce`, whose check compares each subgraph with itself with everything disabled, then
 * confirms the result in both directions. That no subgraph is found, or a command of this program fails on it, is not
 * an error. */
int passes_reduce(const struct reduction_request *request, struct passes_reduction *ret, struct error *err);

#endif
