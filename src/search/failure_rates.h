/* search/failure_rates.h: sequential tests for an unreliable check: how many runs a verdict needs, and estimates of the
 * failure rates with and without the bug.
 *
 * A candidate with the bug fails in a fraction of its runs, a candidate without it in a smaller fraction. After each
 * run Wald's sequential probability ratio test ("Sequential Tests of Statistical Hypotheses", 1945) decides whether the
 * runs so far are sufficient. The two errors have different costs: a false failure loses the bug for good, a missed
 * failure only gives a larger result.
 *
 * The rate with the bug is estimated from the original and updated with candidates that were found to have the bug: it
 * may fall as the model shrinks. The rate without the bug is estimated from a known good candidate, if there is one,
 * and from candidates found not to have the bug; until there are enough runs it is presumed to be high. Everything is
 * computed from counts, so that a resumed session arrives at the same rates.
 */
#ifndef SEARCH_FAILURE_RATES_H
#define SEARCH_FAILURE_RATES_H

#include "search/search.h"

/* Conclusive runs, and the number of failures among them. */
struct run_counts {
    size_t runs, fails;
};

struct sequential_plan {
    double present, absent; /* failure rates with and without the bug: 0 <= absent < present < 1 */
    double false_presence;  /* probability of SEQUENTIAL_PRESENT without the bug (alpha) */
    double false_absence;   /* probability of SEQUENTIAL_ABSENT with the bug (beta) */
    size_t most_runs;       /* after which the test is undecided */
};

/* Error probability for a reduction: 50 to 100 of its candidates lack the bug, and none of them may be accepted. */
#define SEQUENTIAL_FALSE_PRESENCE 0.001
#define SEQUENTIAL_FALSE_ABSENCE 0.05
#define SEQUENTIAL_MOST_RUNS 30

enum sequential_state {
    SEQUENTIAL_OPEN, /* another run is needed */
    SEQUENTIAL_PRESENT,
    SEQUENTIAL_ABSENT,
    SEQUENTIAL_UNDECIDED, /* most_runs did not suffice */
};

/* The state of the test after these runs; their order does not matter. Without false failures (absent == 0) a single
 * failure proves the bug, and ln(false_absence) / ln(1 - present) passes, rounded up, prove its absence. */
enum sequential_state sequential_judge(const struct sequential_plan *plan, struct run_counts counts);

/* Wilson's score interval ("Probable Inference, the Law of Succession, and Statistical Inference", 1927) of the failure
 * rate; 0 to 1 without any run. `quantile` is the two-sided quantile of the normal distribution. */
struct rate_interval {
    double low, high;
};

#define QUANTILE_OF_80_PERCENT 1.2815515655446004
#define QUANTILE_OF_95_PERCENT 1.959963984540054

struct rate_interval rate_interval(struct run_counts counts, double quantile);

struct failure_rates {
    bool no_false_failures; /* the user guarantees that the check never fails without the bug */
    bool calibrated;        /* the original failed */
    bool always_fails;      /* so far all runs with the bug failed: then a single pass proves its absence */
    double fails, runs;     /* with the bug; older runs have less weight */
    struct run_counts without;
};

void failure_rates_init(struct failure_rates *rates, bool no_false_failures);

/* Judges the original after these runs: SEQUENTIAL_PRESENT if any run failed. SEQUENTIAL_OPEN: run it again. */
enum sequential_state failure_rates_judge_bad(struct run_counts counts);

/* Like failure_rates_judge_bad(), for a candidate that should not have the bug. */
enum sequential_state failure_rates_judge_good(struct run_counts counts);

/* Which verdict must be especially reliable, because the search continues from such candidates. */
enum weighty_verdict {
    WEIGHTY_FAILURE,     /* searching a smaller failing model */
    WEIGHTY_PASS,        /* searching a fix */
    WEIGHTY_BOTH,        /* searching the difference between passing and failing */
    WEIGHTY_SECOND_LOOK, /* neither: a re-verification of a failing candidate */
};

/* Whether a candidate has the bug. */
enum sequential_state failure_rates_judge(struct failure_rates *rates, struct run_counts counts,
                                          enum weighty_verdict weighty);

/* Update the rates with the runs of a judged candidate. */
void failure_rates_learn_bad(struct failure_rates *rates, struct run_counts counts);
void failure_rates_learn_good(struct failure_rates *rates, struct run_counts counts);
void failure_rates_learn(struct failure_rates *rates, struct run_counts counts, enum verdict verdict);

/* Conservative estimates: the true rate with the bug is higher with a probability of 75 %, and the rate without it
 * starts high. */
double failure_rate_with_bug(const struct failure_rates *rates);
double failure_rate_without_bug(const struct failure_rates *rates);

/* False if the rates are too close to be distinguished by a practical number of runs. */
bool failure_rates_differ(const struct failure_rates *rates);

#endif
