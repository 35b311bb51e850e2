/* test_verdict.c: what is remembered from one run of a check to the next. The runs are made up. */
#include "support/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "debug/check/check.h"
#include "support/captured_log.h"

static const char *const command[] = {"true", NULL};
static const char *const patterns[] = {"AA", "BB"};
static struct captured_log captured;

/* A judge of a check that is no line of the shell, and whose output is not shown. */
static struct judge *make(struct check_rules rules)
{
    struct judge *ret = memory_alloc_zero(1, sizeof(*ret));
    struct error err;

    string_clear(&captured.text);
    if (judge_init(ret, &rules, &(struct check_display){.hide_fail_output = true}, false, &captured.log, &err) < 0)
        fail_msg("%s", err.message);
    return ret;
}

static void unmake(struct judge *judge)
{
    judge_release(judge);
    free(judge);
}

static struct check *make_check(struct check_rules rules)
{
    const struct check_settings settings = {.command = {command, 1}, .rules = rules};
    struct check *ret;
    struct error err;

    if (check_new(&settings, &captured.log, &ret, &err) < 0)
        fail_msg("%s", err.message);
    return ret;
}

static struct process_output output_of(const char *text)
{
    return (struct process_output){.data = text, .size = strlen(text), .fd = -1};
}

/* A run that exited with a code, ran out of time, or was ended by a signal (`code`). */
static struct process_result result_of(enum process_end end, int code, const char *out, const char *error_out)
{
    return (struct process_result){
        .end = end, .code = code, .seconds = 0.5, .out = output_of(out), .error_out = output_of(error_out)};
}

static enum verdict judge_result(struct judge *judge, struct process_result result)
{
    enum verdict foreseen = judge_foresee(judge, &result), ret = VERDICT_SKIP;
    struct error err;

