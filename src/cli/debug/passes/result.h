/* cli/debug/passes/result.h: what `debug passes` has found, for the log, for other programs and for the page. */
#ifndef CLI_DEBUG_PASSES_RESULT_H
#define CLI_DEBUG_PASSES_RESULT_H

#include "cli/debug/passes/reduction.h"
#include "cli/debug/passes/runner.h"
#include "debug/passes/passes.h"
#include "report/result.h"

/* Everything is borrowed. */
struct passes_report {
    struct words decisions;
    struct words not_tried; /* that stay on, as nothing can be run without them and these */
    const struct passes_result *result;
    bool is_own_reference; /* what is compared with is the model itself, with all of them off */
    bool saturates;        /* of the subject */
    int64_t checks;        /* that were run */
    bool checked_twice;    /* among them a second one of all that shows the cause */
    struct rewriting rewriting;
    struct remedies remedies;
    const struct passes_reduction *reductions; /* one for each set of culprits; NULL: none was asked for */
};

/* The cause, its evidence, which nodes it replaces by which, and how it is disabled for good. */
void passes_result_fill(const struct passes_report *report, struct result *ret);

/* Draws on the page, around nodes of the model without the cause, what they become with it. */
void passes_result_draw(const struct rewritten_nodes *nodes, struct report *page);

#endif
