/* test_log_sink.c: the form of log lines, and where they go. */
#include "support/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "cli/terminal/log_sink.h"
#include "support/in_child.h"
#include "support/scratch_folder.h"

/* ---- Layout ---- */

static void assert_layout(enum log_level level, int depth, const char *time_of_day, const char *message,
                          const char *expected)
{
    struct string_builder text;

    string_init(&text);
    log_layout(level, depth, time_of_day, text_of(message), &text);
    assert_string_equal(text.data, expected);
    string_release(&text);
}

static void every_level_has_its_letter(void **state)
{
    assert_layout(LOG_ULTRA_VERBOSE, 0, "", "m", "[U] m\n");
    assert_layout(LOG_SUPER_VERBOSE, 0, "", "m", "[S] m\n");
    assert_layout(LOG_EXTRA_VERBOSE, 0, "", "m", "[X] m\n");
    assert_layout(LOG_VERBOSE, 0, "", "m", "[V] m\n");
    assert_layout(LOG_INFO, 0, "", "m", "[I] m\n");
    assert_layout(LOG_START, 0, "", "m", "[I] m\n");
    assert_layout(LOG_FINISH, 0, "", "m", "[I] m\n");
    assert_layout(LOG_WARNING, 0, "", "m", "[W] m\n");
    assert_layout(LOG_ERROR, 0, "", "m", "[E] m\n");
    assert_layout(LOG_CRITICAL, 0, "", "m", "[!] m\n");
}

static void nesting_indents_behind_the_letter(void **state)
{
    assert_layout(LOG_INFO, 1, "", "RUNNING | Iteration 1", "[I]     RUNNING | Iteration 1\n");
    assert_layout(LOG_INFO, 2, "", "m", "[I]         m\n");
}

static void further_lines_begin_where_the_first_one_does(void **state)
{
    assert_layout(LOG_INFO, 1, "", "========== CAPTURED STDOUT ==========\nREALLY BAD!",
                  "[I]     ========== CAPTURED STDOUT ==========\n"
                  "        REALLY BAD!\n");
    assert_layout(LOG_INFO, 2, "", "input metadata:\n{X0,\n Y0}",
                  "[I]         input metadata:\n"
                  "            {X0,\n"
                  "             Y0}\n");
    assert_layout(LOG_INFO, 0, "(12:34:56) ", "a\nb", "[I] (12:34:56) a\n               b\n");
}

static void line_break_at_the_end_adds_no_line_and_an_empty_line_is_indented(void **state)
{
    assert_layout(LOG_ERROR, 0, "", "a\n", "[E] a\n");
    assert_layout(LOG_INFO, 0, "", "Minimum Bad Model:\n\nb\n\n",
                  "[I] Minimum Bad Model:\n"
                  "    \n"
                  "    b\n"
                  "    \n");
    assert_layout(LOG_INFO, 0, "", "", "[I] \n");
}

/* ---- Where lines go: in children whose standard streams are files ---- */

static void redirect(int stream, const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    dup2(fd, stream);
    close(fd);
}

static int log_to_files(void)
{
    struct log_settings settings = {.threshold = LOG_WARNING, .file = "new/folder/log.txt"};
    struct log_sink sink;
    struct error err;

    redirect(STDOUT_FILENO, "out");
    redirect(STDERR_FILENO, "error");
    log_sink_init(&sink);
    CHECK_OR_FAIL(log_sink_configure(&sink, &settings, &err) == 0);
    log_message(&sink.log, LOG_INFO, "hidden");
    log_message(&sink.log, LOG_WARNING, "warning");
    log_message(&sink.log, LOG_CRITICAL, "critical");
    log_sink_release(&sink);
    return 0;
}

static void critical_lines_go_to_standard_error_and_every_shown_line_to_the_file(void **state)
{
    assert_int_equal(in_child(log_to_files), 0);
    assert_true(scratch_file_is("out", "[W] warning\n"));
    assert_true(scratch_file_is("error", "[!] critical\n"));
    assert_true(scratch_file_is("new/folder/log.txt", "[W] warning\n[!] critical\n"));
}

static int log_with_time(void)
{
    struct log_settings settings = {.threshold = LOG_INFO, .timestamps = true};
    struct log_sink sink;
    struct error err;

    redirect(STDOUT_FILENO, "out");
    log_sink_init(&sink);
    log_sink_configure(&sink, &settings, &err);
    log_message(&sink.log, LOG_INFO, "m");
    log_sink_release(&sink);
    return 0;
}

static void timestamps_are_the_time_of_day(void **state)
{
    char *text;
    size_t size;
    int hours, minutes, seconds, length = 0;

    assert_int_equal(in_child(log_with_time), 0);
    assert_int_equal(file_read("out", 100, &text, &size, NULL), 0);
    assert_int_equal(sscanf(text, "[I] (%2d:%2d:%2d) m%n", &hours, &minutes, &seconds, &length), 3);
    assert_int_equal(length, sizeof("[I] (HH:MM:SS) m") - 1);
    free(text);
}

