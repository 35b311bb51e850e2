/* debug/check/verdict.c: from the end of a run to its verdict, and what is remembered of it. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debug/check/output.h"
#include "debug/check/report.h"
#include "debug/check/state.h"
#include "debug/check/verdict_rules.h"

/* --check-timeout auto: so many times what the first run took, within these bounds, in seconds. */
#define AUTO_TIMEOUT_FACTOR 10
#define AUTO_TIMEOUT_SHORTEST 1.0
#define AUTO_TIMEOUT_LONGEST 300.0

/* More time-outs than one in so many runs, of at least so many, are worth a warning. */
#define SKEWED_FRACTION 10
#define SKEWED_RUNS 10

/* ---- The failure that is looked for ---- */

bool check_failure_code(const struct check *check, int *ret)
{
    if (check->has_failure_code)
        *ret = check->failure_code;
    return check->has_failure_code;
}

void check_set_failure_code(struct check *check, int code)
{
    check->has_failure_code = true;
    check->failure_code = code;
}

const char *check_failure_reason(const struct check *check)
{
    return check->failure_reason;
}

void check_set_failure_reason(struct check *check, const char *reason)
{
    snprintf(check->failure_reason, sizeof(check->failure_reason), "%s", reason);
}

/* What a run says. */
struct outcome {
    enum verdict verdict;
    int signature;      /* of a failure */
    const char *reason; /* or "" */
};

/* What was not found may have been in what was lost: that is not to be told from a pass, or from another failure. */
static int refuse_lost_output(const struct process_result *result, struct error *err)
{
    uint64_t left_out = result->out.left_out + result->error_out.left_out;

    if (result->out.truncated || result->error_out.truncated)
        return error_set(err, ERR_IO,
                         "the check's output filled the disk of temporary files: what follows was lost, and "
                         "with it perhaps a match of --fail-regex; TMPDIR names another folder");
    if (left_out > 0)
        return error_set(err, ERR_IO,
                         "the check has written so much that %" PRIu64
                         " bytes in the middle were not kept, and with them perhaps a match of --fail-regex: have it "
                         "write less, or look for the match itself and say by its exit code what it has found",
                         left_out);
    return 0;
}

/* A pattern is looked for in either stream by itself: no match may begin in one and end in the other. */
static int search_output(const struct check *check, const struct process_result *result, size_t *ret, struct error *err)
{
    bool by_pattern = check->settings.by_pattern;
    size_t count = check_patterns_count(check->patterns), found = count;
    int rc = check_patterns_search_output(check->patterns, count, &result->out, &found, err);

    if (rc == 0 && (found == count || by_pattern)) {
        size_t earlier;

        rc = check_patterns_search_output(check->patterns, found, &result->error_out, &earlier, err);
        found = rc == 0 ? earlier : found;
    }
    if (rc == 0 && (found == count || (by_pattern && found > 0)))
        rc = refuse_lost_output(result, err);
    *ret = found;
    return rc;
}

static int judge(const struct check *check, const struct process_result *result, struct outcome *ret, struct error *err)
{
    const struct check_settings *settings = &check->settings;
    int code = verdict_exit_code(result);
    bool late = result->end == PROCESS_TIMED_OUT;
    size_t pattern = settings->fail_patterns.count;

    ret->reason = "";
    if (late && settings->on_timeout != TIMEOUT_FAILS) {
        ret->verdict = settings->on_timeout == TIMEOUT_PASSES ? VERDICT_PASS : VERDICT_SKIP;
        return 0;
    }
    if (!late && verdict_needs_output(settings, code)) {
        int rc = search_output(check, result, &pattern, err);
        if (rc < 0)
            return rc;
    }
    ret->verdict = verdict_from_end(settings, code, late || pattern < settings->fail_patterns.count);
    ret->signature = !settings->by_pattern ? code : late ? 0 : (int)pattern + 1;
    if (settings->compare_reasons && !late && code == CHECK_NOT_RUN_CODE)
        ret->reason = result->reason;
    return 0;
}

/* On the way to a smaller model one failure can turn into another. The first one, that of the original, is what is
 * looked for. */
static bool is_other_failure(const struct check *check, const struct outcome *outcome)
{
    return check->settings.compare_failures && outcome->verdict == VERDICT_FAIL && check->has_failure_code &&
           (check->failure_code != outcome->signature ||
            (check->failure_reason[0] != '\0' && strcmp(check->failure_reason, outcome->reason) != 0));
}

static void add_signature(struct string_builder *text, const struct check *check, int signature, const char *reason)
{
    const struct check_settings *settings = &check->settings;

    if (!settings->by_pattern)
        string_add_format(text,
                          reason[0] != '\0' ? "the check ended with code %d (%s)" : "the check ended with code %d",
                          signature, reason);
    else if (signature > 0 && (size_t)signature <= settings->fail_patterns.count)
        string_add_format(text, "the first pattern found was '%s'", settings->fail_patterns.items[signature - 1]);
    else
        string_add(text, "the check timed out");
}

static void log_other_failure(const struct check *check, const struct outcome *outcome)
{
    struct string_builder now, first;

    string_init(&now);
    string_init(&first);
    add_signature(&now, check, outcome->signature, outcome->reason);
    add_signature(&first, check, check->failure_code, check->failure_reason);
    log_message(check->log, LOG_WARNING,
                "Another failure: %s; in the first failure %s. It says nothing about that one "
                "(--signature off makes failures of all)",
                now.data, first.data);
    string_release(&first);
    string_release(&now);
}

/* ---- Time limits ---- */

