/* Running children to their end. What a child would wait for takes 1000 seconds, and nobody waits that long. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/process/process.h"
#include "support/in_child.h"
#include "support/scratch_folder.h"
#include "support/unit_test.h"

#define MUCH_LESS_THAN_WAITING 500 /* seconds */

static int run_shell(const char *script, double timeout, struct process_result *ret, struct error *err)
{
    const char *const arguments[] = {"sh", "-c", script, NULL};

    return process_run(&(struct process_request){.arguments = arguments, .timeout = timeout}, ret, err);
}

static struct process_result shell(const char *script)
{
    struct process_result result = {0};
    struct error err = {0};

    if (run_shell(script, 0, &result, &err) != 0)
        fail_msg("%s", err.message);
    return result;
}

static int run_program(const char *program, struct error *err)
{
    const char *const arguments[] = {program, NULL};
    struct process_result result;
    int rc = process_run(&(struct process_request){.arguments = arguments}, &result, err);

    if (rc == 0)
        process_result_release(&result);
    return rc;
}

static void check_output(const struct process_output *output, const char *expected)
{
    assert_int_equal(output->size, strlen(expected));
    assert_memory_equal(output->data, expected, output->size);
    assert_false(output->truncated);
}

/* The number that a child printed, of a process that must not be there any more. */
static void check_gone(const struct process_output *output)
{
    int pid = (int)strtol(output->data, NULL, 10);

    assert_in_range(pid, 2, INT32_MAX);
    assert_int_equal(kill(pid, 0), -1);
    assert_int_equal(errno, ESRCH);
}

static void streams_and_exit_code_are_told_apart(void **state)
{
    struct process_result result = shell("echo out; echo error >&2; exit 7");

    assert_int_equal(result.end, PROCESS_EXITED);
    assert_int_equal(result.code, 7);
    check_output(&result.out, "out\n");
    check_output(&result.error_out, "error\n");
    process_result_release(&result);
    process_result_release(&result); /* harmless */
}

static void silent_child_leaves_empty_output(void **state)
{
    struct process_result result = shell("exec >&- 2>&-; exit 0");

    check_output(&result.out, "");
    check_output(&result.error_out, "");
    assert_non_null(result.out.data);
    process_result_release(&result);
}

static void output_passes_through_byte_for_byte(void **state)
{
    struct process_result result = shell("printf '\\377\\376\\000\\200x'");

    assert_int_equal(result.out.size, 5);
    assert_memory_equal(result.out.data, "\377\376\000\200x", 5);
    process_result_release(&result);
}

static void check_lines(const struct process_output *output, size_t size)
{
    static const char line[] = "0123456789abcde\n";

    assert_int_equal(output->size, size);
    for (size_t i = 0; i < size; i += 16)
        assert_memory_equal(output->data + i, line, 16);
    assert_false(output->truncated);
}

static void much_output_on_both_streams_at_once_is_whole(void **state)
{
    struct process_result result = shell("yes 0123456789abcde | head -c 67108864 | tee /dev/stderr");

    check_lines(&result.out, (size_t)64 << 20);
    check_lines(&result.error_out, (size_t)64 << 20);
    assert_true(result.out.fd >= 0); /* not in memory */
    process_result_release(&result);
}

static void output_around_the_limit_of_memory_is_whole(void **state)
{
    static const int sizes[] = {1048560, 1048576, 1048592, 1114112};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        char script[100];
        snprintf(script, sizeof(script), "yes 0123456789abcde | head -c %d", sizes[i]);
        struct process_result result = shell(script);
        check_lines(&result.out, (size_t)sizes[i]);
        process_result_release(&result);
    }
}

static void of_endless_output_both_ends_are_kept_and_the_middle_is_counted(void **state)
{
    static const char note[] = "\n[... 1048579 bytes left out ...]\n";
    struct process_result result =
        shell("yes 0123456789abcde | head -c 33554432; yes xxxxxxxxxxxxxxx | head -c 1048579; "
              "yes 0123456789abcde | head -c 33554432");
    struct process_output first = {.data = result.out.data, .size = PROCESS_CAPTURE_END};
    struct process_output last = {.data = result.out.data + result.out.tail, .size = PROCESS_CAPTURE_END};

    assert_int_equal(result.out.left_out, 1048579);
    assert_int_equal(result.out.head, PROCESS_CAPTURE_END);
    assert_int_equal(result.out.tail, PROCESS_CAPTURE_END + strlen(note));
    assert_int_equal(result.out.size, 2 * PROCESS_CAPTURE_END + strlen(note));
    check_lines(&first, PROCESS_CAPTURE_END);
    assert_memory_equal(result.out.data + PROCESS_CAPTURE_END, note, strlen(note));
    check_lines(&last, PROCESS_CAPTURE_END);
    assert_false(result.out.truncated);
    process_result_release(&result);
}

