/* debug/belief/repeated.c: see repeated.h. */
#include "debug/belief/repeated.h"

/* A candidate whose first runs are all skipped is not repeated further: usually it cannot be built. */
#define SKIPS_WITHOUT_RUN 3

void repeated_check_init(struct repeated_check *check, bool enabled, bool no_false_failures, struct log *log)
{
    *check = (struct repeated_check){.enabled = enabled, .log = log};
    failure_rates_init(&check->rates, no_false_failures);
}

static enum sequential_state judge_runs(struct repeated_check *check, enum expectation expectation,
                                        struct run_counts counts)
{
    switch (expectation) {
    case EXPECT_FAILURE:
        return failure_rates_judge_bad(counts);
    case EXPECT_PASS:
        return failure_rates_judge_good(counts);
    case EXPECT_AGAIN:
        return failure_rates_judge(&check->rates, counts, WEIGHTY_SECOND_LOOK);
    case EXPECT_REMEDY:
        return failure_rates_judge(&check->rates, counts, WEIGHTY_PASS);
    case EXPECT_BOUNDARY:
        return failure_rates_judge(&check->rates, counts, WEIGHTY_BOTH);
    case EXPECT_NOTHING:
        break;
    }
    return failure_rates_judge(&check->rates, counts, WEIGHTY_FAILURE);
}

struct repeated_runs repeated_runs_begin(struct repeated_check *check, enum expectation expectation)
{
    if (!check->warned && !check->rates.calibrated && expectation != EXPECT_FAILURE && expectation != EXPECT_PASS) {
        check->warned = true;
        log_message(check->log, LOG_WARNING,
                    "The failure rate is unknown, because no original was checked: assuming that bad candidates fail "
                    "in at least half of the runs");
    }
    return (struct repeated_runs){.expectation = expectation, .state = SEQUENTIAL_OPEN};
}

bool repeated_runs_want_more(const struct repeated_runs *runs)
{
    bool skipped = runs->skips >= SKIPS_WITHOUT_RUN && (runs->counts.runs == 0 || runs->skips >= SEQUENTIAL_MOST_RUNS);

    return runs->state == SEQUENTIAL_OPEN && !skipped;
}

void repeated_runs_add(struct repeated_check *check, struct repeated_runs *runs, enum verdict verdict)
{
    if (verdict == VERDICT_SKIP) {
        runs->skips++;
        return;
    }
    runs->counts.runs++;
    runs->counts.fails += verdict == VERDICT_FAIL ? 1 : 0;
    runs->state = judge_runs(check, runs->expectation, runs->counts);
}

enum verdict repeated_runs_end(const struct repeated_check *check, const struct repeated_runs *runs)
{
    log_message(check->log, LOG_INFO, "Failed in %zu of %zu runs", runs->counts.fails, runs->counts.runs);
    if (runs->skips > 0)
        log_message(check->log, LOG_INFO, "%zu more run(s) were skipped", runs->skips);
    if (runs->state == SEQUENTIAL_UNDECIDED)
        log_message(check->log, LOG_WARNING,
                    "Inconclusive: these runs do not decide whether the candidate has the failure");
    return runs->state == SEQUENTIAL_PRESENT  ? VERDICT_FAIL
           : runs->state == SEQUENTIAL_ABSENT ? VERDICT_PASS
                                              : VERDICT_SKIP;
}

void repeated_check_learn(struct repeated_check *check, enum expectation expectation, struct run_counts counts,
                          enum verdict verdict)
{
    if (counts.runs == 0)
        return;
    switch (expectation) {
    case EXPECT_FAILURE:
        check->original = counts;
        failure_rates_learn_bad(&check->rates, counts);
        break;
    case EXPECT_PASS:
        if (verdict == VERDICT_PASS)
            failure_rates_learn_good(&check->rates, counts);
        break;
    case EXPECT_AGAIN:
    case EXPECT_REMEDY:
    case EXPECT_BOUNDARY:
    case EXPECT_NOTHING:
        failure_rates_learn(&check->rates, counts, verdict);
        break;
    }
}

bool repeated_check_can_go_on(const struct repeated_check *check)
{
    if (!check->enabled || failure_rates_differ(&check->rates))
        return true;
    log_message(check->log, LOG_WARNING,
                "Search stopped: candidates fail in about %.2g of the runs with the bug and in %.2g without it, which "
                "is too close to tell them apart",
                failure_rate_with_bug(&check->rates), failure_rate_without_bug(&check->rates));
    return false;
}

void repeated_check_report(const struct repeated_check *check, const char *what, struct run_counts counts)
{
    struct rate_interval interval = rate_interval(counts, QUANTILE_OF_95_PERCENT);

    if (counts.runs > 0)
        log_message(check->log, LOG_FINISH, "%s fails in %zu of %zu runs (95 %% interval %.2f .. %.2f)", what,
                    counts.fails, counts.runs, interval.low, interval.high);
}
