/* debug/belief/repeated.h: --flaky: one verdict from several runs of an intermittent check. */
#ifndef DEBUG_BELIEF_REPEATED_H
#define DEBUG_BELIEF_REPEATED_H

#include "base/error.h"
#include "base/log.h"
#include "search/failure_rates.h"

/* Which verdict on a candidate is decisive; determines the number of runs. */
enum expectation {
    EXPECT_NOTHING,  /* a failure is decisive: the search continues from this candidate */
    EXPECT_REMEDY,   /* a pass is decisive */
    EXPECT_BOUNDARY, /* both verdicts are decisive */
    EXPECT_FAILURE,  /* the original: estimates the failure rate with the bug */
    EXPECT_PASS,     /* known to be good: estimates the failure rate without the bug */
    EXPECT_AGAIN,    /* failed before: needs strong evidence to count as a pass */
};

struct repeated_check {
    bool enabled;
    struct failure_rates rates;
    struct run_counts original; /* of EXPECT_FAILURE */
    bool warned;                /* a warning was logged that no original was checked */
    struct log *log;
};

/* The runs on one candidate. */
struct repeated_runs {
    enum expectation expectation;
    enum sequential_state state;
    struct run_counts counts;
    size_t skips; /* inconclusive runs, which do not count */
};

void repeated_check_init(struct repeated_check *check, bool enabled, bool no_false_failures, struct log *log);

struct repeated_runs repeated_runs_begin(struct repeated_check *check, enum expectation expectation);

/* Whether another run of the check is needed; adds the verdict of a run. */
bool repeated_runs_want_more(const struct repeated_runs *runs);
void repeated_runs_add(struct repeated_check *check, struct repeated_runs *runs, enum verdict verdict);

/* The verdict; VERDICT_SKIP if too many runs were inconclusive or the runs do not decide. Logs how many runs failed.
 * Pass the counts to repeated_check_learn() afterwards. */
enum verdict repeated_runs_end(const struct repeated_check *check, const struct repeated_runs *runs);

/* Learns from a verdict of this session or an earlier one. */
void repeated_check_learn(struct repeated_check *check, enum expectation expectation, struct run_counts counts,
                          enum verdict verdict);

/* False, after a warning, if the failure rates with and without the bug have become too similar to distinguish: the
 * search has to stop. */
bool repeated_check_can_go_on(const struct repeated_check *check);

/* Logs "<what> fails in x of y runs (95 % interval a .. b)"; nothing without runs. */
void repeated_check_report(const struct repeated_check *check, const char *what, struct run_counts counts);

#endif