static void output_of_just_both_ends_is_whole(void **state)
{
    struct process_result result = shell("yes 0123456789abcde | head -c 67108864");

    check_lines(&result.out, 2 * PROCESS_CAPTURE_END);
    assert_int_equal(result.out.left_out, 0);
    process_result_release(&result);
}

/* A limit on the size of our files stands for a full disk. The child writes to pipes only. */
static int capture_with_file_limit(rlim_t limit, size_t *ret_size)
{
    struct process_result result;
    struct rlimit limits = {limit, limit};
    struct error err;

    signal(SIGXFSZ, SIG_IGN);
    CHECK_OR_FAIL(setrlimit(RLIMIT_FSIZE, &limits) == 0);
    CHECK_OR_FAIL(run_shell("yes 0123456789abcde | head -c 8388608; exit 3", 0, &result, &err) == 0);
    CHECK_OR_FAIL(result.end == PROCESS_EXITED && result.code == 3);
    CHECK_OR_FAIL(result.out.truncated);
    CHECK_OR_FAIL(!result.error_out.truncated);
    for (size_t i = 0; i + 16 <= result.out.size; i += 16)
        CHECK_OR_FAIL(memcmp(result.out.data + i, "0123456789abcde\n", 16) == 0);
    *ret_size = result.out.size;
    process_result_release(&result);
    return 0;
}

static int capture_when_the_disk_becomes_full(void)
{
    size_t size = 0;

    CHECK_OR_FAIL(capture_with_file_limit(3 << 20, &size) == 0);
    CHECK_OR_FAIL(size == 3 << 20);
    return 0;
}

static int capture_when_the_disk_is_full(void)
{
    size_t size = 0;

    CHECK_OR_FAIL(capture_with_file_limit(1000, &size) == 0);
    CHECK_OR_FAIL(size > PROCESS_CAPTURE_MEMORY);
    return 0;
}

static void full_disk_costs_the_rest_of_the_output_not_the_check(void **state)
{
    assert_int_equal(in_child(capture_when_the_disk_becomes_full), 0);
    assert_int_equal(in_child(capture_when_the_disk_is_full), 0);
}

static void killed_child_is_told_by_its_signal(void **state)
{
    struct process_result result = shell("echo before; kill -KILL $$");

    assert_int_equal(result.end, PROCESS_SIGNALED);
    assert_int_equal(result.code, SIGKILL);
    check_output(&result.out, "before\n");
    process_result_release(&result);
}

