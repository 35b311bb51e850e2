/* Children of a copy of this program: what they get, and what becomes of them. */
#include "support/unit_test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/process/fork_server.h"
#include "base/process/process.h"

static int prepared; /* in the server, and so in its children */

static void prepare(void *data)
{
    prepared = *(const int *)data;
}

/* In place of this program's main function. */
static int child_main(int argc, char **argv)
{
    const char *added = getenv("ADDED");

    if (argc > 1 && strcmp(argv[1], "crash") == 0)
        raise(SIGKILL); /* the test library handles the others */
    if (argc > 1 && strcmp(argv[1], "hang") == 0)
        pause();
    printf("%s %d %s", argv[argc - 1], prepared, added != NULL ? added : "nothing");
    fprintf(stderr, "leader: %s", getpgrp() == getpid() ? "yes" : "no");
    return argc;
}

static struct fork_server *start(void)
{
    static int value = 7;
    struct fork_server *server = fork_server_start(child_main, prepare, &value);

    if (server == NULL)
        skip(); /* another system, or a build with sanitizers */
    return server;
}

static struct process_result run(struct fork_server *server, const char *const *words, double timeout)
{
    const char *const variables[] = {"ADDED=something", NULL};
    const char *const cold[] = {"false", NULL};
    struct process_request request = {
        .arguments = cold, .server = server, .server_arguments = words, .environment = variables, .timeout = timeout};
    struct process_result result;

    assert_int_equal(process_run(&request, &result, NULL), 0);
    return result;
}

static void child_is_as_if_it_had_been_executed(void **state)
{
    struct fork_server *server = start();

    (void)state;
    for (int i = 0; i < 20; i++) {
        const char *const words[] = {"program", "word", "last one", NULL};
        struct process_result result = run(server, words, 0);

        assert_int_equal(result.end, PROCESS_EXITED);
        assert_int_equal(result.code, 3);
        assert_int_equal(result.out.size, strlen("last one 7 something"));
        assert_memory_equal(result.out.data, "last one 7 something", result.out.size);
        assert_int_equal(result.error_out.size, strlen("leader: yes"));
        assert_memory_equal(result.error_out.data, "leader: yes", result.error_out.size);
        process_result_release(&result);
    }
    fork_server_stop(server);
}

static void crash_of_one_child_harms_no_other(void **state)
{
    const char *const crash[] = {"program", "crash", NULL};
    const char *const words[] = {"program", NULL};
    struct fork_server *server = start();
    struct process_result result = run(server, crash, 0);

    (void)state;
    assert_int_equal(result.end, PROCESS_SIGNALED);
    assert_int_equal(result.code, SIGKILL);
    process_result_release(&result);
    result = run(server, words, 0);
    assert_int_equal(result.end, PROCESS_EXITED);
    assert_int_equal(result.code, 1);
    process_result_release(&result);
    fork_server_stop(server);
}

static void child_that_hangs_is_ended_when_its_time_is_up(void **state)
{
    const char *const hang[] = {"program", "hang", NULL};
    struct fork_server *server = start();
    struct process_result result = run(server, hang, 0.2);

    (void)state;
    assert_int_equal(result.end, PROCESS_TIMED_OUT);
    process_result_release(&result);
    fork_server_stop(server);
}

static void what_cannot_be_sent_is_started_the_usual_way(void **state)
{
    const char *const words[] = {"program", "", NULL}; /* an empty word ends the list of words */
    struct fork_server *server = start();
    struct process_result result = run(server, words, 0);

    (void)state;
    assert_int_equal(result.end, PROCESS_EXITED);
    assert_int_equal(result.code, 1); /* of `false` */
    assert_int_equal(result.out.size, 0);
    process_result_release(&result);
    fork_server_stop(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(child_is_as_if_it_had_been_executed),
        cmocka_unit_test(crash_of_one_child_harms_no_other),
        cmocka_unit_test(child_that_hangs_is_ended_when_its_time_is_up),
        cmocka_unit_test(what_cannot_be_sent_is_started_the_usual_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
