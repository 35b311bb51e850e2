/* debug/check/verdict.c: see verdict.h. */
#include "debug/check/verdict.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debug/check/failure_reason.h"

/* --check-timeout auto: this factor times the duration of the first run, within these bounds, in seconds. */
#define AUTO_TIMEOUT_FACTOR 10
#define AUTO_TIMEOUT_SHORTEST 1.0
#define AUTO_TIMEOUT_LONGEST 300.0

/* A warning is logged if more than one in SKEWED_FRACTION runs timed out, after at least SKEWED_RUNS runs. */
#define SKEWED_FRACTION 10
#define SKEWED_RUNS 10

int judge_init(struct judge *judge, const struct check_rules *rules, const struct check_display *display, bool shell,
               struct log *log, struct error *err)
{
    *judge = (struct judge){.rules = *rules, .display = *display, .shell = shell, .log = log};
    return check_patterns_new(rules->fail_patterns.items, rules->fail_patterns.count, &judge->patterns, err);
}

void judge_release(struct judge *judge)
{
    check_patterns_free(judge->patterns);
    check_evidence_release(&judge->evidence);
}

/* ---- Outcome of a run ---- */

struct outcome {
    enum verdict verdict;
    int signature;      /* of a failure */
    const char *reason; /* or "" */
};

/* A pattern that was not found may match the lost part of the output: a pass cannot be distinguished from a failure. */
static int refuse_lost_output(const struct process_result *result, struct error *err)
{
    uint64_t left_out = result->out.left_out + result->error_out.left_out;

    if (result->out.truncated || result->error_out.truncated)
        return error_set(err, ERR_IO,
                         "the check's output filled the disk of temporary files: the rest, which might match "
                         "--fail-regex, was lost. Set TMPDIR to a folder on another disk");
    if (left_out > 0)
        return error_set(err, ERR_IO,
                         "the check's output is too long: %" PRIu64
                         " bytes in the middle, which might match --fail-regex, were dropped. Make the check write "
                         "less, or let it search for the pattern and report it by exit code",
                         left_out);
    return 0;
}

/* Each stream is searched separately: no match may begin in one and end in the other. With `by_pattern` the first
 * pattern in their order counts, whichever stream it matches. */
static int search_output(const struct judge *judge, const struct process_result *result, size_t *ret, struct error *err)
{
    bool by_pattern = judge->rules.by_pattern;
    size_t count = judge->rules.fail_patterns.count;
    int rc = check_patterns_search(judge->patterns, count, &result->out, ret, err);

    if (rc < 0)
        return rc;
    if (*ret == count || by_pattern) {
        rc = check_patterns_search(judge->patterns, *ret, &result->error_out, ret, err);
        if (rc < 0)
            return rc;
    }
    return *ret == count || (by_pattern && *ret > 0) ? refuse_lost_output(result, err) : 0;
}

static int find_outcome(const struct judge *judge, const struct process_result *result, struct outcome *ret,
                        struct error *err)
{
    const struct check_rules *rules = &judge->rules;
    int code = check_exit_code(result);
    bool late = result->end == PROCESS_TIMED_OUT;
    size_t pattern = rules->fail_patterns.count;

    ret->reason = "";
    if (late && rules->on_timeout != TIMEOUT_FAILS) {
        ret->verdict = rules->on_timeout == TIMEOUT_PASSES ? VERDICT_PASS : VERDICT_SKIP;
        return 0;
    }
    if (!late && check_rules_need_output(rules, code)) {
        int rc = search_output(judge, result, &pattern, err);
        if (rc < 0)
            return rc;
    }
    ret->verdict = check_rules_verdict(rules, code, late || pattern < rules->fail_patterns.count);
    ret->signature = !rules->by_pattern ? code : late ? 0 : (int)pattern + 1;
    if (rules->compare_reasons && !late && code == CHECK_NOT_RUN_CODE)
        ret->reason = result->reason;
    return 0;
}

