/* Children that read the terminal. Each test has a terminal of its own, whose other end types and reads. */
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/process/process.h"
#include "support/in_child.h"
#include "support/unit_test.h"

#define CTRL_C "\003"
#define CTRL_Z "\032"

static int keyboard; /* the terminal's other end */

/* Runs `function` in a process whose terminal is `keyboard`'s. */
static pid_t start_in_terminal(int (*function)(void))
{
    pid_t child = forkpty(&keyboard, NULL, NULL, NULL);

    if (child == 0)
        _exit(function());
    if (child < 0)
        abort();
    return child;
}

static void type(const char *keys)
{
    assert_int_equal(write(keyboard, keys, strlen(keys)), strlen(keys));
}

/* Reads the screen until `text` appears. */
static void wait_for(const char *text)
{
    char screen[4096] = "";
    size_t size = 0;

    while (!strstr(screen, text)) {
        ssize_t got = read(keyboard, screen + size, sizeof(screen) - 1 - size);
        if (got <= 0)
            fail_msg("'%s' did not appear, but: %s", text, screen);
        size += (size_t)got;
        screen[size] = '\0';
    }
}

static void check_ends_well(pid_t child)
{
    char screen[4096] = "";
    size_t size = 0;
    ssize_t got;
    int status;

    /* To the end: what it complains about is there, too. */
    while (size < sizeof(screen) - 1 && (got = read(keyboard, screen + size, sizeof(screen) - 1 - size)) > 0)
        size += (size_t)got;
    screen[size] = '\0';
    close(keyboard);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status != 0)
        fail_msg("status %d: %s", status, screen);
}

static int run_shell(const char *script, struct process_result *ret, struct error *err)
{
    const char *const arguments[] = {"sh", "-c", script, NULL};

    return process_run(&(struct process_request){.arguments = arguments}, ret, err);
}

static int run_reader(void)
{
    struct process_result result;

    CHECK_OR_FAIL(run_shell("read line; echo got $line", &result, NULL) == 0);
    CHECK_OR_FAIL(result.end == PROCESS_EXITED);
    CHECK_OR_FAIL(result.out.size == 10 && memcmp(result.out.data, "got hello\n", 10) == 0);
    CHECK_OR_FAIL(tcgetpgrp(STDIN_FILENO) == getpgrp());
    /* And a second time, from the terminal by name. */
    CHECK_OR_FAIL(run_shell("read line </dev/tty; echo got $line", &result, NULL) == 0);
    CHECK_OR_FAIL(result.out.size == 10 && memcmp(result.out.data, "got again\n", 10) == 0);
    return 0;
}

static void child_that_reads_the_terminal_gets_it_and_we_get_it_back(void **state)
{
    pid_t child = start_in_terminal(run_reader);

    type("hello\nagain\n");
    check_ends_well(child);
}

static int run_settings_changer(void)
{
    struct process_result result;
    struct termios settings;

    CHECK_OR_FAIL(run_shell("stty -echo; echo done", &result, NULL) == 0);
    CHECK_OR_FAIL(result.end == PROCESS_EXITED && result.out.size == 5);
    CHECK_OR_FAIL(tcgetattr(STDIN_FILENO, &settings) == 0);
    CHECK_OR_FAIL(settings.c_lflag & ECHO);
    CHECK_OR_FAIL(tcgetpgrp(STDIN_FILENO) == getpgrp());
    return 0;
}

static void terminal_has_its_old_settings_afterwards(void **state)
{
    check_ends_well(start_in_terminal(run_settings_changer));
}

static int be_interrupted_while_the_child_reads(void)
{
    struct process_result result;

    interrupt_install();
    CHECK_OR_FAIL(run_shell("read first; echo ready >/dev/tty; read second", &result, NULL) == ERR_INTERRUPTED);
    CHECK_OR_FAIL(interrupt_pending() == SIGINT);
    CHECK_OR_FAIL(tcgetpgrp(STDIN_FILENO) == getpgrp());
    return 0;
}

