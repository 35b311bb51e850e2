/* test_check.c: the check command from its words to its verdict. */
#include "support/unit_test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "debug/check/check.h"
#include "support/captured_log.h"
#include "support/scratch_folder.h"

#define WORDS(...) .command = {(const char *const[]){__VA_ARGS__, NULL}, COUNT(__VA_ARGS__)}
#define COUNT(...) (sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))
#define PATTERNS(...) .rules.fail_patterns = {(const char *const[]){__VA_ARGS__}, COUNT(__VA_ARGS__)}

static int run_once(struct check *check, const struct check_run *run, enum verdict *ret, struct error *err)
{
    struct process_result result;
    int rc;

    if (check_is_interactive(check))
        return check_ask(check, NULL, ret, err);
    check_announce(check, run);
    rc = check_execute(check, run, &result, err);
    if (rc < 0)
        return rc;
    rc = judge_run(check_judge(check), &result, ret, err);
    process_result_release(&result);
    return rc;
}

/* Runs the check once. What is logged is in `log` (may be NULL). */
static int run(const struct check_settings *settings, struct captured_log *log, enum verdict *ret, struct error *err)
{
    struct check *check;
    int rc = check_new(settings, log ? &log->log : NULL, &check, err);

    if (rc < 0)
        return rc;
    rc = run_once(check, &(struct check_run){.iteration = 7, .timeout = settings->rules.timeout}, ret, err);
    check_free(check);
    return rc;
}

static enum verdict verdict_of(const struct check_settings *settings)
{
    enum verdict verdict = VERDICT_FAIL;
    struct error err;

    if (run(settings, NULL, &verdict, &err) < 0)
        fail_msg("%s", err.message);
    return verdict;
}

static void assert_refused(const struct check_settings *settings, int code, const char *message)
{
    struct check *check = NULL;
    struct error err;

    assert_int_equal(check_new(settings, NULL, &check, &err), code);
    assert_null(check);
    assert_string_equal(err.message, message);
}

static void exit_code_decides(void **state)
{
    const int three[] = {3};

    assert_int_equal(verdict_of(&(struct check_settings){WORDS("true")}), VERDICT_PASS);
    assert_int_equal(verdict_of(&(struct check_settings){WORDS("false")}), VERDICT_FAIL);
    assert_int_equal(verdict_of(&(struct check_settings){WORDS("false"), .rules.fail_codes = {three, 1}}),
                     VERDICT_PASS);
}

static void signal_counts_as_negative_exit_code(void **state)
{
    const int eleven[] = {-11}, shells[] = {139};
    struct check_settings settings = {WORDS("sh", "-c", "kill -SEGV $$"), .rules.fail_codes = {eleven, 1}};

    assert_int_equal(verdict_of(&settings), VERDICT_FAIL);
    settings.rules.fail_codes.items = shells;
    assert_int_equal(verdict_of(&settings), VERDICT_PASS);
}

static void pattern_is_looked_for_in_both_streams(void **state)
{
    assert_int_equal(verdict_of(&(struct check_settings){WORDS("sh", "-c", "echo BAD"), PATTERNS("B.D")}),
                     VERDICT_FAIL);
    assert_int_equal(verdict_of(&(struct check_settings){WORDS("sh", "-c", "echo BAD >&2"), PATTERNS("^BAD$")}),
                     VERDICT_FAIL);
    assert_int_equal(verdict_of(&(struct check_settings){WORDS("sh", "-c", "echo GOOD; exit 1"), PATTERNS("BAD")}),
                     VERDICT_PASS);
}

static void match_does_not_span_both_streams(void **state)
{
    assert_int_equal(
        verdict_of(&(struct check_settings){WORDS("sh", "-c", "printf BA; printf D >&2"), PATTERNS("BAD")}),
        VERDICT_PASS);
}

static void any_of_several_patterns_will_do(void **state)
{
    assert_int_equal(verdict_of(&(struct check_settings){WORDS("echo", "second"), PATTERNS("first", "second")}),
                     VERDICT_FAIL);
}

static void check_that_runs_out_of_time_fails_whatever_the_patterns(void **state)
{
    struct check_settings settings = {WORDS("sleep", "60"), .rules.timeout = 0.05, PATTERNS("never there")};
    const int timeout[] = {124};

    assert_int_equal(verdict_of(&settings), VERDICT_FAIL);
    settings.rules.ignored_codes.items = timeout;
    settings.rules.ignored_codes.count = 1;
    assert_int_equal(verdict_of(&settings), VERDICT_PASS);
}