static void child_has_default_signals(void **state)
{
    sigset_t all, old;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    signal(SIGPIPE, SIG_IGN);
    struct process_result piped = shell("kill -PIPE $$; echo alive"), ended = shell("kill -TERM $$; echo alive");
    signal(SIGPIPE, SIG_DFL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    assert_int_equal(piped.end, PROCESS_SIGNALED);
    assert_int_equal(piped.code, SIGPIPE);
    assert_int_equal(ended.code, SIGTERM);
    process_result_release(&piped);
    process_result_release(&ended);
}

static void environment_is_inherited_with_additions(void **state)
{
    const char *const arguments[] = {"sh", "-c", "echo $KEPT $REPLACED $ADDED $REPLACED_NOT", NULL};
    const char *const environment[] = {"REPLACED=new", "ADDED=more", NULL};
    struct process_result result;

    setenv("KEPT", "kept", 1);
    setenv("REPLACED", "old", 1);
    setenv("REPLACED_NOT", "same", 1);
    assert_int_equal(
        process_run(&(struct process_request){.arguments = arguments, .environment = environment}, &result, NULL), 0);
    check_output(&result.out, "kept new more same\n");
    process_result_release(&result);
}

static void program_may_differ_from_its_first_argument(void **state)
{
    const char *const arguments[] = {"another name", "-c", "echo $0", NULL};
    struct process_result result;

    assert_int_equal(
        process_run(&(struct process_request){.arguments = arguments, .program = "/bin/sh"}, &result, NULL), 0);
    check_output(&result.out, "another name\n");
    process_result_release(&result);
}

static void timeout_ends_the_whole_group(void **state)
{
    struct process_result result;

    assert_int_equal(run_shell("sleep 1000 & sleep 1000", 0.05, &result, NULL), 0);
    assert_int_equal(result.end, PROCESS_TIMED_OUT);
    assert_int_equal(result.code, SIGTERM);
    assert_true(result.seconds >= 0.05);
    assert_true(result.seconds < MUCH_LESS_THAN_WAITING);
    process_result_release(&result);
}

static void child_that_ignores_the_request_to_end_is_killed(void **state)
{
    struct process_result result;

    signal(SIGTERM, SIG_IGN); /* which children inherit */
    assert_int_equal(run_shell("echo $$; sleep 1000; sleep 1000", 0.05, &result, NULL), 0);
    signal(SIGTERM, SIG_DFL);
    assert_int_equal(result.end, PROCESS_TIMED_OUT);
    assert_int_equal(result.code, SIGKILL);
    assert_true(result.seconds > 1.9); /* the grace */
    assert_true(result.seconds < MUCH_LESS_THAN_WAITING);
    process_result_release(&result);
}

static void child_that_overlooks_the_request_to_end_is_asked_again(void **state)
{
    struct process_result result = {0};

    for (double timeout = 0.2; result.out.size == 0; timeout *= 2) { /* until the child was ready to be asked */
        process_result_release(&result);
        assert_int_equal(run_shell("trap 'trap \"echo asked again; exit\" TERM' TERM; echo ready\n"
                                   "while :; do sleep 1000 & wait $!; done",
                                   timeout, &result, NULL),
                         0);
    }
    assert_int_equal(result.end, PROCESS_TIMED_OUT);
    assert_int_equal(result.code, SIGTERM);
    check_output(&result.out, "ready\nasked again\n");
    assert_true(result.seconds < MUCH_LESS_THAN_WAITING);
    process_result_release(&result);
}

static void stopped_child_does_not_escape_the_timeout(void **state)
{
    struct process_result result;

    assert_int_equal(run_shell("kill -STOP $$; sleep 1000", 0.05, &result, NULL), 0);
    assert_int_equal(result.end, PROCESS_TIMED_OUT);
    assert_int_equal(result.code, SIGTERM);
    process_result_release(&result);
}

static void grandchild_that_holds_the_pipe_is_not_waited_for(void **state)
{
    struct process_result result = shell("sleep 1000 & echo $!");

    assert_int_equal(result.end, PROCESS_EXITED);
    assert_true(result.seconds < MUCH_LESS_THAN_WAITING);
    check_gone(&result.out);
    process_result_release(&result);
}

static void grandchild_that_never_stops_writing_is_not_waited_for(void **state)
{
    struct process_result result = shell("yes & exit 5");

    assert_int_equal(result.code, 5);
    assert_true(result.seconds < MUCH_LESS_THAN_WAITING);
    process_result_release(&result);
}

/* The substitution ends when the new session has closed its output: it exists by then. */
static void grandchild_in_a_session_of_its_own_is_gone_afterwards(void **state)
{
    struct process_result result =
        shell("daemon=$(setsid sh -c 'echo $$; exec sleep 1000 >/dev/null 2>&1' &); kill -0 $daemon && echo $daemon");

    check_gone(&result.out);
    process_result_release(&result);
}

static void family_of_such_a_grandchild_is_gone_too(void **state)
{
    struct process_result result = shell(
        "setsid sh -c '(setsid sh -c \"sleep 1000 & echo \\$! >pid; sleep 1000\" &) </dev/null >/dev/null 2>&1 &'\n"
        "while ! [ -s pid ]; do :; done; cat pid");

    check_gone(&result.out);
    process_result_release(&result);
}

static void no_zombies_and_no_descriptors_are_left(void **state)
{
    int before = scratch_count("/proc/self/fd");

    for (int i = 0; i < 20; i++) {
        struct process_result result = shell("true & (true &) ; yes | head -c 2000000");
        process_result_release(&result);
        assert_int_equal(run_program("no-such-program", NULL), ERR_MISSING);
    }
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    assert_int_equal(scratch_count("/proc/self/fd"), before);
}

static void missing_program_is_told_apart(void **state)
{
    struct error err;

    assert_int_equal(run_program("no-such-program", &err), ERR_MISSING);
    assert_non_null(strstr(err.message, "cannot run 'no-such-program': there is no such program on PATH"));
    assert_int_equal(run_program("./no-such-program", &err), ERR_MISSING);
    assert_string_equal(err.message, "cannot run './no-such-program': it does not exist");
    assert_int_equal(run_program("", &err), ERR_INVALID);
    assert_int_equal(run_program(NULL, &err), ERR_INVALID);
}

static void file_that_is_not_executable_is_an_error(void **state)
{
    struct error err;

    scratch_file("plain", "#!/bin/sh\n");
    assert_int_equal(chmod("plain", 0644), 0);
    assert_int_equal(run_program("./plain", &err), ERR_IO);
    assert_non_null(strstr(err.message, "cannot run './plain': it is not executable"));
    assert_int_equal(mkdir("folder", 0777), 0);
    assert_int_equal(run_program("./folder", &err), ERR_IO);
    assert_non_null(strstr(err.message, "it is a folder"));
}

static void file_without_a_valid_format_is_not_given_to_the_shell(void **state)
{
    struct error err;

    scratch_file("no-format", "echo run by a shell\n");
    assert_int_equal(run_program("./no-format", &err), ERR_IO);
    assert_non_null(strstr(err.message, "'./no-format'"));
    assert_non_null(strstr(err.message, "#!"));
    scratch_file("no-interpreter", "#!/no/such/interpreter\n");
    assert_int_equal(run_program("./no-interpreter", &err), ERR_IO);
    assert_non_null(strstr(err.message, "interpreter"));
}

static void path_is_searched_for_executable_files(void **state)
{
    char *old = strdup(getenv("PATH"));
    struct error err;

    assert_int_equal(mkdir("first", 0777), 0);
    assert_int_equal(mkdir("second", 0777), 0);
    assert_int_equal(mkdir("first/tool", 0777), 0); /* a folder is no program */
    scratch_file("second/tool", "#!/bin/sh\n");
    scratch_file("here", "#!/bin/sh\n");
    scratch_file("first/plain", "#!/bin/sh\n");
    assert_int_equal(chmod("first/plain", 0644), 0);
    setenv("PATH", "/no/such/folder:first:second:", 1);
    char *tool = process_find("tool"), *here = process_find("here"), *with_slash = process_find("second/tool");
    char *plain = process_find("plain"), *missing = process_find("missing"), *folder = process_find("first/tool");
    int rc = run_program("plain", &err);
    setenv("PATH", old, 1);
    assert_string_equal(tool, "second/tool");
    assert_string_equal(here, "./here");
    assert_string_equal(with_slash, "second/tool");
    assert_null(plain);
    assert_null(missing);
    assert_null(folder);
    assert_int_equal(rc, ERR_IO);
    assert_non_null(strstr(err.message, "'first/plain'"));
    free(old);
    free(tool);
    free(here);
    free(with_slash);
}

static int be_interrupted(void)
{
    struct process_result result;
    struct error err = {0};

    interrupt_install();
    CHECK_OR_FAIL(run_shell("echo $$ >pid; kill -INT $PPID; sleep 1000", 0, &result, &err) == ERR_INTERRUPTED);
    CHECK_OR_FAIL(interrupt_pending() == SIGINT);
    CHECK_OR_FAIL(strstr(err.message, "'sh'"));
    FILE *file = fopen("pid", "r");
    int pid = 0;
    CHECK_OR_FAIL(file && fscanf(file, "%d", &pid) == 1);
    fclose(file);
    CHECK_OR_FAIL(kill(pid, 0) == -1 && errno == ESRCH);
    /* Nothing is started any more. */
    CHECK_OR_FAIL(run_shell("touch started", 0, &result, &err) == ERR_INTERRUPTED);
    CHECK_OR_FAIL(access("started", F_OK) != 0);
    return 0;
}

static void interruption_ends_the_child(void **state)
{
    assert_int_equal(in_child(be_interrupted), 0);
}

static int be_interrupted_with_work_left(void)
{
    struct process_result result;

    interrupt_install();
    CHECK_OR_FAIL(
        run_shell("(trap 'echo done >cleaned; exit' TERM; kill -INT $PPID; while :; do sleep 1000 & wait $!; done) &"
                  "exec sleep 1000",
                  0, &result, NULL) == ERR_INTERRUPTED);
    return 0;
}

static void rest_of_the_group_may_clean_up_after_its_leader(void **state)
{
    assert_int_equal(in_child(be_interrupted_with_work_left), 0);
    assert_true(scratch_file_is("cleaned", "done\n"));
}

static int be_interrupted_twice(void)
{
    struct process_result result;

    interrupt_install();
    run_shell("trap '' TERM; echo $$ >pid; kill -INT $PPID; kill -HUP $PPID; sleep 1000", 0, &result, NULL);
    return 1; /* not reached */
}

static void second_signal_takes_the_child_along(void **state)
{
    struct process_result result = shell("true"); /* orphans come to us from the first child on */
    int pid = 0, status;

    process_result_release(&result);
    int end = in_child(be_interrupted_twice);
    assert_true(end == -SIGHUP || end == -SIGINT); /* two that wait at once come in any order */
    FILE *file = fopen("pid", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%d", &pid), 1);
    fclose(file);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void *run_some(void *failures)
{
    for (int i = 0; i < 40; i++) {
        char script[100];
        struct process_result result;
        snprintf(script, sizeof(script), "sleep 1000 & setsid sleep 1000 >/dev/null 2>&1 & echo %d; exit %d", i, i);
        if (run_shell(script, 0, &result, NULL) != 0) {
            ++*(int *)failures;
            continue;
        }
        if (result.end != PROCESS_EXITED || result.code != i || strtol(result.out.data, NULL, 10) != i ||
            result.error_out.size != 0)
            ++*(int *)failures;
        process_result_release(&result);
    }
    return NULL;
}

static void children_of_several_threads_do_not_disturb_each_other(void **state)
{
    pthread_t threads[4];
    int failures[4] = {0};

    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_some, &failures[i]), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(failures[i], 0);
    }
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* also those in sessions of their own */
    assert_int_equal(errno, ECHILD);
}

static int run_without_standard_streams(void)
{
    struct process_result result;

    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        close(fd);
    int rc = run_shell("echo out; echo error >&2", 0, &result, NULL);
    if (rc != 0 || result.out.size != 4 || result.error_out.size != 6)
        return 1;
    return memcmp(result.out.data, "out\n", 4) != 0 || memcmp(result.error_out.data, "error\n", 6) != 0;
}

static void output_is_captured_without_standard_streams_of_our_own(void **state)
{
    assert_int_equal(in_child(run_without_standard_streams), 0);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_folder_enter, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_and_exit_code_are_told_apart),
        cmocka_unit_test(silent_child_leaves_empty_output),
        cmocka_unit_test(output_passes_through_byte_for_byte),
        cmocka_unit_test(much_output_on_both_streams_at_once_is_whole),
        cmocka_unit_test(output_around_the_limit_of_memory_is_whole),
        cmocka_unit_test(of_endless_output_both_ends_are_kept_and_the_middle_is_counted),
        cmocka_unit_test(output_of_just_both_ends_is_whole),
        cmocka_unit_test(full_disk_costs_the_rest_of_the_output_not_the_check),
        cmocka_unit_test(killed_child_is_told_by_its_signal),
        cmocka_unit_test(child_has_default_signals),
        cmocka_unit_test(environment_is_inherited_with_additions),
        cmocka_unit_test(program_may_differ_from_its_first_argument),
        cmocka_unit_test(timeout_ends_the_whole_group),
        cmocka_unit_test(child_that_ignores_the_request_to_end_is_killed),
        cmocka_unit_test(child_that_overlooks_the_request_to_end_is_asked_again),
        cmocka_unit_test(stopped_child_does_not_escape_the_timeout),
        cmocka_unit_test(grandchild_that_holds_the_pipe_is_not_waited_for),
        cmocka_unit_test(grandchild_that_never_stops_writing_is_not_waited_for),
        cmocka_unit_test(grandchild_in_a_session_of_its_own_is_gone_afterwards),
        IN_SCRATCH(family_of_such_a_grandchild_is_gone_too),
        cmocka_unit_test(no_zombies_and_no_descriptors_are_left),
        cmocka_unit_test(missing_program_is_told_apart),
        IN_SCRATCH(file_that_is_not_executable_is_an_error),
        IN_SCRATCH(file_without_a_valid_format_is_not_given_to_the_shell),
        IN_SCRATCH(path_is_searched_for_executable_files),
        IN_SCRATCH(interruption_ends_the_child),
        IN_SCRATCH(rest_of_the_group_may_clean_up_after_its_leader),
        IN_SCRATCH(second_signal_takes_the_child_along),
        cmocka_unit_test(children_of_several_threads_do_not_disturb_each_other),
        cmocka_unit_test(output_is_captured_without_standard_streams_of_our_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
