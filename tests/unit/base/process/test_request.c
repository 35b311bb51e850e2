/* What a request can ask for beside a time limit: an end on demand, and no input. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process/process.h"
#include "support/in_child.h"
#include "support/scratch_folder.h"
#include "support/unit_test.h"

static int run_shell(const char *script, const int *stop, bool without_input, struct process_result *ret,
                     struct error *err)
{
    const char *const arguments[] = {"sh", "-c", script, NULL};

    return process_run(&(struct process_request){.arguments = arguments, .stop = stop, .without_input = without_input},
                       ret, err);
}

static int open_fifo(const char *path)
{
    int ret;

    assert_int_equal(mkfifo(path, 0600), 0);
    ret = open(path, O_RDWR | O_NONBLOCK);
    assert_true(ret >= 0);
    return ret;
}

static void child_is_ended_as_soon_as_the_descriptor_is_readable(void **state)
{
    struct process_result result;
    struct error err;
    int stop = open_fifo("stop"), pid = 0;
    FILE *file;

    assert_int_equal(run_shell("echo $$ >pid; sleep 1000 & echo >stop; sleep 1000", &stop, false, &result, &err),
                     ERR_INTERRUPTED);
    assert_string_equal(err.message, "'sh' was interrupted");
    file = fopen("pid", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%d", &pid), 1);
    fclose(file);
    assert_int_equal(kill(-pid, 0), -1); /* nobody of its group is left */
    assert_int_equal(errno, ESRCH);
    close(stop);
}

static void child_may_clean_up_when_it_is_ended_like_that(void **state)
{
    struct process_result result;
    int stop = open_fifo("stop");

    assert_int_equal(
        run_shell("trap 'echo done >cleaned; exit' TERM; echo >stop; while :; do sleep 1000 & wait $!; done", &stop,
                  false, &result, NULL),
        ERR_INTERRUPTED);
    assert_true(scratch_file_is("cleaned", "done\n"));
    close(stop);
}

static void descriptor_that_stays_silent_changes_nothing(void **state)
{
    struct process_result result;
    int stop = open_fifo("stop");

    assert_int_equal(run_shell("exit 3", &stop, false, &result, NULL), 0);
    assert_int_equal(result.end, PROCESS_EXITED);
    assert_int_equal(result.code, 3);
    process_result_release(&result);
    close(stop);
}

static int read_with(bool without_input, const char *expected)
{
    struct process_result result;
    int ends[2];

    CHECK_OR_FAIL(pipe(ends) == 0);
    CHECK_OR_FAIL(write(ends[1], "hello\n", 6) == 6);
    close(ends[1]);
    CHECK_OR_FAIL(dup2(ends[0], STDIN_FILENO) == STDIN_FILENO);
    CHECK_OR_FAIL(run_shell("cat; echo end", NULL, without_input, &result, NULL) == 0);
    CHECK_OR_FAIL(result.out.size == strlen(expected) && memcmp(result.out.data, expected, result.out.size) == 0);
    process_result_release(&result);
    return 0;
}

static int read_input(void)
{
    return read_with(false, "hello\nend\n");
}

static int read_no_input(void)
{
    return read_with(true, "end\n");
}

static void input_is_that_of_this_process_unless_there_is_to_be_none(void **state)
{
    assert_int_equal(in_child(read_input), 0);
    assert_int_equal(in_child(read_no_input), 0);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_folder_enter, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(child_is_ended_as_soon_as_the_descriptor_is_readable),
        IN_SCRATCH(child_may_clean_up_when_it_is_ended_like_that),
        IN_SCRATCH(descriptor_that_stays_silent_changes_nothing),
        cmocka_unit_test(input_is_that_of_this_process_unless_there_is_to_be_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
