/* Processes that stay: who gets which, and what is told of their end. */
#include "support/unit_test.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "base/process/guard.h"
#include "base/process/staying.h"
#include "base/text/string_builder.h"

/* Answers each request by itself and the number of the process; "noise" writes elsewhere, "die" ends it, "kill" by a
 * signal, "hang" gives no answer. */
#define ECHO                                                                                                           \
    "exec 3>@A; echo hello $$ >&3; while read -r word; do case $word in die) exit 7;; kill) kill -9 $$;; "             \
    "hang) sleep 300;; noise) echo noise; echo more >&2;; esac; echo $word $$ $X >&3; done <@R"

/* @R and @A stand for the pipes. */
static char *make_line(const char *line, const char *requests, const char *answers)
{
    struct string_builder ret;

    string_init(&ret);
    for (; *line != '\0'; line++)
        if (line[0] == '@')
            string_add(&ret, *++line == 'R' ? requests : answers);
        else
            string_add_char(&ret, *line);
    return string_take(&ret);
}

static struct staying_host *start(void)
{
    struct staying_host *host = NULL;

    process_guard_start();
    assert_int_equal(staying_host_start(make_line, &host, NULL), 0);
    assert_non_null(host);
    return host;
}

static void stop(struct staying_host *host)
{
    staying_host_stop(host);
    process_guard_stop();
}

static struct staying_process *open_process(const char *line, pid_t *ret_number, bool *ret_is_new)
{
    struct staying_process *process = NULL;
    struct staying_answer answer;

    assert_int_equal(staying_open(line, 0, &process, &answer, NULL), 0);
    assert_int_equal(answer.end, STAYING_ANSWERED);
    assert_memory_equal(answer.line, "hello ", strlen("hello "));
    *ret_number = answer.result.process;
    if (ret_is_new != NULL)
        *ret_is_new = answer.is_new;
    staying_answer_release(&answer);
    return process;
}

/* The end of a request; the answer begins with `expected` where there is one. */
static struct process_result ask(struct staying_process *process, const char *request, double timeout,
                                 enum staying_end end, const char *expected)
{
    struct staying_answer answer;
    struct process_result ret;

    assert_int_equal(staying_ask(process, request, timeout, &answer, NULL), 0);
    assert_int_equal(answer.end, end);
    assert_memory_equal(answer.line, expected, strlen(expected));
    ret = answer.result;
    answer.result = (struct process_result){.out.fd = -1, .error_out.fd = -1};
    staying_answer_release(&answer);
    return ret;
}

static void a_process_is_left_to_the_next(void **state)
{
    struct staying_host *host = start();
    struct staying_process *first, *second;
    struct process_result result;
    pid_t number, other;
    bool is_new;

    (void)state;
    first = open_process(ECHO, &number, &is_new);
    assert_true(is_new);
    result = ask(first, "noise", 0, STAYING_ANSWERED, "noise ");
    assert_int_equal(result.out.size, strlen("noise\nmore\n"));
    process_result_release(&result);
    second = open_process(ECHO, &other, &is_new); /* while the first one is in use */
    assert_true(is_new);
    assert_int_not_equal(other, number);
    staying_close(second, true);
    staying_close(first, true);

    first = open_process(ECHO, &number, &is_new);
    assert_false(is_new);
    result = ask(first, "again", 0, STAYING_ANSWERED, "again ");
    assert_int_equal(result.out.size, 0);
    process_result_release(&result);
    staying_close(first, false); /* killed: another one comes */
    first = open_process(ECHO, &other, &is_new);
    assert_int_not_equal(other, number);
    staying_close(first, true);
    stop(host);
    assert_true(kill(number, 0) < 0 && errno == ESRCH);
    assert_true(kill(other, 0) < 0 && errno == ESRCH);
}

