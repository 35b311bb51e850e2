/* search/failure_rates.h: how many runs of an unreliable check a verdict needs, and how often it fails with the bug and
 * without it.
 *
 * A candidate that has the bug fails in a part of its runs, one without it in a smaller part. After each run Wald's
 * sequential probability ratio test ("Sequential Tests of Statistical Hypotheses", 1945) says whether the runs so far
 * suffice to tell which one it is. Its errors are not alike: to believe in a bug that is not there loses it for good,
 * to overlook one leaves only a larger result.
 *
 * The first rate comes from the original, and is kept up to date with candidates that were found to have the bug: it
 * may fall as the model shrinks. The second one comes from a candidate that is known to be good, if there is one, and
 * from those that were found not to have the bug; until there are enough of them it is presumed to be high. All of it
 * is a value: it follows from counts, so that a session that is resumed arrives at the same rates.
 */
#ifndef SEARCH_FAILURE_RATES_H
#define SEARCH_FAILURE_RATES_H

#include "search/search.h"

/* Runs that said something, and how many of them failed. */
struct run_counts {
    size_t runs, fails;
};

struct sequential_plan {
    double present, absent; /* parts of the runs that fail, with the bug and without: 0 <= absent < present < 1 */
    double false_presence;  /* probability of SEQUENTIAL_PRESENT without the bug (alpha) */
    double false_absence;   /* of SEQUENTIAL_ABSENT with it (beta) */
    size_t most_runs;       /* then the test gives up */
};

/* What fits a reduction: among the candidates that it checks 50 to 100 lack the bug, and none of them may slip
 * through. */
#define SEQUENTIAL_FALSE_PRESENCE 0.001
#define SEQUENTIAL_FALSE_ABSENCE 0.05
#define SEQUENTIAL_MOST_RUNS 30

enum sequential_state {
    SEQUENTIAL_OPEN, /* another run is needed */
    SEQUENTIAL_PRESENT,
    SEQUENTIAL_ABSENT,
    SEQUENTIAL_UNDECIDED, /* most_runs did not suffice */
};

/* Says where the test stands after these runs; their order does not matter. Without false failures (absent == 0) a
 * single failure proves the bug, and ln(false_absence) / ln(1 - present) passes, rounded up, that there is none. */
enum sequential_state sequential_judge(const struct sequential_plan *plan, struct run_counts counts);

/* Wilson's score interval ("Probable Inference, the Law of Succession, and Statistical Inference", 1927) for the part
 * of runs that fail; 0 to 1 without any run. `quantile` is that of the normal distribution which the interval leaves
 * out on either side. */
struct rate_interval {
    double low, high;
};

#define QUANTILE_OF_80_PERCENT 1.2815515655446004
#define QUANTILE_OF_95_PERCENT 1.959963984540054

struct rate_interval rate_interval(struct run_counts counts, double quantile);

struct failure_rates {
    bool no_false_failures; /* without the bug the check never fails: the user says so */
    bool calibrated;        /* the original was seen to fail */
    bool always_fails;      /* with the bug, as far as was seen: then a single pass says that it is not there */
    double fails, runs;     /* with the bug; older runs weigh less */
    struct run_counts without;
};

void failure_rates_init(struct failure_rates *rates, bool no_false_failures);

/* Whether the original was run often enough, and what that says: a failure when it failed at all. SEQUENTIAL_OPEN: once
 * more. */
enum sequential_state failure_rates_judge_bad(struct run_counts counts);

/* The same for a candidate that should not have the bug. */
enum sequential_state failure_rates_judge_good(struct run_counts counts);

/* Which verdict on a candidate must not be wrong, since the search goes on from there. */
enum weighty_verdict {
    WEIGHTY_FAILURE,     /* a smaller model is looked for that fails */
    WEIGHTY_PASS,        /* a remedy is looked for */
    WEIGHTY_BOTH,        /* the difference between the two */
    WEIGHTY_SECOND_LOOK, /* neither that much: one that was found to fail is looked at again */
};

/* Whether a candidate has the bug. */
enum sequential_state failure_rates_judge(struct failure_rates *rates, struct run_counts counts,
                                          enum weighty_verdict weighty);

/* Learn from what was found in so many runs. */
void failure_rates_learn_bad(struct failure_rates *rates, struct run_counts counts);
void failure_rates_learn_good(struct failure_rates *rates, struct run_counts counts);
void failure_rates_learn(struct failure_rates *rates, struct run_counts counts, enum verdict verdict);

/* Estimates on the safe side: with a probability of 75 % the first rate is higher, and the second one begins high. */
double failure_rate_with_bug(const struct failure_rates *rates);
double failure_rate_without_bug(const struct failure_rates *rates);

/* False when the two are so close that no number of runs that anyone would wait for can tell them apart. */
bool failure_rates_differ(const struct failure_rates *rates);

#endif