static void log_file_that_cannot_be_written_is_an_error(void **state)
{
    struct log_settings settings = {.threshold = LOG_INFO, .file = "."};
    struct log_sink sink;
    struct error err;

    log_sink_init(&sink);
    assert_int_equal(log_sink_configure(&sink, &settings, &err), ERR_IO);
    assert_non_null(strstr(err.message, "--log-file: cannot write '.'"));
    log_sink_release(&sink);
}

static int log_to_full_disk(void)
{
    struct log_sink sink;
    int fd = open("/dev/full", O_WRONLY);

    CHECK_OR_FAIL(fd >= 0);
    dup2(fd, STDOUT_FILENO);
    log_sink_init(&sink);
    log_message(&sink.log, LOG_INFO, "m");
    CHECK_OR_FAIL(sink.write_errno == ENOSPC);
    log_sink_release(&sink);
    return 0;
}

static void full_disk_is_remembered(void **state)
{
    if (access("/dev/full", W_OK) != 0)
        skip();
    assert_int_equal(in_child(log_to_full_disk), 0);
}

static void do_nothing(int signal_number)
{
}

static int log_to_nobody(void)
{
    struct log_sink sink;
    int ends[2];

    signal(SIGPIPE, do_nothing);
    CHECK_OR_FAIL(pipe(ends) == 0);
    close(ends[0]);
    dup2(ends[1], STDOUT_FILENO);
    scratch_file("temporary", "");
    interrupt_remove_at_exit("temporary");
    log_sink_init(&sink);
    log_message(&sink.log, LOG_INFO, "m");
    return 0;
}

static void without_a_reader_the_process_ends_and_takes_its_temporary_files_along(void **state)
{
    assert_int_equal(in_child(log_to_nobody), -SIGPIPE);
    assert_false(file_exists("temporary"));
}

/* ---- Colours ---- */

/* Makes a terminal standard output and returns its other side. */
static int open_terminal(void)
{
    int other_side = posix_openpt(O_RDWR | O_NOCTTY);
    int terminal;

    if (other_side < 0 || grantpt(other_side) < 0 || unlockpt(other_side) < 0)
        return -1;
    terminal = open(ptsname(other_side), O_RDWR | O_NOCTTY);
    if (terminal < 0)
        return -1;
    dup2(terminal, STDOUT_FILENO);
    return other_side;
}

static const char *no_color;
static bool no_colors_option;

static int log_to_terminal(void)
{
    struct log_settings settings = {.threshold = LOG_INFO, .no_colors = no_colors_option};
    bool expected = !no_color && !no_colors_option;
    char text[100] = "";
    struct log_sink sink;
    struct error err;
    int other_side = open_terminal();

    CHECK_OR_FAIL(other_side >= 0);
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    if (no_color)
        setenv("NO_COLOR", no_color, 1);
    log_sink_init(&sink);
    log_sink_configure(&sink, &settings, &err);
    log_message(&sink.log, LOG_WARNING, "m");
    CHECK_OR_FAIL(read(other_side, text, sizeof(text) - 1) > 0);
    CHECK_OR_FAIL(strcmp(text, expected ? "\033[33m[W] m\033[0m\r\n" : "[W] m\r\n") == 0);
    log_sink_release(&sink);
    return 0;
}

static void terminal_gets_colours_unless_they_are_unwanted(void **state)
{
    no_color = NULL;
    no_colors_option = false;
    assert_int_equal(in_child(log_to_terminal), 0);
    no_color = "1";
    assert_int_equal(in_child(log_to_terminal), 0);
    no_color = NULL;
    no_colors_option = true;
    assert_int_equal(in_child(log_to_terminal), 0);
}

#define TEST_IN_FOLDER(function) cmocka_unit_test_setup_teardown(function, scratch_folder_enter, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_level_has_its_letter),
        cmocka_unit_test(nesting_indents_behind_the_letter),
        cmocka_unit_test(further_lines_begin_where_the_first_one_does),
        cmocka_unit_test(line_break_at_the_end_adds_no_line_and_an_empty_line_is_indented),
        TEST_IN_FOLDER(critical_lines_go_to_standard_error_and_every_shown_line_to_the_file),
        TEST_IN_FOLDER(timestamps_are_the_time_of_day),
        TEST_IN_FOLDER(log_file_that_cannot_be_written_is_an_error),
        cmocka_unit_test(full_disk_is_remembered),
        TEST_IN_FOLDER(without_a_reader_the_process_ends_and_takes_its_temporary_files_along),
        cmocka_unit_test(terminal_gets_colours_unless_they_are_unwanted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
