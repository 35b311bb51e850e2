/* debug/check/repeated.c: see repeated.h. */
#include "debug/check/repeated.h"

#include "base/interrupt.h"

/* A candidate whose first runs are all skipped is not run again and again: as a rule it just cannot be built. */
#define SKIPS_WITHOUT_RUN 3

void repeated_check_init(struct repeated_check *check, bool enabled, bool no_false_failures, struct log *log)
{
    *check = (struct repeated_check){.enabled = enabled, .log = log};
    failure_rates_init(&check->rates, no_false_failures);
}

static enum sequential_state judge(struct repeated_check *check, enum expectation expectation, struct run_counts counts)
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

static enum verdict verdict_of(enum sequential_state state)
{
    switch (state) {
    case SEQUENTIAL_PRESENT:
        return VERDICT_FAIL;
    case SEQUENTIAL_ABSENT:
        return VERDICT_PASS;
    case SEQUENTIAL_OPEN:
    case SEQUENTIAL_UNDECIDED:
        break;
    }
    return VERDICT_SKIP;
}

/* Whether so many skipped runs are the verdict. */
static bool is_skipped(struct run_counts counts, size_t skips)
{
    return skips >= SKIPS_WITHOUT_RUN && (counts.runs == 0 || skips >= SEQUENTIAL_MOST_RUNS);
}

static void warn_without_original(struct repeated_check *check, enum expectation expectation)
{
    if (check->warned || check->rates.calibrated || expectation == EXPECT_FAILURE || expectation == EXPECT_PASS)
        return;
    check->warned = true;
    log_message(check->log, LOG_WARNING,
                "There was no original to find out how often the check fails: what is bad is presumed to fail in half "
                "of the runs or more");
}

int repeated_check_run(struct repeated_check *check, enum expectation expectation, const struct single_run *single,
                       struct run_counts *ret_counts, enum verdict *ret, struct error *err)
{
    enum sequential_state state = SEQUENTIAL_OPEN;
    struct run_counts counts = {0};
    size_t skips = 0;

    warn_without_original(check, expectation);
    while (state == SEQUENTIAL_OPEN && !is_skipped(counts, skips)) {
        enum verdict verdict;

        if (interrupt_pending())
            return error_set(err, ERR_INTERRUPTED, "interrupted");
        int rc = single->run(single->data, &verdict, err);
        if (rc < 0)
            return rc;
        if (verdict == VERDICT_SKIP) {
            skips++;
            continue;
        }
        counts.runs++;
        counts.fails += verdict == VERDICT_FAIL ? 1 : 0;
        state = judge(check, expectation, counts);
    }
    *ret = verdict_of(state);
    *ret_counts = counts;
    log_message(check->log, LOG_INFO, "Failed in %zu of %zu runs", counts.fails, counts.runs);
    if (skips > 0)
        log_message(check->log, LOG_INFO, "%zu run(s) more were skipped", skips);
    if (state == SEQUENTIAL_UNDECIDED)
        log_message(check->log, LOG_WARNING,
                    "That is not enough to tell whether it has the failure that is looked for, so it says nothing");
    return 0;
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
                "Candidates fail in about %.2g of the runs with the bug and in %.2g without it. That is too close to "
                "tell them apart, so the search ends here",
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
