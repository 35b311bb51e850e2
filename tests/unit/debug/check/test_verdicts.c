/* test_check_verdicts.c: what is remembered from one run of a check to the next. The runs are made up. */
#include "support/unit_test.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "debug/check/check.h"
#include "support/captured_log.h"

static const char *const command[] = {"true", NULL};
static const char *const patterns[] = {"AA", "BB"};
static struct captured_log captured;

static struct check *make(struct check_settings settings)
{
    struct check *ret;
    struct error err;

    settings.command.items = command;
    settings.command.count = 1;
    settings.hide_fail_output = true;
    string_clear(&captured.text);
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

static enum verdict judge_result(struct check *check, struct process_result result)
{
    const struct check_run run = {.iteration = 0};
    enum verdict foreseen = check_foresee(check, &result), ret = VERDICT_SKIP;
    struct error err;

    if (check_judge(check, &run, &result, &ret, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(foreseen, ret);
    return ret;
}

static enum verdict exits(struct check *check, int code)
{
    return judge_result(check, result_of(PROCESS_EXITED, code, "", ""));
}

static enum verdict writes(struct check *check, const char *out, const char *error_out)
{
    return judge_result(check, result_of(PROCESS_EXITED, 1, out, error_out));
}

static enum verdict times_out(struct check *check)
{
    return judge_result(check, result_of(PROCESS_TIMED_OUT, 15, "", ""));
}

static enum verdict takes(struct check *check, int code, double seconds)
{
    struct process_result result = result_of(PROCESS_EXITED, code, "", "");

    result.seconds = seconds;
    return judge_result(check, result);
}

/* ---- Failures that are told apart ---- */

static struct check_settings by_pattern(void)
{
    return (struct check_settings){.fail_patterns = {patterns, 2}, .compare_failures = true, .by_pattern = true};
}

static void exit_code_of_the_first_failure_is_that_of_all(void **state)
{
    struct check *check = make((struct check_settings){.compare_failures = true});
    int code = 0;

    assert_int_equal(exits(check, 0), VERDICT_PASS);
    assert_false(check_failure_code(check, &code));
    assert_int_equal(exits(check, 7), VERDICT_FAIL);
    assert_true(check_failure_code(check, &code));
    assert_int_equal(code, 7);
    assert_int_equal(exits(check, 8), VERDICT_SKIP);
    assert_true(captured_log_has(&captured, "W Another failure: the check ended with code 8; in the first failure the "
                                            "check ended with code 7. It says nothing about that one"));
    assert_int_equal(judge_result(check, result_of(PROCESS_SIGNALED, 7, "", "")), VERDICT_SKIP);
    assert_int_equal(exits(check, 7), VERDICT_FAIL);
    check_free(check);
}

/* A run of this program that the runtime has refused, for this reason. */
static enum verdict is_refused(struct check *check, int code, const char *reason)
{
    struct process_result result = result_of(PROCESS_EXITED, code, "", "");

    snprintf(result.reason, sizeof(result.reason), "%s", reason);
    return judge_result(check, result);
}

static void why_the_runtime_refuses_a_model_is_part_of_the_signature(void **state)
{
    struct check *check = make((struct check_settings){.compare_failures = true, .compare_reasons = true});

    assert_int_equal(is_refused(check, 3, "error 1 of the runtime, Gemm"), VERDICT_FAIL);
    assert_string_equal(check_failure_reason(check), "error 1 of the runtime, Gemm");
    assert_int_equal(is_refused(check, 3, "error 10 of the runtime, Foo"), VERDICT_SKIP);
    assert_true(captured_log_has(
        &captured, "W Another failure: the check ended with code 3 (error 10 of the runtime, Foo); in "
                   "the first failure the check ended with code 3 (error 1 of the runtime, Gemm). It says "
                   "nothing about that one"));
    assert_int_equal(is_refused(check, 3, ""), VERDICT_SKIP);
    assert_int_equal(is_refused(check, 3, "error 1 of the runtime, Gemm"), VERDICT_FAIL);
    check_free(check);
}

static void reasons_count_with_the_code_of_a_refusal_alone_and_where_they_are_known(void **state)
{
    struct check *check = make((struct check_settings){.compare_failures = true, .compare_reasons = true});

    assert_int_equal(is_refused(check, 1, "Gemm"), VERDICT_FAIL); /* a script's own code */
    assert_string_equal(check_failure_reason(check), "");
    assert_int_equal(is_refused(check, 1, "Foo"), VERDICT_FAIL);
    check_free(check);

    check = make((struct check_settings){.compare_failures = true, .compare_reasons = true});
    assert_int_equal(is_refused(check, 3, ""), VERDICT_FAIL);
    assert_int_equal(is_refused(check, 3, "Gemm"), VERDICT_FAIL);
    check_free(check);

    check = make((struct check_settings){.compare_failures = true}); /* --signature exit-code */
    assert_int_equal(is_refused(check, 3, "Gemm"), VERDICT_FAIL);
    assert_int_equal(is_refused(check, 3, "Foo"), VERDICT_FAIL);
    check_free(check);
}

static void with_patterns_it_is_the_first_of_them_that_is_found(void **state)
{
    struct check *check = make(by_pattern());
    int code = 0;

    assert_int_equal(writes(check, "BB", ""), VERDICT_FAIL);
    assert_true(check_failure_code(check, &code));
    assert_int_equal(code, 2);
    assert_int_equal(writes(check, "", "BB"), VERDICT_FAIL);
    assert_int_equal(writes(check, "BB AA", ""), VERDICT_SKIP);
    assert_true(captured_log_has(
        &captured,
        "W Another failure: the first pattern found was 'AA'; in the first failure the first pattern found was "
        "'BB'. It says nothing about that one (--signature off makes failures of all)\n"));
    assert_int_equal(writes(check, "BB", "AA"), VERDICT_SKIP); /* the order of patterns counts, not that of streams */
    assert_int_equal(writes(check, "neither", "nor"), VERDICT_PASS);
    check_free(check);
}

static void running_out_of_time_is_a_failure_without_a_pattern(void **state)
{
    struct check *check = make(by_pattern());

    assert_int_equal(writes(check, "AA", ""), VERDICT_FAIL);
    assert_int_equal(times_out(check), VERDICT_SKIP);
    assert_true(captured_log_has(&captured, "Another failure: the check timed out; in the first failure the first "
                                            "pattern found was 'AA'"));
    check_free(check);

    check = make(by_pattern());
    assert_int_equal(times_out(check), VERDICT_FAIL);
    assert_int_equal(times_out(check), VERDICT_FAIL);
    assert_int_equal(writes(check, "AA", ""), VERDICT_SKIP);
    check_free(check);
}

static void failure_of_an_earlier_session_is_the_first_one(void **state)
{
    struct check *check = make(by_pattern());

    check_set_failure_code(check, 2);
    assert_int_equal(writes(check, "AA", ""), VERDICT_SKIP);
    assert_int_equal(writes(check, "BB", ""), VERDICT_FAIL);
    check_free(check);
}

static void no_earlier_pattern_is_overlooked_in_output_that_was_lost(void **state)
{
    struct check *check = make(by_pattern());
    struct process_result result = result_of(PROCESS_EXITED, 1, "BB", "");
    enum verdict verdict;
    struct error err;

    result.out.truncated = true;
    assert_int_equal(check_judge(check, &(struct check_run){0}, &result, &verdict, &err), ERR_IO);
    assert_non_null(strstr(err.message, "filled the disk"));
    check_free(check);
}

/* As if it had gone on for long behind what is there. */
static void leave_out(struct process_output *output, uint64_t bytes)
{
    output->left_out = bytes;
    output->head = output->tail = output->size;
}

static void a_match_that_may_have_been_in_what_was_not_kept_is_no_pass(void **state)
{
    struct check *check = make((struct check_settings){.fail_patterns = {patterns, 2}});
    struct process_result result = result_of(PROCESS_EXITED, 0, "neither", "");
    enum verdict verdict;
    struct error err;

    leave_out(&result.out, 5);
    assert_int_equal(check_judge(check, &(struct check_run){0}, &result, &verdict, &err), ERR_IO);
    assert_non_null(strstr(err.message, "5 bytes in the middle were not kept"));
    result = result_of(PROCESS_EXITED, 0, "AA and more", "");
    leave_out(&result.out, 5);
    assert_int_equal(check_judge(check, &(struct check_run){0}, &result, &verdict, &err), 0);
    assert_int_equal(verdict, VERDICT_FAIL);
    check_free(check);
}

static void signature_is_part_of_what_the_check_is(void **state)
{
    struct check_settings settings = by_pattern();
    struct check *with_patterns = make(settings);

    settings.by_pattern = false;
    struct check *with_codes = make(settings);
    assert_false(hash_equal(check_hash(with_patterns), check_hash(with_codes)));
    check_free(with_codes);
    check_free(with_patterns);
}

/* ---- Time limits ---- */

static void limit_follows_from_the_first_run(void **state)
{
    struct check *check = make((struct check_settings){.auto_timeout = true});

    assert_false(check_knows_time_limit(check));
    assert_float_equal(check_time_limit(check), 0, 0);
    takes(check, 0, 0.213);
    assert_true(check_knows_time_limit(check));
    assert_float_equal(check_time_limit(check), 2.2, 1e-9);
    assert_string_equal(captured.text.data,
                        "I The first check took 0.21 s: from here on checks are ended after 2.2 s\n");
    takes(check, 0, 20);
    assert_float_equal(check_time_limit(check), 2.2, 1e-9);
    check_free(check);
}

static void limit_is_neither_very_short_nor_very_long(void **state)
{
    struct check *quick = make((struct check_settings){.auto_timeout = true});
    struct check *slow = make((struct check_settings){.auto_timeout = true});

    takes(quick, 1, 0.001);
    assert_float_equal(check_time_limit(quick), 1, 0);
    takes(slow, 1, 5000);
    assert_float_equal(check_time_limit(slow), 300, 0);
    assert_false(captured_log_has(&captured, "Should it hang")); /* there is a limit */
    check_free(slow);
    check_free(quick);
}

static void run_that_says_nothing_is_no_measure(void **state)
{
    const int skipped[] = {125};
    struct check *check = make((struct check_settings){.auto_timeout = true, .skip_codes = {skipped, 1}});

    takes(check, 125, 0.01);
    assert_false(check_knows_time_limit(check));
    takes(check, 0, 3);
    assert_float_equal(check_time_limit(check), 30, 0);
    check_free(check);
}

static void given_limit_is_known_at_once(void **state)
{
    struct check *check = make((struct check_settings){.timeout = 5}), *none = make((struct check_settings){0});

    assert_true(check_knows_time_limit(check));
    assert_float_equal(check_time_limit(check), 5, 0);
    assert_true(check_knows_time_limit(none));
    takes(none, 0, 1);
    assert_float_equal(check_time_limit(none), 0, 0);
    check_free(none);
    check_free(check);
}

static void many_that_run_out_of_time_give_one_warning(void **state)
{
    struct check *check = make((struct check_settings){.timeout = 5});

    for (int i = 0; i < 8; i++)
        exits(check, i % 2);
    times_out(check);
    assert_false(captured_log_has(&captured, "skewed"));
    exits(check, 0);
    assert_false(captured_log_has(&captured, "skewed")); /* one in ten */
    times_out(check);
    assert_true(captured_log_has(&captured, "W 2 of 11 checks so far have run out of time."));
    string_clear(&captured.text);
    times_out(check);
    assert_false(captured_log_has(&captured, "skewed"));
    check_free(check);
}

static void hang_that_is_looked_for_skews_nothing(void **state)
{
    struct check *check = make((struct check_settings){.timeout = 5});

    for (int i = 0; i < 20; i++)
        times_out(check);
    assert_false(captured_log_has(&captured, "skewed"));
    check_free(check);
}

/* ---- Counts ---- */

static void runs_are_counted_by_what_they_say(void **state)
{
    const int skipped[] = {125};
    struct check *check =
        make((struct check_settings){.compare_failures = true, .timeout = 5, .skip_codes = {skipped, 1}});
    const struct check_counts *counts = check_counts(check);

    assert_int_equal(check_counts_runs(counts), 0);
    exits(check, 3);
    exits(check, 3);
    exits(check, 0);
    exits(check, 125);
    exits(check, 4);
    times_out(check);
    judge_result(check, result_of(PROCESS_SIGNALED, 11, "", ""));
    assert_int_equal(counts->failed, 2);
    assert_int_equal(counts->passed, 1);
    assert_int_equal(counts->skipped, 1);
    assert_int_equal(counts->other_failure, 3);
    assert_int_equal(counts->timed_out, 1);
    assert_int_equal(counts->signaled, 1);
    assert_int_equal(check_counts_runs(counts), 7);
    check_free(check);
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
                "I Checks: 2 with the failure, 0 passed, 4 skipped; of them 1 timed out, 2 ended by a signal\n");
    assert_line((struct check_counts){.passed = 1, .signaled = 1},
                "I Checks: 0 with the failure, 1 passed; of them 1 ended by a signal\n");
}

/* ---- A check that cannot be run ---- */

static void codes_of_a_shell_that_cannot_run_a_command_are_noted_once(void **state)
{
    struct check *check = make((struct check_settings){0});

    exits(check, 125);
    assert_int_equal(check_take_broken_code(check), 0);
    exits(check, 127);
    exits(check, 1);
    assert_int_equal(check_take_broken_code(check), 127);
    assert_int_equal(check_take_broken_code(check), 0);
    exits(check, 126);
    assert_int_equal(check_take_broken_code(check), 126);
    check_free(check);
}

static void codes_that_the_user_has_named_are_not(void **state)
{
    const int named[] = {127};
    const struct check_settings settings[] = {
        {.fail_codes = {named, 1}}, {.ignored_codes = {named, 1}}, {.skip_codes = {named, 1}}};

    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        struct check *check = make(settings[i]);

        exits(check, 127);
        assert_int_equal(check_take_broken_code(check), 0);
        exits(check, 126);
        assert_int_equal(check_take_broken_code(check), 126);
        check_free(check);
    }
}

static void broken_check_is_said_to_be_so(void **state)
{
    struct check *check = make((struct check_settings){0});
    struct error err;

    assert_int_equal(check_refuse_broken(check, 127, false, &err), ERR_INVALID);
    assert_non_null(strstr(err.message, "the check cannot be run: 'true' ends with code 127"));
    assert_int_equal(check_refuse_broken(check, 126, true, &err), ERR_IO);
    assert_non_null(strstr(err.message, "the check itself does not work any more"));
    assert_non_null(strstr(err.message, "'true' ends with code 126"));
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
        TEST(broken_check_is_said_to_be_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
