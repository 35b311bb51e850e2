/* test_command_frame.c: the lines around a command, and its exit status. */
#include "support/unit_test.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "cli/frame.h"
#include "support/captured_log.h"
#include "support/in_child.h"

static const char *const words[] = {"polygraphy", "debug", "repeat", "--check", "a b", NULL};

static struct captured_log captured;

static int end_with(int rc, bool shown)
{
    struct error err = {0};
    struct command_frame frame;

    if (rc < 0)
        error_set(&err, (enum error_code)rc, "no such file");
    command_frame_begin(&frame, &captured.log, words, shown);
    frame.start -= 0.25;
    log_indent(&captured.log, 1);
    return command_frame_end(&frame, rc, &err);
}

/* The runtime's last digits depend on the machine. */
static void assert_closing_line(char level, const char *what)
{
    char level_letter = 0, verdict[7] = "";
    double seconds = 0;
    int length = 0;
    const char *last = captured.text.data;

    for (const char *line = last; line && *line; line = strchr(line, '\n') + 1)
        last = line;
    sscanf(last, "%c %6s | Runtime: %lfs | Command: polygraphy debug repeat --check a b\n%n", &level_letter, verdict,
           &seconds, &length);
    assert_int_equal(level_letter, level);
    assert_string_equal(verdict, what);
    assert_true(seconds >= 0.25 && seconds < 60);
    assert_int_equal(last[length], '\0');
    assert_int_equal(length,
                     snprintf(NULL, 0, "%c %s | Runtime: %.3fs | Command: polygraphy debug repeat --check a b\n", level,
                              what, seconds));
}

static void success_is_framed_by_running_and_passed(void **state)
{
    assert_int_equal(end_with(0, true), 0);
    assert_true(captured_log_has(&captured, "S RUNNING | Command: polygraphy debug repeat --check a b\n"));
    assert_closing_line('F', "PASSED");
}

static void status_other_than_0_is_a_failure(void **state)
{
    assert_int_equal(end_with(1, true), 1);
    assert_closing_line('E', "FAILED");
}

static void error_is_one_critical_line_at_the_margin_and_status_1(void **state)
{
    assert_int_equal(end_with(ERR_MISSING, true), 1);
    assert_true(captured_log_has(&captured, "\n! no such file\n"));
    assert_closing_line('E', "FAILED");
}

static void inside_of_a_check_the_kind_of_an_error_is_its_status(void **state)
{
    static const struct {
        enum error_code code;
        int status;
    } ends[] = {{ERR_BACKEND, 3}, {ERR_MEMORY, 3},    {ERR_INVALID, 125},     {ERR_MISSING, 125},
                {ERR_IO, 125},    {ERR_CORRUPT, 125}, {ERR_UNSUPPORTED, 125}, {ERR_EXISTS, 125}};

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        setenv("POLYGRAPHY_ITERATION", "0", 1);
        assert_int_equal(end_with(ends[i].code, true), ends[i].status);
        unsetenv("POLYGRAPHY_ITERATION");
        setenv("POLYGRAPHY_ARTIFACT", "polygraphy_debug.onnx", 1);
        assert_int_equal(end_with(ends[i].code, true), ends[i].status);
        assert_int_equal(end_with(1, true), 1);
        unsetenv("POLYGRAPHY_ARTIFACT");
        assert_int_equal(end_with(ends[i].code, true), 1);
    }
}

static void unframed_command_still_shows_its_error(void **state)
{
    assert_int_equal(end_with(ERR_MISSING, false), 1);
    assert_string_equal(captured.text.data, "! no such file\n");
}

static int interrupt_and_end(void)
{
    interrupt_install();
    raise(SIGINT);
    CHECK_OR_FAIL(interrupt_pending() == SIGINT);
    end_with(ERR_INTERRUPTED, true);
    CHECK_OR_FAIL(captured_log_has(&captured, "\nW Interrupted: Interrupt\n"));
    CHECK_OR_FAIL(!captured_log_has(&captured, "FAILED"));
    CHECK_OR_FAIL(!captured_log_has(&captured, "no such file"));
    return 0;
}

static void interruption_is_a_warning_without_closing_line(void **state)
{
    assert_int_equal(in_child(interrupt_and_end), 0);
}

static int new_log(void **state)
{
    unsetenv("POLYGRAPHY_ITERATION"); /* these tests may be a check themselves */
    unsetenv("POLYGRAPHY_ARTIFACT");
    captured_log_init(&captured);
    return 0;
}

static int release_log(void **state)
{
    captured_log_release(&captured);
    return 0;
}

#define TEST_FRAME(function) cmocka_unit_test_setup_teardown(function, new_log, release_log)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_FRAME(success_is_framed_by_running_and_passed),
        TEST_FRAME(status_other_than_0_is_a_failure),
        TEST_FRAME(error_is_one_critical_line_at_the_margin_and_status_1),
        TEST_FRAME(inside_of_a_check_the_kind_of_an_error_is_its_status),
        TEST_FRAME(unframed_command_still_shows_its_error),
        TEST_FRAME(interruption_is_a_warning_without_closing_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
