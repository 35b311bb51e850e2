/* search/failure_rates.c: see failure_rates.h. */
#include "search/failure_rates.h"

#include <math.h>

/* Calibration: the original is run until it has this many failures, or this many runs. */
#define ENOUGH_FAILURES 3
#define MOST_CALIBRATION_RUNS 20

/* This many equal results in a row are treated as a reliable check. */
#define RELIABLE_RUNS 5

/* Assumed failure rate with the bug if the original was not run. */
#define PRESUMED_RATE 0.5

/* The one-sided 75 % quantile of the normal distribution, for the lower bound of the rate. */
#define ONE_SIDED_75_PERCENT 0.6744897501960817

/* Upper limit of the rate ("always"). */
#define HIGHEST_RATE 0.99

/* Total weight of runs with the bug: older runs are discounted, as the rate may change with the model. */
#define REMEMBERED_RUNS 60

/* Prior for the rate without the bug: this many fictitious runs with this failure rate. With these values reductions
 * keep the bug even at rates of 0.9 and 0.1: see the tests. */
#define PRESUMED_RUNS 25
#define PRESUMED_FALSE_RATE 0.09
#define LOWEST_FALSE_RATE 0.01

/* Error probabilities of verdicts. A re-verification concerns a candidate that failed once, and a pass reverts it for
 * good. */
static const struct {
    double false_presence, false_absence;
} errors[] = {
    [WEIGHTY_FAILURE] = {SEQUENTIAL_FALSE_PRESENCE, SEQUENTIAL_FALSE_ABSENCE},
    [WEIGHTY_PASS] = {SEQUENTIAL_FALSE_ABSENCE, SEQUENTIAL_FALSE_PRESENCE},
    [WEIGHTY_BOTH] = {SEQUENTIAL_FALSE_PRESENCE, SEQUENTIAL_FALSE_PRESENCE},
    [WEIGHTY_SECOND_LOOK] = {0.02, 0.03},
};

/* ---- One candidate ---- */

/* The log likelihood ratio of these runs with and without the bug. */
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

    /* Exact bounds despite rounding: the interval of rate 0 begins at 0, that of rate 1 ends at 1. */
    return (struct rate_interval){counts.fails == 0 ? 0 : center - half,
                                  counts.fails == counts.runs ? 1 : center + half};
}

/* ---- The rates ---- */

void failure_rates_init(struct failure_rates *rates, bool no_false_failures)
{
    *rates = (struct failure_rates){.no_false_failures = no_false_failures};
}

/* ---- Estimates ---- */

double failure_rate_with_bug(const struct failure_rates *rates)
{
    double square = ONE_SIDED_75_PERCENT * ONE_SIDED_75_PERCENT;

    if (!rates->calibrated)
        return PRESUMED_RATE;
    if (rates->always_fails)
        return HIGHEST_RATE;
    /* Like rate_interval(), for fractional counts. */
    double rate = rates->fails / rates->runs;
    double center = rate + square / (2 * rates->runs);
    double half =
        ONE_SIDED_75_PERCENT * sqrt(rate * (1 - rate) / rates->runs + square / (4 * rates->runs * rates->runs));
    return fmin((center - half) / (1 + square / rates->runs), HIGHEST_RATE);
}

double failure_rate_without_bug(const struct failure_rates *rates)
{
    if (rates->no_false_failures)
        return 0;
    double presumed = fmin(PRESUMED_FALSE_RATE, failure_rate_with_bug(rates) / 4);
    double rate =
        ((double)rates->without.fails + presumed * PRESUMED_RUNS) / ((double)rates->without.runs + PRESUMED_RUNS);
    return fmax(rate, LOWEST_FALSE_RATE);
}

bool failure_rates_differ(const struct failure_rates *rates)
{
    return failure_rate_with_bug(rates) >= 2 * failure_rate_without_bug(rates);
}

/* ---- Judgement ---- */

static bool is_mixed(struct run_counts counts)
{
    return counts.fails > 0 && counts.fails < counts.runs;
}

enum sequential_state failure_rates_judge_bad(struct run_counts counts)
{
    bool always = counts.fails == counts.runs;

    if (counts.fails >= ENOUGH_FAILURES && (!always || counts.runs >= RELIABLE_RUNS))
        return SEQUENTIAL_PRESENT;
    if (counts.runs < MOST_CALIBRATION_RUNS)
        return SEQUENTIAL_OPEN;
    return counts.fails > 0 ? SEQUENTIAL_PRESENT : SEQUENTIAL_ABSENT;
}

enum sequential_state failure_rates_judge_good(struct run_counts counts)
{
    if (counts.runs < (is_mixed(counts) ? MOST_CALIBRATION_RUNS : RELIABLE_RUNS))
        return SEQUENTIAL_OPEN;
    return rate_interval(counts, QUANTILE_OF_80_PERCENT).high < 0.5 ? SEQUENTIAL_ABSENT : SEQUENTIAL_PRESENT;
}

enum sequential_state failure_rates_judge(struct failure_rates *rates, struct run_counts counts,
                                          enum weighty_verdict weighty)
{
    if (is_mixed(counts))
        rates->always_fails = false;

    double present = failure_rate_with_bug(rates);
    struct sequential_plan plan = {
        .present = present,
        /* larger rates are not judged: see failure_rates_differ() */
        .absent = fmin(failure_rate_without_bug(rates), present / 2),
        .false_presence = errors[weighty].false_presence,
        .false_absence = errors[weighty].false_absence,
        .most_runs = SEQUENTIAL_MOST_RUNS,
    };
    return sequential_judge(&plan, counts);
}

/* ---- Learning ---- */

static void add_runs_with_bug(struct failure_rates *rates, struct run_counts counts)
{
    rates->fails += (double)counts.fails;
    rates->runs += (double)counts.runs;
    if (rates->runs > REMEMBERED_RUNS) {
        rates->fails *= REMEMBERED_RUNS / rates->runs;
        rates->runs = REMEMBERED_RUNS;
    }
}

void failure_rates_learn_bad(struct failure_rates *rates, struct run_counts counts)
{
    if (counts.fails == 0)
        return;
    rates->calibrated = true;
    rates->always_fails = counts.fails == counts.runs && counts.runs >= RELIABLE_RUNS;
    add_runs_with_bug(rates, counts);
}

void failure_rates_learn_good(struct failure_rates *rates, struct run_counts counts)
{
    rates->without.runs += counts.runs;
    rates->without.fails += counts.fails;
}

void failure_rates_learn(struct failure_rates *rates, struct run_counts counts, enum verdict verdict)
{
    if (is_mixed(counts))
        rates->always_fails = false;
    switch (verdict) {
    case VERDICT_FAIL:
        if (rates->calibrated)
            add_runs_with_bug(rates, counts);
        break;
    case VERDICT_PASS:
        failure_rates_learn_good(rates, counts);
        break;
    case VERDICT_SKIP: /* inconclusive */
        break;
    }
}