double check_time_limit(const struct check *check)
{
    return check->settings.timeout;
}

bool check_knows_time_limit(const struct check *check)
{
    return !check->settings.auto_timeout || check->settings.timeout > 0;
}

/* ---- Verdicts ---- */

/* The user knows the usual paths only; and what is shown must not depend on where a candidate was. */
static void use_usual_paths(const struct check *check, const struct check_run *run, struct process_result *result)
{
    for (size_t i = 0; i < CANDIDATE_FILES; i++) {
        const char *usual = check->settings.files.items[i], *actual = run->files.items[i];

        if (usual == NULL || actual == NULL || strcmp(usual, actual) == 0)
            continue;
        check_output_rename(&result->out, actual, usual);
        check_output_rename(&result->error_out, actual, usual);
    }
}

/* With --check-timeout auto. A run that says nothing, because something could not be built, is no measure of the
 * others. */
static void set_time_limit(struct check *check, const struct process_result *result, enum verdict verdict)
{
    double limit = ceil(result->seconds * AUTO_TIMEOUT_FACTOR * 10) / 10;

    if (check_knows_time_limit(check) || verdict == VERDICT_SKIP)
        return;
    check->settings.timeout = fmin(fmax(limit, AUTO_TIMEOUT_SHORTEST), AUTO_TIMEOUT_LONGEST);
    log_message(check->log, LOG_INFO, "The first check took %.2f s: from here on checks are ended after %.1f s",
                result->seconds, check->settings.timeout);
}

static void warn_of_hangs(struct check *check)
{
    int64_t runs = check_counts_runs(&check->counts);

    if (check->told_of_hangs || check->hangs || runs < SKEWED_RUNS || check->counts.timed_out * SKEWED_FRACTION <= runs)
        return;
    check->told_of_hangs = true;
    log_message(check->log, LOG_WARNING,
                "%" PRId64 " of %" PRId64
                " checks so far have run out of time. What they would have said is not known, so "
                "that results may be skewed: a longer --check-timeout tells",
                check->counts.timed_out, runs);
}

static void note_broken_code(struct check *check, const struct process_result *result)
{
    if (result->end == PROCESS_EXITED && (result->code == 126 || result->code == 127) &&
        !verdict_names_code(&check->settings, result->code))
        check->broken_code = result->code;
}

int check_judge(struct check *check, const struct check_run *run, struct process_result *result, enum verdict *ret,
                struct error *err)
{
    struct outcome outcome;
    bool other;
    int rc;

    use_usual_paths(check, run, result);
    rc = judge(check, result, &outcome, err);
    if (rc < 0)
        return rc;
    if (check->settings.compare_failures && outcome.verdict == VERDICT_FAIL && !check->has_failure_code) {
        check_set_failure_code(check, outcome.signature);
        check_set_failure_reason(check, outcome.reason);
    }
    other = is_other_failure(check, &outcome);
    if (other) {
        outcome.verdict = VERDICT_SKIP;
        log_other_failure(check, &outcome);
    }
    check_report(&check->settings, result, outcome.verdict, !check->ran, check->log);
    check_evidence_add(&check->evidence, result,
                       check_report_shows_output(&check->settings, outcome.verdict, check->log));
    check->ran = true;
    if (outcome.verdict == VERDICT_FAIL && check->counts.failed == 0)
        check->hangs = result->end == PROCESS_TIMED_OUT;
    note_broken_code(check, result);
    check->unsound = outcome.verdict == VERDICT_SKIP && !other && result->end == PROCESS_EXITED &&
                     !verdict_names_code(&check->settings, result->code);
    check_counts_add(&check->counts, result->end, outcome.verdict, other);
    warn_of_hangs(check);
    set_time_limit(check, result, outcome.verdict);
    *ret = outcome.verdict;
    return 0;
}

const struct check_counts *check_counts(const struct check *check)
{
    return &check->counts;
}

const struct check_evidence *check_evidence(const struct check *check)
{
    return &check->evidence;
}

void check_show_hidden_output(struct check *check)
{
    struct check_evidence *evidence = &check->evidence;

    if (evidence->hidden != NULL)
        log_text(check->log, LOG_ERROR, text_of(evidence->hidden));
    free(evidence->hidden);
    evidence->hidden = NULL;
}

void check_leave_out_evidence(struct check *check, const struct check_evidence *before)
{
    check_evidence_leave_out(&check->evidence, before);
}

int check_take_broken_code(struct check *check)
{
    int ret = check->broken_code;

    check->broken_code = 0;
    return ret;
}

bool check_is_unsound(const struct check *check)
{
    return check->unsound;
}

int check_refuse_broken(const struct check *check, int code, bool worked_before, struct error *err)
{
    const char *reason = code == 127 ? "there is no such program" : "the program cannot be executed";

    if (worked_before)
        return error_set(
            err, ERR_IO,
            "the check itself does not work any more: on the original, too, '%s' ends with code %d now, with "
            "which shells say that %s",
            check->command_line, code, reason);
    return error_set(err, ERR_INVALID,
                     "the check cannot be run: '%s' ends with code %d, with which shells say that %s; should the code "
                     "mean something else, name it with --fail-code, --ignore-fail-code or --skip-code",
                     check->command_line, code, reason);
}

enum verdict check_foresee(const struct check *check, const struct process_result *result)
{
    struct outcome outcome = {.verdict = VERDICT_SKIP};

    if (judge(check, result, &outcome, NULL) < 0 || is_other_failure(check, &outcome))
        return VERDICT_SKIP;
    return outcome.verdict;
}
