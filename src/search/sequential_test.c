/* search/sequential_test.c: see sequential_test.h. */
#include "search/sequential_test.h"

#include <math.h>

/* The logarithm of how much likelier these runs are with the bug than without. */
static double log_ratio(const struct sequential_plan *plan, struct run_counts counts)
{
    double passes = (double)(counts.runs - counts.fails) * log((1 - plan->present) / (1 - plan->absent));

    if (counts.fails == 0) /* 0 times the infinity of plan->absent == 0 is not a number */
        return passes;
    return passes + (double)counts.fails * log(plan->present / plan->absent);
}

enum sequential_state sequential_judge(const struct sequential_plan *plan, struct run_counts counts)
{
    double false_presence = plan->absent > 0 ? plan->false_presence : 0;
    double ratio = log_ratio(plan, counts);

    if (ratio >= log((1 - plan->false_absence) / plan->false_presence))
        return SEQUENTIAL_PRESENT;
    if (ratio <= log(plan->false_absence / (1 - false_presence)))
        return SEQUENTIAL_ABSENT;
    return counts.runs < plan->most_runs ? SEQUENTIAL_OPEN : SEQUENTIAL_UNDECIDED;
}

struct rate_interval rate_interval(struct run_counts counts, double quantile)
{
    double runs = (double)counts.runs, square = quantile * quantile;

    if (counts.runs == 0)
        return (struct rate_interval){0, 1};
    double rate = (double)counts.fails / runs;
    double center = (rate + square / (2 * runs)) / (1 + square / runs);
    double half = quantile * sqrt(rate * (1 - rate) / runs + square / (4 * runs * runs)) / (1 + square / runs);

    /* In exact arithmetic the interval of a rate of 0 begins at 0, and that of a rate of 1 ends at 1. */
    return (struct rate_interval){counts.fails == 0 ? 0 : center - half,
                                  counts.fails == counts.runs ? 1 : center + half};
}