static void command_and_output_are_logged(void **state)
{
    struct captured_log log;
    enum verdict verdict;
    struct error err;

    captured_log_init(&log);
    assert_int_equal(
        run(&(struct check_settings){WORDS("sh", "-c", "echo out; echo error >&2; exit 1")}, &log, &verdict, &err), 0);
    assert_string_equal(log.text.data, "I Running check command: sh -c echo out; echo error >&2; exit 1\n"
                                       "I ========== CAPTURED STDOUT ==========\nout\n\n"
                                       "E ========== CAPTURED STDERR ==========\nerror\n\n");
    captured_log_release(&log);
}

static void shell_form_is_one_command_line(void **state)
{
    struct captured_log log;
    enum verdict verdict;
    struct error err;

    captured_log_init(&log);
    assert_int_equal(run(&(struct check_settings){WORDS("exit 3 | exit 0"), .shell = true}, &log, &verdict, &err), 0);
    assert_int_equal(verdict, VERDICT_PASS);
    assert_string_equal(log.text.data, "I Running check command: exit 3 | exit 0\n");
    captured_log_release(&log);
}

static void shell_that_finds_no_command_is_told(void **state)
{
    struct captured_log log;
    enum verdict verdict;
    struct error err;

    captured_log_init(&log);
    assert_int_equal(run(&(struct check_settings){WORDS("no-such-program x"), .shell = true}, &log, &verdict, &err), 0);
    assert_int_equal(verdict, VERDICT_FAIL);
    assert_true(captured_log_has(&log, "W The shell exited with code 127"));
    captured_log_release(&log);
}

static void environment_says_what_is_checked(void **state)
{
    struct check_settings settings = {
        WORDS("sh", "-c", "test \"$POLYGRAPHY_ITERATION$POLYGRAPHY_ARTIFACT\" = 7x.onnx && test -n \"$PATH\"")};
    const struct check_run about = {.iteration = 7, .files.items[CANDIDATE_ARTIFACT] = "x.onnx"};
    enum verdict verdict;
    struct check *check;
    struct error err;

    assert_int_equal(check_new(&settings, NULL, &check, &err), 0);
    assert_int_equal(run_once(check, &about, &verdict, &err), 0);
    assert_int_equal(verdict, VERDICT_PASS);
    check_free(check);
}

static void command_that_cannot_run_is_refused(void **state)
{
    scratch_file("plain.txt", "text");
    scratch_file("script.sh", "#!/bin/sh\n");
    assert_int_equal(chmod("plain.txt", 0644), 0);
    assert_int_equal(mkdir("folder", 0755), 0);

    assert_refused(&(struct check_settings){WORDS("./missing")}, ERR_MISSING,
                   "--check: program './missing' does not exist");
    assert_refused(&(struct check_settings){WORDS("no-such-program", "x")}, ERR_MISSING,
                   "--check: program 'no-such-program' was not found on the PATH");
    assert_refused(&(struct check_settings){WORDS("script.sh")}, ERR_MISSING,
                   "--check: program 'script.sh' was not found on the PATH; to run the file in the current folder, put "
                   "./ before its name");
    assert_refused(&(struct check_settings){WORDS("./folder")}, ERR_INVALID,
                   "--check: './folder' is a folder, not a program");
    assert_refused(&(struct check_settings){WORDS("./plain.txt")}, ERR_IO,
                   "--check: './plain.txt' is not executable; run `chmod +x` on it");
}

static void empty_command_is_refused(void **state)
{
    const char *message = "--check needs a command; without --check, you are asked for each verdict";
    const char *const none[] = {NULL};

    assert_refused(&(struct check_settings){.command.items = none}, ERR_INVALID, message);
    assert_refused(&(struct check_settings){WORDS("")}, ERR_INVALID, message);
    assert_refused(&(struct check_settings){WORDS(" \t"), .shell = true}, ERR_INVALID, message);
}

static void invalid_pattern_is_refused(void **state)
{
    assert_refused(&(struct check_settings){WORDS("true"), PATTERNS("[a")}, ERR_INVALID,
                   "--fail-regex '[a': missing terminating ] for character class (at position 2)");
}

