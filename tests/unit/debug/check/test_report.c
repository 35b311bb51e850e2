/* test_check_report.c: what the log says after a check. */
#include "support/unit_test.h"

#include "base/memory.h"
#include "debug/check/report.h"
#include "support/captured_log.h"

#define OUTPUT(literal)                                                                                                \
    {                                                                                                                  \
        .data = (literal), .size = sizeof(literal) - 1, .fd = -1                                                       \
    }

static void assert_report(const struct check_settings *settings, const struct process_result *result,
                          enum verdict verdict, const char *expected)
{
    struct captured_log log;

    captured_log_init(&log);
    check_report(settings, result, verdict, true, &log.log);
    assert_string_equal(log.text.data, expected);
    captured_log_release(&log);
}

static void output_of_a_failure_is_shown_unless_hidden(void **state)
{
    struct process_result result = {
        .end = PROCESS_EXITED, .code = 1, .out = OUTPUT("one\ntwo\n"), .error_out = OUTPUT("")};

    assert_report(&(struct check_settings){0}, &result, VERDICT_FAIL,
                  "I ========== CAPTURED STDOUT ==========\none\ntwo\n\n"
                  "E ========== CAPTURED STDERR ==========\n\n");
    assert_report(&(struct check_settings){.hide_fail_output = true}, &result, VERDICT_FAIL, "");
}

static void output_of_a_pass_is_shown_when_asked_for(void **state)
{
    struct process_result result = {.end = PROCESS_EXITED, .out = OUTPUT("o"), .error_out = OUTPUT("e")};

    assert_report(&(struct check_settings){0}, &result, VERDICT_PASS, "");
    assert_report(&(struct check_settings){.show_output = true}, &result, VERDICT_PASS,
                  "I ========== CAPTURED STDOUT ==========\no\n"
                  "W ========== CAPTURED STDERR ==========\ne\n");
}

static void time_out_is_told(void **state)
{
    struct check_settings settings = {.timeout = 0.2};
    struct process_result result = {.end = PROCESS_TIMED_OUT, .seconds = 0.2};

    settings.hide_fail_output = true;
    assert_report(&settings, &result, VERDICT_FAIL,
                  "W Check timed out after 0.2 s and was ended with all its children\n");
    assert_report(
        &settings, &result, VERDICT_PASS,
        "W Check timed out after 0.2 s and was ended with all its children (by the exit codes given, code 124 is a "
        "pass)\n");
}

static void crash_that_counts_as_a_pass_is_told(void **state)
{
    const char *pattern = "x";
    const int eleven[] = {-11};
    struct check_settings settings = {.fail_patterns = {&pattern, 1}};
    struct process_result result = {.end = PROCESS_SIGNALED, .code = 11};

    assert_report(&settings, &result, VERDICT_PASS,
                  "W Signal 11 ended the check. It counts as a pass, because no --fail-regex was found\n");
    settings.ignored_codes.items = eleven;
    settings.ignored_codes.count = 1;
    assert_report(&settings, &result, VERDICT_PASS, "");
}

static void long_check_without_a_limit_gives_one_hint(void **state)
{
    struct check_settings settings = {0};
    struct process_result result = {.end = PROCESS_EXITED, .seconds = CHECK_LONG_SECONDS + 1};
    struct captured_log log;

    captured_log_init(&log);
    check_report(&settings, &result, VERDICT_PASS, true, &log.log);
    assert_true(captured_log_has(&log, "I The check took more than a minute"));
    assert_true(captured_log_has(&log, "--check-timeout"));
    string_clear(&log.text);
    check_report(&settings, &result, VERDICT_PASS, false, &log.log);
    assert_int_equal(log.text.size, 0);
    captured_log_release(&log);

    settings.timeout = 100;
    assert_report(&settings, &result, VERDICT_PASS, "");
}

static void shell_that_found_no_command_is_told_once(void **state)
{
    struct check_settings settings = {.shell = true, .hide_fail_output = true};
    struct process_result result = {.end = PROCESS_EXITED, .code = 127};
    struct captured_log log;

    captured_log_init(&log);
    check_report(&settings, &result, VERDICT_FAIL, true, &log.log);
    assert_true(captured_log_has(&log, "W The shell ended with code 127: it did not find the command."));
    string_clear(&log.text);
    check_report(&settings, &result, VERDICT_FAIL, false, &log.log);
    assert_int_equal(log.text.size, 0);
    captured_log_release(&log);

    settings.shell = false;
    assert_report(&settings, &result, VERDICT_FAIL, "");
}

static void lost_output_is_told(void **state)
{
    struct process_result result = {.end = PROCESS_EXITED, .out = {.truncated = true}};

    assert_report(&(struct check_settings){0}, &result, VERDICT_PASS,
                  "W The disk of temporary files is full: some of the check's output was lost\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_of_a_failure_is_shown_unless_hidden),
        cmocka_unit_test(output_of_a_pass_is_shown_when_asked_for),
        cmocka_unit_test(time_out_is_told),
        cmocka_unit_test(crash_that_counts_as_a_pass_is_told),
        cmocka_unit_test(long_check_without_a_limit_gives_one_hint),
        cmocka_unit_test(shell_that_found_no_command_is_told_once),
        cmocka_unit_test(lost_output_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