/* With other variables the answers may be others. */
static void other_variables_take_another_process(void **state)
{
    struct staying_host *host = start();
    struct staying_process *process;
    struct process_result result;
    pid_t number, other;

    (void)state;
    process = open_process(ECHO, &number, NULL);
    staying_close(process, true);
    setenv("X", "set", 1);
    process = open_process(ECHO, &other, NULL);
    assert_int_not_equal(other, number);
    result = ask(process, "set", 0, STAYING_ANSWERED, "set ");
    process_result_release(&result);
    staying_close(process, true);
    unsetenv("X");
    process = open_process(ECHO, &other, NULL);
    assert_int_equal(other, number);
    staying_close(process, true);
    stop(host);
}

static void the_end_of_a_process_is_told(void **state)
{
    struct staying_host *host = start();
    struct staying_process *process;
    struct process_result result;
    pid_t number;

    (void)state;
    process = open_process(ECHO, &number, NULL);
    result = ask(process, "die", 0, STAYING_ENDED, "");
    assert_int_equal(result.end, PROCESS_EXITED);
    assert_int_equal(result.code, 7);
    process_result_release(&result);
    result = ask(process, "late", 0, STAYING_WAS_ENDED, "");
    assert_int_equal(result.code, 7);
    process_result_release(&result);
    staying_close(process, true);

    process = open_process(ECHO, &number, NULL);
    result = ask(process, "kill", 0, STAYING_ENDED, "");
    assert_int_equal(result.end, PROCESS_SIGNALED);
    assert_int_equal(result.code, SIGKILL);
    process_result_release(&result);
    staying_close(process, true);

    process = open_process(ECHO, &number, NULL);
    result = ask(process, "hang", 0.2, STAYING_ENDED, "");
    assert_int_equal(result.end, PROCESS_TIMED_OUT);
    process_result_release(&result);
    staying_close(process, true);
    stop(host);
}

/* The line of a process without a greeting. */
static void a_start_that_fails_is_told(void **state)
{
    struct staying_host *host = start();
    struct staying_process *process = NULL;
    struct staying_answer answer;

    (void)state;
    assert_int_equal(staying_open("echo no; exit 3", 0, &process, &answer, NULL), 0);
    assert_null(process);
    assert_int_equal(answer.end, STAYING_ENDED);
    assert_int_equal(answer.result.code, 3);
    assert_int_equal(answer.result.out.size, strlen("no\n"));
    staying_answer_release(&answer);
    stop(host);
}

static void a_host_serves_descendants_too(void **state)
{
    struct staying_host *host = start(), *second;

    (void)state;
    assert_int_equal(staying_host_start(make_line, &second, NULL), 0);
    assert_null(second); /* this process has one */
    stop(host);
    assert_null(getenv(STAYING_HOST_VARIABLE));
}

/* Whatever ends the host, its folder is removed. */
static void a_host_that_was_killed_leaves_no_files(void **state)
{
    struct staying_host *host = start();
    char *folder SCOPED_FREE = file_folder(getenv(STAYING_HOST_VARIABLE));
    struct staying_process *process = NULL, *none = NULL;
    struct staying_answer answer;
    struct error err;

    (void)state;
    assert_int_equal(staying_open("echo $PPID >@A; read -r word <@R", 0, &process, &answer, NULL), 0);
    kill((pid_t)strtol(answer.line, NULL, 10), SIGKILL);
    staying_answer_release(&answer);
    assert_int_equal(staying_ask(process, "request", 0, &answer, &err), ERR_IO);
    staying_close(process, false);
    assert_int_equal(staying_open(ECHO, 0, &none, &answer, &err), ERR_IO);
    assert_true(file_exists(folder));
    stop(host);
    assert_false(file_exists(folder));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_is_left_to_the_next), cmocka_unit_test(other_variables_take_another_process),
        cmocka_unit_test(the_end_of_a_process_is_told),  cmocka_unit_test(a_start_that_fails_is_told),
        cmocka_unit_test(a_host_serves_descendants_too), cmocka_unit_test(a_host_that_was_killed_leaves_no_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