/* During a reduction one failure can turn into another. The search is for the first one, that of the original. */
static bool is_other_failure(const struct judge *judge, const struct outcome *outcome)
{
    return judge->rules.compare_failures && outcome->verdict == VERDICT_FAIL && judge->has_failure &&
           (judge->failure_code != outcome->signature ||
            (judge->failure_reason[0] != '\0' && strcmp(judge->failure_reason, outcome->reason) != 0));
}

static void add_signature(struct string_builder *text, const struct check_rules *rules, int signature,
                          const char *reason)
{
    if (!rules->by_pattern)
        string_add_format(text, reason[0] != '\0' ? "exit code %d (%s)" : "exit code %d", signature, reason);
    else if (signature > 0 && (size_t)signature <= rules->fail_patterns.count)
        string_add_format(text, "pattern '%s'", rules->fail_patterns.items[signature - 1]);
    else
        string_add(text, "timeout");
}

static void log_other_failure(const struct judge *judge, const struct outcome *outcome)
{
    const struct check_rules *rules = &judge->rules;
    SCOPED_STRING(now);
    SCOPED_STRING(first);

    add_signature(&now, rules, outcome->signature, outcome->reason);
    add_signature(&first, rules, judge->failure_code, judge->failure_reason);
    log_message(judge->log, LOG_WARNING,
                "Inconclusive, a different failure: %s; the first failure: %s (--signature off accepts any failure)",
                now.data, first.data);
}

void judge_expect_failure(struct judge *judge, int code, const char *reason)
{
    judge->has_failure = true;
    judge->failure_code = code;
    snprintf(judge->failure_reason, sizeof(judge->failure_reason), "%s", reason);
}

/* ---- State between runs ---- */

bool judge_knows_time_limit(const struct judge *judge)
{
    return !judge->rules.auto_timeout || judge->rules.timeout > 0;
}

static void set_time_limit(struct judge *judge, double seconds)
{
    double limit = ceil(seconds * AUTO_TIMEOUT_FACTOR * 10) / 10;

    judge->rules.timeout = fmin(fmax(limit, AUTO_TIMEOUT_SHORTEST), AUTO_TIMEOUT_LONGEST);
    log_message(judge->log, LOG_INFO, "The first check took %.2f s: later checks time out after %.1f s", seconds,
                judge->rules.timeout);
}

static void count_run(struct check_counts *counts, enum process_end end, enum verdict verdict, bool other_failure)
{
    counts->failed += verdict == VERDICT_FAIL ? 1 : 0;
    counts->passed += verdict == VERDICT_PASS ? 1 : 0;
    counts->other_failure += verdict == VERDICT_SKIP && other_failure ? 1 : 0;
    counts->skipped += verdict == VERDICT_SKIP && !other_failure ? 1 : 0;
    counts->timed_out += end == PROCESS_TIMED_OUT ? 1 : 0;
    counts->signaled += end == PROCESS_SIGNALED ? 1 : 0;
}

static void warn_of_hangs(struct judge *judge)
{
    int64_t runs = check_counts_runs(&judge->counts), timed_out = judge->counts.timed_out;

    if (judge->told_of_hangs || judge->hangs || runs < SKEWED_RUNS || timed_out * SKEWED_FRACTION <= runs)
        return;
    judge->told_of_hangs = true;
    log_message(
        judge->log, LOG_WARNING,
        "%" PRId64 " of %" PRId64
        " checks so far timed out. Their verdicts are unknown and results may be skewed: pass a longer --check-timeout",
        timed_out, runs);
}

/* The first failure is the one that is searched for; another one is inconclusive. Returns whether it is another. */
static bool compare_failure(struct judge *judge, struct outcome *outcome)
{
    bool other;

    if (judge->rules.compare_failures && outcome->verdict == VERDICT_FAIL && !judge->has_failure)
        judge_expect_failure(judge, outcome->signature, outcome->reason);
    other = is_other_failure(judge, outcome);
    if (other) {
        outcome->verdict = VERDICT_SKIP;
        log_other_failure(judge, outcome);
    }
    return other;
}

