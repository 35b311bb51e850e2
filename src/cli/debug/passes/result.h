/* cli/debug/passes/result.h: the answer of `debug passes`. */
#ifndef CLI_DEBUG_PASSES_RESULT_H
#define CLI_DEBUG_PASSES_RESULT_H

#include "cli/debug/other_data.h"
#include "cli/debug/passes/reduction.h"
#include "cli/debug/passes/runner.h"
#include "debug/passes/passes.h"
#include "report/result.h"

/* All pointers are borrowed. */
struct passes_report {
    struct words decisions;
    struct words not_tried; /* optimizations that stay enabled, because the model does not run without them */
    const struct passes_result *result;
    struct words earlier;    /* optimizations that were tried before these: with all of them disabled the check fails */
    struct words barriers;   /* barriers that were tried after these: with all of them, the check fails */
    bool is_own_reference;   /* the reference is the model with all of them disabled */
    bool saturates;          /* of the subject */
    int64_t checks;          /* number of checks */
    bool checked_twice;      /* including repetitions of the decisive ones */
    struct other_data other; /* the answer with other data */
    struct rewriting rewriting;
    struct remedies remedies;
    const struct passes_reduction *reductions; /* one for each set of culprits; NULL: not requested */
};

/* Fills the cause, its evidence, replaced nodes, and permanent fixes. */
void passes_result_fill(const struct passes_report *report, struct result *ret);

/* Draws on the page what nodes of the model without the cause become with it. */
void passes_result_draw(const struct rewritten_nodes *nodes, struct report *page);

#endif