static void interrupt_that_only_a_reading_child_got_is_ours_too(void **state)
{
    pid_t child = start_in_terminal(be_interrupted_while_the_child_reads);

    type("first\n");
    wait_for("ready");
    type(CTRL_C);
    check_ends_well(child);
}

static int be_interrupted_while_the_child_ignores_it(void)
{
    struct process_result result;

    interrupt_install();
    CHECK_OR_FAIL(run_shell("trap '' INT; echo ready >/dev/tty; sleep 1000", &result, NULL) == ERR_INTERRUPTED);
    CHECK_OR_FAIL(interrupt_pending() == SIGINT);
    return 0;
}

static void interrupt_reaches_us_when_the_child_does_not_read(void **state)
{
    pid_t child = start_in_terminal(be_interrupted_while_the_child_ignores_it);

    wait_for("ready");
    type(CTRL_C);
    check_ends_well(child);
}

/* What a shell does. Starts `function` as a job of its own, which has the terminal or has not. */
static pid_t start_job(int (*function)(void), int foreground)
{
    pid_t job = fork();

    signal(SIGTTOU, job == 0 ? SIG_DFL : SIG_IGN);
    if (job == 0) {
        setpgid(0, 0);
        while (foreground && tcgetpgrp(STDIN_FILENO) != getpgrp()) {
        }
        _exit(function());
    }
    setpgid(job, job);
    if (foreground)
        tcsetpgrp(STDIN_FILENO, job);
    return job;
}

static int run_background_job(void)
{
    int status;
    pid_t job = start_job(run_reader, 0);

    CHECK_OR_FAIL(waitpid(job, &status, WUNTRACED) == job);
    CHECK_OR_FAIL(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTTIN);
    CHECK_OR_FAIL(tcgetpgrp(STDIN_FILENO) == getpgrp());
    tcsetpgrp(STDIN_FILENO, job); /* as "fg" does */
    kill(-job, SIGCONT);
    CHECK_OR_FAIL(waitpid(job, &status, WUNTRACED) == job);
    CHECK_OR_FAIL(status == 0);
    return 0;
}

static void background_job_stops_until_it_has_the_terminal(void **state)
{
    pid_t child = start_in_terminal(run_background_job);

    type("hello\nagain\n");
    check_ends_well(child);
}

static int read_twice(void)
{
    struct process_result result;

    CHECK_OR_FAIL(run_shell("read first; echo ready >/dev/tty; read second; echo $first $second", &result, NULL) == 0);
    CHECK_OR_FAIL(result.end == PROCESS_EXITED);
    CHECK_OR_FAIL(result.out.size == 4 && memcmp(result.out.data, "1 2\n", 4) == 0);
    return 0;
}

static int run_job_that_is_stopped(void)
{
    int status;
    pid_t job = start_job(read_twice, 1);

    CHECK_OR_FAIL(waitpid(job, &status, WUNTRACED) == job);
    CHECK_OR_FAIL(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTSTP);
    CHECK_OR_FAIL(tcgetpgrp(STDIN_FILENO) == job);
    tcsetpgrp(STDIN_FILENO, getpgrp());
    printf("stopped\n");
    fflush(stdout);
    tcsetpgrp(STDIN_FILENO, job);
    kill(-job, SIGCONT);
    CHECK_OR_FAIL(waitpid(job, &status, WUNTRACED) == job);
    CHECK_OR_FAIL(status == 0);
    return 0;
}

static void stop_that_only_a_reading_child_got_is_ours_too(void **state)
{
    pid_t child = start_in_terminal(run_job_that_is_stopped);

    type("1\n");
    wait_for("ready");
    type(CTRL_Z);
    wait_for("stopped");
    type("2\n");
    check_ends_well(child);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(child_that_reads_the_terminal_gets_it_and_we_get_it_back),
        cmocka_unit_test(terminal_has_its_old_settings_afterwards),
        cmocka_unit_test(interrupt_that_only_a_reading_child_got_is_ours_too),
        cmocka_unit_test(interrupt_reaches_us_when_the_child_does_not_read),
        cmocka_unit_test(background_job_stops_until_it_has_the_terminal),
        cmocka_unit_test(stop_that_only_a_reading_child_got_is_ours_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
