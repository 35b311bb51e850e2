/* comparator/compare/settings.h: settings of a comparison: function, criteria, and callbacks. */
#ifndef COMPARATOR_COMPARE_SETTINGS_H
#define COMPARATOR_COMPARE_SETTINGS_H

#include "base/log.h"
#include "comparator/compare/criteria.h"
#include "comparator/compare/first_divergence.h"
#include "comparator/compare/function.h"

/* Two outputs and the result of their comparison by one function. */
struct compared_outputs {
    enum comparison_function function;
    const char *first_runner, *second_runner;
    size_t iteration;
    const struct named_tensor *first, *second;
    const struct comparison_criteria *criteria; /* applied */
    /* only `passed` and `shape_mismatch` for functions other than the simple one */
    const struct compare_result *result;
};

struct comparison_settings {
    struct comparison_functions functions; /* all of them must pass */

    struct comparison_rules rules; /* for outputs by their names in the first result */

    struct words ignored; /* outputs of these names, or of names that match these patterns, are not compared */

    bool fail_fast;   /* stop at the first mismatch */
    bool average;     /* who listens to `on_compared` judges averages: verdicts of functions do not count here */
    bool require_all; /* outputs and iterations without a counterpart are mismatches, not warnings */
    bool strict;      /* only outputs with equal names are paired; having nothing to compare is an error */
    bool release;     /* release outputs that are no longer needed for comparison */

    struct first_divergence *divergence; /* receives each verdict; may be NULL */

    /* Called for each pair of outputs and each function, while the outputs are still available; may be NULL. */
    void (*on_compared)(void *data, const struct compared_outputs *compared);
    void *on_compared_data;
    struct log *log;
};

#endif