    if (judge_run(judge, &result, &ret, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(foreseen, ret);
    return ret;
}

static enum verdict exits(struct judge *judge, int code)
{
    return judge_result(judge, result_of(PROCESS_EXITED, code, "", ""));
}

static enum verdict writes(struct judge *judge, const char *out, const char *error_out)
{
    return judge_result(judge, result_of(PROCESS_EXITED, 1, out, error_out));
}

static enum verdict times_out(struct judge *judge)
{
    return judge_result(judge, result_of(PROCESS_TIMED_OUT, 15, "", ""));
}

static enum verdict takes(struct judge *judge, int code, double seconds)
{
    struct process_result result = result_of(PROCESS_EXITED, code, "", "");

    result.seconds = seconds;
    return judge_result(judge, result);
}

/* ---- Failures that are told apart ---- */

static struct check_rules by_pattern(void)
{
    return (struct check_rules){.fail_patterns = {patterns, 2}, .compare_failures = true, .by_pattern = true};
}

static void exit_code_of_the_first_failure_is_that_of_all(void **state)
{
    struct judge *judge = make((struct check_rules){.compare_failures = true});

    assert_int_equal(exits(judge, 0), VERDICT_PASS);
    assert_false(judge->has_failure);
    assert_int_equal(exits(judge, 7), VERDICT_FAIL);
    assert_true(judge->has_failure);
    assert_int_equal(judge->failure_code, 7);
    assert_int_equal(exits(judge, 8), VERDICT_SKIP);
    assert_true(captured_log_has(&captured,
                                 "W Inconclusive, a different failure: exit code 8; the first failure: exit code 7"));
    assert_int_equal(judge_result(judge, result_of(PROCESS_SIGNALED, 7, "", "")), VERDICT_SKIP);
    assert_int_equal(exits(judge, 7), VERDICT_FAIL);
    unmake(judge);
}

/* A run of this program that the runtime has refused, for this reason. */
static enum verdict is_refused(struct judge *judge, int code, const char *reason)
{
    struct process_result result = result_of(PROCESS_EXITED, code, "", "");

    snprintf(result.reason, sizeof(result.reason), "%s", reason);
    return judge_result(judge, result);
}

static void why_the_runtime_refuses_a_model_is_part_of_the_signature(void **state)
{
    struct judge *judge = make((struct check_rules){.compare_failures = true, .compare_reasons = true});

    assert_int_equal(is_refused(judge, 3, "error 1 of the runtime, Gemm"), VERDICT_FAIL);
    assert_string_equal(judge->failure_reason, "error 1 of the runtime, Gemm");
    assert_int_equal(is_refused(judge, 3, "error 10 of the runtime, Foo"), VERDICT_SKIP);
    assert_true(captured_log_has(&captured,
                                 "W Inconclusive, a different failure: exit code 3 (error 10 of the runtime, Foo); "
                                 "the first failure: exit code 3 (error 1 of the runtime, Gemm)"));
    assert_int_equal(is_refused(judge, 3, ""), VERDICT_SKIP);
    assert_int_equal(is_refused(judge, 3, "error 1 of the runtime, Gemm"), VERDICT_FAIL);
    unmake(judge);
}

static void reasons_count_with_the_code_of_a_refusal_alone_and_where_they_are_known(void **state)
{
    struct judge *judge = make((struct check_rules){.compare_failures = true, .compare_reasons = true});

    assert_int_equal(is_refused(judge, 1, "Gemm"), VERDICT_FAIL); /* a script's own code */
    assert_string_equal(judge->failure_reason, "");
    assert_int_equal(is_refused(judge, 1, "Foo"), VERDICT_FAIL);
    unmake(judge);

    judge = make((struct check_rules){.compare_failures = true, .compare_reasons = true});
    assert_int_equal(is_refused(judge, 3, ""), VERDICT_FAIL);
    assert_int_equal(is_refused(judge, 3, "Gemm"), VERDICT_FAIL);
    unmake(judge);

    judge = make((struct check_rules){.compare_failures = true}); /* --signature exit-code */
    assert_int_equal(is_refused(judge, 3, "Gemm"), VERDICT_FAIL);
    assert_int_equal(is_refused(judge, 3, "Foo"), VERDICT_FAIL);
    unmake(judge);
}

static void with_patterns_it_is_the_first_of_them_that_is_found(void **state)
{
    struct judge *judge = make(by_pattern());

    assert_int_equal(writes(judge, "BB", ""), VERDICT_FAIL);
    assert_true(judge->has_failure);
    assert_int_equal(judge->failure_code, 2);
    assert_int_equal(writes(judge, "", "BB"), VERDICT_FAIL);
    assert_int_equal(writes(judge, "BB AA", ""), VERDICT_SKIP);
    assert_true(captured_log_has(&captured, "W Inconclusive, a different failure: pattern 'AA'; the first failure: "
                                            "pattern 'BB' (--signature off accepts any failure)\n"));
    assert_int_equal(writes(judge, "BB", "AA"), VERDICT_SKIP); /* the order of patterns counts, not that of streams */
    assert_int_equal(writes(judge, "neither", "nor"), VERDICT_PASS);
    unmake(judge);
}

static void running_out_of_time_is_a_failure_without_a_pattern(void **state)
{
    struct judge *judge = make(by_pattern());

    assert_int_equal(writes(judge, "AA", ""), VERDICT_FAIL);
    assert_int_equal(times_out(judge), VERDICT_SKIP);
    assert_true(captured_log_has(&captured, "a different failure: timeout; the first failure: pattern 'AA'"));
    unmake(judge);

    judge = make(by_pattern());
    assert_int_equal(times_out(judge), VERDICT_FAIL);
    assert_int_equal(times_out(judge), VERDICT_FAIL);
    assert_int_equal(writes(judge, "AA", ""), VERDICT_SKIP);
    unmake(judge);
}

static void failure_of_an_earlier_session_is_the_first_one(void **state)
{
    struct judge *judge = make(by_pattern());

    judge_expect_failure(judge, 2, "");
    assert_int_equal(writes(judge, "AA", ""), VERDICT_SKIP);
    assert_int_equal(writes(judge, "BB", ""), VERDICT_FAIL);
    unmake(judge);
}

static void no_earlier_pattern_is_overlooked_in_output_that_was_lost(void **state)
{
    struct judge *judge = make(by_pattern());
    struct process_result result = result_of(PROCESS_EXITED, 1, "BB", "");
    enum verdict verdict;
    struct error err;

    result.out.truncated = true;
    assert_int_equal(judge_run(judge, &result, &verdict, &err), ERR_IO);
    assert_non_null(strstr(err.message, "filled the disk"));
    unmake(judge);
}

/* As if it had gone on for long behind what is there. */
static void leave_out(struct process_output *output, uint64_t bytes)
{
    output->left_out = bytes;
    output->head = output->tail = output->size;
}

static void a_match_that_may_have_been_in_what_was_not_kept_is_no_pass(void **state)
{
    struct judge *judge = make((struct check_rules){.fail_patterns = {patterns, 2}});
    struct process_result result = result_of(PROCESS_EXITED, 0, "neither", "");
    enum verdict verdict;
    struct error err;

    leave_out(&result.out, 5);
    assert_int_equal(judge_run(judge, &result, &verdict, &err), ERR_IO);
    assert_non_null(strstr(err.message, "5 bytes in the middle, which might match"));
    result = result_of(PROCESS_EXITED, 0, "AA and more", "");
    leave_out(&result.out, 5);
    assert_int_equal(judge_run(judge, &result, &verdict, &err), 0);
    assert_int_equal(verdict, VERDICT_FAIL);
    unmake(judge);
}

static void signature_is_part_of_what_the_check_is(void **state)
{
    struct check_rules rules = by_pattern();
    struct check *with_patterns = make_check(rules);

    rules.by_pattern = false;
    struct check *with_codes = make_check(rules);
    assert_false(hash_equal(check_hash(with_patterns), check_hash(with_codes)));
    check_free(with_codes);
    check_free(with_patterns);
}

/* ---- Time limits ---- */

static void limit_follows_from_the_first_run(void **state)
{
    struct judge *judge = make((struct check_rules){.auto_timeout = true});

    assert_false(judge_knows_time_limit(judge));
    assert_float_equal(judge->rules.timeout, 0, 0);
    takes(judge, 0, 0.213);
    assert_true(judge_knows_time_limit(judge));
    assert_float_equal(judge->rules.timeout, 2.2, 1e-9);
    assert_string_equal(captured.text.data, "I The first check took 0.21 s: later checks time out after 2.2 s\n");
    takes(judge, 0, 20);
    assert_float_equal(judge->rules.timeout, 2.2, 1e-9);
    unmake(judge);
}

static void limit_is_neither_very_short_nor_very_long(void **state)
{
    struct judge *quick = make((struct check_rules){.auto_timeout = true});
    struct judge *slow = make((struct check_rules){.auto_timeout = true});

    takes(quick, 1, 0.001);
    assert_float_equal(quick->rules.timeout, 1, 0);
    takes(slow, 1, 5000);
    assert_float_equal(slow->rules.timeout, 300, 0);
    assert_false(captured_log_has(&captured, "If it can hang")); /* there is a limit */
    unmake(slow);
    unmake(quick);
}

static void run_that_says_nothing_is_no_measure(void **state)
{
    const int skipped[] = {125};
    struct judge *judge = make((struct check_rules){.auto_timeout = true, .skip_codes = {skipped, 1}});

    takes(judge, 125, 0.01);
    assert_false(judge_knows_time_limit(judge));
    takes(judge, 0, 3);
    assert_float_equal(judge->rules.timeout, 30, 0);
    unmake(judge);
}

static void given_limit_is_known_at_once(void **state)
{
    struct judge *judge = make((struct check_rules){.timeout = 5}), *none = make((struct check_rules){0});

    assert_true(judge_knows_time_limit(judge));
    assert_float_equal(judge->rules.timeout, 5, 0);
    assert_true(judge_knows_time_limit(none));
    takes(none, 0, 1);
    assert_float_equal(none->rules.timeout, 0, 0);
    unmake(none);
    unmake(judge);
}

static void many_that_run_out_of_time_give_one_warning(void **state)
{
    struct judge *judge = make((struct check_rules){.timeout = 5});

    for (int i = 0; i < 8; i++)
        exits(judge, i % 2);
    times_out(judge);
    assert_false(captured_log_has(&captured, "skewed"));
    exits(judge, 0);
    assert_false(captured_log_has(&captured, "skewed")); /* one in ten */
    times_out(judge);
    assert_true(captured_log_has(&captured, "W 2 of 11 checks so far timed out."));
    string_clear(&captured.text);
    times_out(judge);
    assert_false(captured_log_has(&captured, "skewed"));
    unmake(judge);
}

static void hang_that_is_looked_for_skews_nothing(void **state)
{
    struct judge *judge = make((struct check_rules){.timeout = 5});

    for (int i = 0; i < 20; i++)
        times_out(judge);
    assert_false(captured_log_has(&captured, "skewed"));
    unmake(judge);
}

/* ---- Counts ---- */

static void runs_are_counted_by_what_they_say(void **state)
{
    const int skipped[] = {125};
    struct judge *judge =
        make((struct check_rules){.compare_failures = true, .timeout = 5, .skip_codes = {skipped, 1}});
    const struct check_counts *counts = &judge->counts;

    assert_int_equal(check_counts_runs(counts), 0);
    exits(judge, 3);
    exits(judge, 3);
    exits(judge, 0);
    exits(judge, 125);
    exits(judge, 4);
    times_out(judge);
    judge_result(judge, result_of(PROCESS_SIGNALED, 11, "", ""));
    assert_int_equal(counts->failed, 2);
    assert_int_equal(counts->passed, 1);
    assert_int_equal(counts->skipped, 1);
    assert_int_equal(counts->other_failure, 3);
    assert_int_equal(counts->timed_out, 1);
    assert_int_equal(counts->signaled, 1);
    assert_int_equal(check_counts_runs(counts), 7);
    unmake(judge);
}

static void assert_line(struct check_counts counts, const char *expected)
{
    string_clear(&captured.text);
    check_counts_log(&counts, &captured.log);
    assert_string_equal(captured.text.size > 0 ? captured.text.data : "", expected);
}

static void counts_are_told_when_there_is_more_than_failures_and_passes(void **state)
{
    assert_line((struct check_counts){0}, "");
    assert_line((struct check_counts){.failed = 5, .passed = 6}, "");
    assert_line((struct check_counts){.failed = 12, .passed = 3, .other_failure = 1},
                "I Checks: 12 with the failure, 3 passed, 1 with another failure\n");
    assert_line((struct check_counts){.failed = 2, .skipped = 4, .timed_out = 1, .signaled = 2},
                "I Checks: 2 with the failure, 0 passed, 4 skipped; of them 1 timed out, 2 killed by a signal\n");
    assert_line((struct check_counts){.passed = 1, .signaled = 1},
                "I Checks: 0 with the failure, 1 passed; of them 1 killed by a signal\n");
}

/* ---- A check that cannot be run ---- */

static void codes_of_a_shell_that_cannot_run_a_command_are_noted_once(void **state)
{
    struct judge *judge = make((struct check_rules){0});

    exits(judge, 125);
    assert_int_equal(judge_take_broken_code(judge), 0);
    exits(judge, 127);
    exits(judge, 1);
    assert_int_equal(judge_take_broken_code(judge), 127);
    assert_int_equal(judge_take_broken_code(judge), 0);
    exits(judge, 126);
    assert_int_equal(judge_take_broken_code(judge), 126);
    unmake(judge);
}

static void codes_that_the_user_has_named_are_not(void **state)
{
    const int named[] = {127};
    const struct check_rules rules[] = {
        {.fail_codes = {named, 1}}, {.ignored_codes = {named, 1}}, {.skip_codes = {named, 1}}};

    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        struct judge *judge = make(rules[i]);

        exits(judge, 127);
        assert_int_equal(judge_take_broken_code(judge), 0);
        exits(judge, 126);
        assert_int_equal(judge_take_broken_code(judge), 126);
        unmake(judge);
    }
}

static void shell_that_finds_no_command_is_told_of_at_first(void **state)
{
    struct judge *words = make((struct check_rules){0}), *line = make((struct check_rules){0});

    line->shell = true;
    exits(words, 127);
    assert_false(captured_log_has(&captured, "The shell exited"));
    exits(line, 127);
    assert_true(captured_log_has(&captured, "W The shell exited with code 127"));
    string_clear(&captured.text);
    exits(line, 127);
    assert_false(captured_log_has(&captured, "The shell exited"));
    unmake(line);
    unmake(words);
}

static void broken_check_is_said_to_be_so(void **state)
{
    struct check *check = make_check((struct check_rules){0});
    struct error err;

    assert_int_equal(check_refuse_broken(check, 127, false, &err), ERR_INVALID);
    assert_non_null(strstr(err.message, "the check cannot run: 'true' exits with code 127"));
    assert_int_equal(check_refuse_broken(check, 126, true, &err), ERR_IO);
    assert_non_null(strstr(err.message, "the check no longer works"));
    assert_non_null(strstr(err.message, "'true' now exits with code 126"));
    check_free(check);
}

static int set_up(void **state)
{
    captured_log_init(&captured);
    return 0;
}

static int tear_down(void **state)
{
    captured_log_release(&captured);
    return 0;
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(exit_code_of_the_first_failure_is_that_of_all),
        TEST(why_the_runtime_refuses_a_model_is_part_of_the_signature),
        TEST(reasons_count_with_the_code_of_a_refusal_alone_and_where_they_are_known),
        TEST(with_patterns_it_is_the_first_of_them_that_is_found),
        TEST(running_out_of_time_is_a_failure_without_a_pattern),
        TEST(failure_of_an_earlier_session_is_the_first_one),
        TEST(no_earlier_pattern_is_overlooked_in_output_that_was_lost),
        TEST(signature_is_part_of_what_the_check_is),
        TEST(a_match_that_may_have_been_in_what_was_not_kept_is_no_pass),
        TEST(limit_follows_from_the_first_run),
        TEST(limit_is_neither_very_short_nor_very_long),
        TEST(run_that_says_nothing_is_no_measure),
        TEST(given_limit_is_known_at_once),
        TEST(many_that_run_out_of_time_give_one_warning),
        TEST(hang_that_is_looked_for_skews_nothing),
        TEST(runs_are_counted_by_what_they_say),
        TEST(counts_are_told_when_there_is_more_than_failures_and_passes),
        TEST(codes_of_a_shell_that_cannot_run_a_command_are_noted_once),
        TEST(codes_that_the_user_has_named_are_not),
        TEST(shell_that_finds_no_command_is_told_of_at_first),
        TEST(broken_check_is_said_to_be_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
