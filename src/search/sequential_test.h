/* search/sequential_test.h: how many runs of an unreliable check a verdict needs.
 *
 * A candidate that has the bug fails in a part of its runs, one without it in a smaller part. After each run Wald's
 * sequential probability ratio test ("Sequential Tests of Statistical Hypotheses", 1945) says whether the runs so far
 * suffice to tell which one it is. Its errors are not alike: to believe in a bug that is not there loses it for good,
 * to overlook one leaves only a larger result.
 */
#ifndef SEARCH_SEQUENTIAL_TEST_H
#define SEARCH_SEQUENTIAL_TEST_H

#include <stddef.h>

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

#endif