static void own_program_stands_in_for_a_missing_polygraphy(void **state)
{
    char *path = memory_strdup(getenv("PATH"));

    assert_int_equal(mkdir("own", 0755), 0);
    scratch_file("own/polygraphy", "#!/bin/sh\nexit $1\n");
    scratch_file("calls.sh", "#!/bin/sh\npolygraphy 0\n");
    setenv("PATH", "/usr/bin:/bin", 1);
    assert_int_equal(verdict_of(&(struct check_settings){WORDS("polygraphy", "0"), .self = "own/polygraphy"}),
                     VERDICT_PASS);
    assert_int_equal(verdict_of(&(struct check_settings){WORDS("polygraphy", "1"), .self = "own/polygraphy"}),
                     VERDICT_FAIL);
    assert_int_equal(
        verdict_of(&(struct check_settings){WORDS("polygraphy 0"), .shell = true, .self = "own/polygraphy"}),
        VERDICT_PASS);
    assert_int_equal(verdict_of(&(struct check_settings){WORDS("./calls.sh"), .self = "own/polygraphy"}), VERDICT_PASS);
    assert_refused(&(struct check_settings){WORDS("polygraphy", "0")}, ERR_MISSING,
                   "--check: program 'polygraphy' was not found on the PATH");

    assert_int_equal(mkdir("installed", 0755), 0);
    scratch_file("installed/polygraphy", "#!/bin/sh\nexit 7\n");
    setenv("PATH", "installed:/usr/bin:/bin", 1);
    assert_int_equal(verdict_of(&(struct check_settings){WORDS("polygraphy", "0"), .self = "own/polygraphy"}),
                     VERDICT_FAIL);
    setenv("PATH", path, 1);
    free(path);
}

static struct hash hash_of(const struct check_settings *settings)
{
    struct check *check;
    struct error err;

    if (check_new(settings, NULL, &check, &err) < 0)
        fail_msg("%s", err.message);
    struct hash hash = check_hash(check);
    check_free(check);
    return hash;
}

static void hash_tells_commands_and_rules_apart(void **state)
{
    const int one[] = {1};
    const struct check_settings settings[] = {
        {WORDS("true")},
        {WORDS("true", "x")},
        {WORDS("true", "x", "")},
        {WORDS("true", "x ")},
        {WORDS("true"), .shell = true},
        {WORDS("true"), .rules.fail_codes = {one, 1}},
        {WORDS("true"), .rules.ignored_codes = {one, 1}},
        {WORDS("true"), PATTERNS("1")},
        {.shell = false},
    };

    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        for (size_t j = 0; j < ARRAY_LEN(settings); j++)
            assert_int_equal(hash_equal(hash_of(&settings[i]), hash_of(&settings[j])), i == j);
    }
}

static void hash_does_not_depend_on_what_is_shown_or_how_long_it_may_take(void **state)
{
    struct check_settings plain = {WORDS("true")};
    struct check_settings other = {WORDS("true"), .display.show_output = true, .rules.timeout = 5,
                                   .self = "/somewhere/polygraphy"};

    assert_true(hash_equal(hash_of(&plain), hash_of(&other)));
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_folder_enter, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exit_code_decides),
        IN_SCRATCH(signal_counts_as_negative_exit_code),
        cmocka_unit_test(pattern_is_looked_for_in_both_streams),
        cmocka_unit_test(match_does_not_span_both_streams),
        cmocka_unit_test(any_of_several_patterns_will_do),
        cmocka_unit_test(check_that_runs_out_of_time_fails_whatever_the_patterns),
        cmocka_unit_test(command_and_output_are_logged),
        cmocka_unit_test(shell_form_is_one_command_line),
        cmocka_unit_test(shell_that_finds_no_command_is_told),
        cmocka_unit_test(environment_says_what_is_checked),
        IN_SCRATCH(command_that_cannot_run_is_refused),
        cmocka_unit_test(empty_command_is_refused),
        cmocka_unit_test(invalid_pattern_is_refused),
        IN_SCRATCH(own_program_stands_in_for_a_missing_polygraphy),
        cmocka_unit_test(hash_tells_commands_and_rules_apart),
        cmocka_unit_test(hash_does_not_depend_on_what_is_shown_or_how_long_it_may_take),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
