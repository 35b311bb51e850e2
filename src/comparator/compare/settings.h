/* comparator/compare/settings.h: how outputs are compared, what they have to fulfil, and who hears of the verdicts. */
#ifndef COMPARATOR_COMPARE_SETTINGS_H
#define COMPARATOR_COMPARE_SETTINGS_H

#include "base/log.h"
#include "comparator/compare/criteria.h"
#include "comparator/compare/first_divergence.h"

enum comparison_function {
    COMPARISON_SIMPLE,   /* values, within tolerances */
    COMPARISON_INDICES,  /* rankings, within places */
    COMPARISON_DISTANCE, /* outputs as a whole, as vectors */
    COMPARISON_QUALITY,  /* outputs as a whole, as a signal and its noise */
};

/* Two outputs and what comparing them came to. */
struct compared_outputs {
    enum comparison_function function;
    const char *first_runner, *second_runner;
    size_t iteration;
    const struct named_tensor *first, *second;
    const struct comparison_criteria *criteria; /* that they had to fulfil */
    const struct compare_result *result; /* of functions other than the simple one only `passed` and `shape_mismatch` */
};

struct comparison_settings {
    enum comparison_function function;

    struct comparison_rules rules; /* for outputs by their names in the first result */

    bool fail_fast;   /* stop at the first mismatch */
    bool require_all; /* outputs and iterations without a counterpart are mismatches, not only worth a warning */
    bool strict;      /* outputs have partners of their own name or none; with nothing to compare, nothing matches */
    bool release;     /* outputs that nobody needs any more for comparing are released */

    struct first_divergence *divergence; /* told of each verdict; may be NULL */

    /* Told of each comparison, while the outputs are still there; may be NULL. */
    void (*on_compared)(void *data, const struct compared_outputs *compared);
    void *on_compared_data;
    struct log *log;
};

#endif
