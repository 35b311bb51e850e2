/* debug/belief/repeated.h: --flaky: one verdict out of several runs of an unreliable check. */
#ifndef DEBUG_BELIEF_REPEATED_H
#define DEBUG_BELIEF_REPEATED_H

#include "base/error.h"
#include "base/log.h"
#include "search/failure_rates.h"

/* What is known of a candidate beforehand. */
enum expectation {
    EXPECT_NOTHING,  /* if it fails, the search goes on from there */
    EXPECT_REMEDY,   /* the same if it passes */
    EXPECT_BOUNDARY, /* the same in both cases */
    EXPECT_FAILURE,  /* it is the original, which shows how often the check fails with the bug */
    EXPECT_PASS,     /* it is known to be good, and shows how often the check fails without the bug */
    EXPECT_AGAIN,    /* it was found to fail before: it is not given up lightly */
};

struct repeated_check {
    bool enabled;
    struct failure_rates rates;
    struct run_counts original; /* of EXPECT_FAILURE */
    bool warned;                /* that there was no original to learn from */
    struct log *log;
};

/* The runs on one candidate. */
struct repeated_runs {
    enum expectation expectation;
    enum sequential_state state;
    struct run_counts counts;
    size_t skips; /* runs that said nothing, and do not count */
};

void repeated_check_init(struct repeated_check *check, bool enabled, bool no_false_failures, struct log *log);

struct repeated_runs repeated_runs_begin(struct repeated_check *check, enum expectation expectation);

/* Whether the check has to be run, or run again, and what that said. */
bool repeated_runs_want_more(const struct repeated_runs *runs);
void repeated_runs_add(struct repeated_check *check, struct repeated_runs *runs, enum verdict verdict);

/* The verdict: VERDICT_SKIP when too many runs said nothing, and when the candidate stays doubtful. Logs how many runs
 * failed. What was learned of a candidate is for repeated_check_learn(). */
enum verdict repeated_runs_end(const struct repeated_check *check, const struct repeated_runs *runs);

/* Learns from a verdict of this session or an earlier one. */
void repeated_check_learn(struct repeated_check *check, enum expectation expectation, struct run_counts counts,
                          enum verdict verdict);

/* False, and a warning, when failures with the bug have become about as rare as those without: the search has to
 * end. */
bool repeated_check_can_go_on(const struct repeated_check *check);

/* Logs "<what> fails in x of y runs (95 % interval a .. b)"; nothing without runs. */
void repeated_check_report(const struct repeated_check *check, const char *what, struct run_counts counts);

#endif