enum verdict judge_unmade(struct judge *judge, const struct error *why)
{
    const struct check_rules *rules = &judge->rules;
    struct outcome outcome = {.signature = CHECK_NOT_RUN_CODE, .reason = ""};
    char reason[PROCESS_REASON_SIZE];

    outcome.verdict = check_rules_verdict(rules, CHECK_NOT_RUN_CODE, false);
    if (outcome.verdict == VERDICT_FAIL && !rules->by_pattern) {
        failure_reason_of(why, reason);
        if (rules->compare_reasons)
            outcome.reason = reason;
        compare_failure(judge, &outcome);
        return outcome.verdict;
    }
    log_message(judge->log, LOG_WARNING, "Inconclusive: the options define failures of the check, which did not run");
    return VERDICT_SKIP;
}

int judge_run(struct judge *judge, const struct process_result *result, enum verdict *ret, struct error *err)
{
    const struct check_rules *rules = &judge->rules;
    bool exited = result->end == PROCESS_EXITED, other, unnamed;
    struct outcome outcome;
    int rc = find_outcome(judge, result, &outcome, err);

    if (rc < 0)
        return rc;
    other = compare_failure(judge, &outcome);
    check_report(rules, &judge->display, result, outcome.verdict, judge->shell && !judge->ran, judge->log);
    check_evidence_add(&judge->evidence, result,
                       check_report_shows_all(&judge->display, result, outcome.verdict, judge->log));

    judge->ran = true;
    if (outcome.verdict == VERDICT_FAIL && judge->counts.failed == 0)
        judge->hangs = result->end == PROCESS_TIMED_OUT;
    unnamed = exited && !check_rules_name_code(rules, result->code);
    if (unnamed && (result->code == 126 || result->code == 127))
        judge->broken_code = result->code;
    judge->unsound = unnamed && outcome.verdict == VERDICT_SKIP && !other;
    count_run(&judge->counts, result->end, outcome.verdict, other);
    warn_of_hangs(judge);
    /* An inconclusive run, for instance a failed build, is no measure for the duration of others. */
    if (!judge_knows_time_limit(judge) && outcome.verdict != VERDICT_SKIP)
        set_time_limit(judge, result->seconds);
    *ret = outcome.verdict;
    return 0;
}

enum verdict judge_foresee(const struct judge *judge, const struct process_result *result)
{
    struct outcome outcome = {.verdict = VERDICT_SKIP};

    if (find_outcome(judge, result, &outcome, NULL) < 0 || is_other_failure(judge, &outcome))
        return VERDICT_SKIP;
    return outcome.verdict;
}

int judge_take_broken_code(struct judge *judge)
{
    int ret = judge->broken_code;

    judge->broken_code = 0;
    return ret;
}

void judge_show_hidden_output(struct judge *judge)
{
    struct check_evidence *evidence = &judge->evidence;

    if (evidence->hidden != NULL)
        log_text(judge->log, LOG_ERROR, text_of(evidence->hidden));
    free(evidence->hidden);
    evidence->hidden = NULL;
}

/* ---- Counts ---- */

int64_t check_counts_runs(const struct check_counts *counts)
{
    return counts->failed + counts->other_failure + counts->passed + counts->skipped;
}

static void add_count(struct string_builder *line, const char *separator, int64_t count, const char *what)
{
    if (count > 0)
        string_add_format(line, "%s%" PRId64 " %s", separator, count, what);
}

void check_counts_log(const struct check_counts *counts, struct log *log)
{
    SCOPED_STRING(line);

    if (counts->other_failure + counts->skipped + counts->timed_out + counts->signaled == 0)
        return;
    string_add_format(&line, "Checks: %" PRId64 " with the failure, %" PRId64 " passed", counts->failed,
                      counts->passed);
    add_count(&line, ", ", counts->other_failure, "with another failure");
    add_count(&line, ", ", counts->skipped, "skipped");
    add_count(&line, "; of them ", counts->timed_out, "timed out");
    add_count(&line, counts->timed_out > 0 ? ", " : "; of them ", counts->signaled, "killed by a signal");
    log_message(log, LOG_INFO, "%s", line.data);
}
