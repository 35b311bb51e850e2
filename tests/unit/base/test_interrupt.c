/* Signals, and what must not survive. Each test runs in a process of its own, since a signal once seen stays seen. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/interrupt.h"
#include "support/in_child.h"
#include "support/scratch_folder.h"
#include "support/unit_test.h"

static bool is_readable(int fd)
{
    struct pollfd event = {.fd = fd, .events = POLLIN};

    return poll(&event, 1, 0) == 1;
}

static int see_first_signal(void)
{
    interrupt_install();
    CHECK_OR_FAIL(interrupt_pending() == 0);
    CHECK_OR_FAIL(!is_readable(interrupt_descriptor()));
    raise(SIGTERM);
    CHECK_OR_FAIL(interrupt_pending() == SIGTERM);
    CHECK_OR_FAIL(is_readable(interrupt_descriptor()));
    CHECK_OR_FAIL(is_readable(interrupt_descriptor())); /* still */
    return 0;
}

static void first_signal_only_sets_the_flag(void **state)
{
    assert_int_equal(in_child(see_first_signal), 0);
}

/* Opening a pipe that nobody writes to waits for ever. */
static int wait_without_looking(void)
{
    interrupt_install();
    scratch_file("temporary", "");
    interrupt_remove_at_exit("temporary");
    CHECK_OR_FAIL(mkfifo("pipe", 0600) == 0);
    raise(SIGTERM);
    open("pipe", O_RDONLY);
    return 1; /* not reached */
}

static void work_that_never_looks_at_the_flag_ends_all_the_same(void **state)
{
    assert_int_equal(in_child(wait_without_looking), -SIGTERM);
    assert_false(file_exists("temporary"));
}

static int get_an_alarm(void)
{
    interrupt_install();
    scratch_file("temporary", "");
    interrupt_remove_at_exit("temporary");
    raise(SIGALRM);
    return 1; /* not reached */
}

static int ignore_an_alarm(void)
{
    signal(SIGALRM, SIG_IGN);
    interrupt_install();
    raise(SIGALRM);
    return interrupt_pending();
}

static void alarm_that_somebody_else_has_set_ends_the_program(void **state)
{
    assert_int_equal(in_child(get_an_alarm), -SIGALRM);
    assert_false(file_exists("temporary"));
    assert_int_equal(in_child(ignore_an_alarm), 0);
}

static int leave_files_behind(void)
{
    interrupt_install();
    scratch_file("temporary", "");
    scratch_file("finished", "");
    interrupt_remove_at_exit("temporary");
    interrupt_remove_at_exit("finished");
    interrupt_keep("finished");
    return 0;
}

static int get_two_signals(void)
{
    leave_files_behind();
    raise(SIGHUP);
    CHECK_OR_FAIL(file_exists("temporary"));
    raise(SIGINT);
    return 1; /* not reached */
}

static void second_signal_removes_registered_files_and_kills(void **state)
{
    assert_int_equal(in_child(get_two_signals), -SIGINT);
    assert_false(file_exists("temporary"));
    assert_true(file_exists("finished"));
}

static int say_last_words(void)
{
    int fd = open("words", O_WRONLY | O_CREAT | O_TRUNC, 0600);

    interrupt_install();
    interrupt_set_last_words(fd, "these are replaced");
    interrupt_set_last_words(fd, "farewell");
    raise(SIGHUP);
    CHECK_OR_FAIL(scratch_file_is("words", ""));
    raise(SIGINT);
    return 1; /* not reached */
}

static int take_last_words_back(void)
{
    int fd = open("words", O_WRONLY | O_CREAT | O_TRUNC, 0600);

    interrupt_install();
    interrupt_set_last_words(fd, "farewell");
    interrupt_set_last_words(-1, NULL);
    raise(SIGHUP);
    raise(SIGINT);
    return 1; /* not reached */
}

static void second_signal_says_the_last_words_unless_they_are_taken_back(void **state)
{
    assert_int_equal(in_child(say_last_words), -SIGINT);
    assert_true(scratch_file_is("words", "farewell"));
    assert_int_equal(in_child(take_last_words_back), -SIGINT);
    assert_true(scratch_file_is("words", ""));
}

static int get_one_signal_twice(void)
{
    interrupt_install();
    raise(SIGTERM);
    raise(SIGTERM);
    return interrupt_pending() == SIGTERM ? 0 : 1;
}

static void signal_that_is_sent_twice_at_once_counts_as_one(void **state)
{
    assert_int_equal(in_child(get_one_signal_twice), 0);
}

static int die_of_the_first_signal(void)
{
    leave_files_behind();
    interrupt_die(); /* nothing came yet: does nothing */
    raise(SIGINT);
    interrupt_die();
    return 1; /* not reached */
}

static void death_looks_like_that_of_any_interrupted_program(void **state)
{
    assert_int_equal(in_child(die_of_the_first_signal), -SIGINT);
    assert_false(file_exists("temporary"));
    assert_true(file_exists("finished"));
}

static int exit_normally(void)
{
    leave_files_behind();
    exit(7);
}

static void exit_removes_registered_files(void **state)
{
    assert_int_equal(in_child(exit_normally), 7);
    assert_false(file_exists("temporary"));
    assert_true(file_exists("finished"));
}

static int ignore_hangups(void)
{
    signal(SIGHUP, SIG_IGN);
    interrupt_install();
    raise(SIGHUP);
    CHECK_OR_FAIL(interrupt_pending() == 0);
    return 0;
}

static void ignored_signal_stays_ignored(void **state)
{
    assert_int_equal(in_child(ignore_hangups), 0);
}

static int exit_at_once(void)
{
    exit(0);
}

static void forked_child_does_not_remove_files_of_its_parent(void **state)
{
    scratch_file("of_parent", "");
    interrupt_remove_at_exit("of_parent");
    assert_int_equal(in_child(exit_at_once), 0);
    assert_true(file_exists("of_parent"));
    interrupt_remove_registered();
    assert_false(file_exists("of_parent"));
}

static void name_that_is_free_again_can_be_registered_again(void **state)
{
    for (int i = 0; i < 100; i++) {
        interrupt_remove_at_exit("a");
        interrupt_remove_at_exit("b");
        interrupt_keep("a");
        interrupt_keep("b");
        interrupt_keep("b"); /* no longer there: nothing happens */
    }
    scratch_file("a", "");
    interrupt_remove_registered();
    assert_true(file_exists("a"));
}

static void *register_and_keep(void *name)
{
    for (int i = 0; i < 1000; i++) {
        interrupt_remove_at_exit(name);
        interrupt_keep(name);
    }
    return NULL;
}

static void threads_may_register_at_once(void **state)
{
    static char names[][2] = {"a", "b", "c", "d"};
    pthread_t threads[4];

    for (int i = 0; i < 4; i++) {
        scratch_file(names[i], "");
        assert_int_equal(pthread_create(&threads[i], NULL, register_and_keep, names[i]), 0);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    interrupt_remove_registered();
    assert_int_equal(scratch_count("."), 4);
}

static pid_t doomed, spared;

/* A child that leads a group of its own and waits until it is killed. */
static pid_t start_group(void)
{
    pid_t child = fork();

    if (child == 0) {
        alarm(60);
        for (;;)
            pause();
    }
    setpgid(child, child);
    return child;
}

static int exit_with_one_group_of_two(void)
{
    interrupt_kill_at_exit(doomed);
    interrupt_kill_at_exit(spared);
    interrupt_spare(spared);
    exit(0);
}

static void registered_groups_are_killed_at_exit(void **state)
{
    int status;

    doomed = start_group();
    spared = start_group();
    assert_int_equal(in_child(exit_with_one_group_of_two), 0);
    assert_int_equal(waitpid(doomed, &status, 0), doomed);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(waitpid(spared, &status, WNOHANG), 0);
    kill(spared, SIGKILL);
    assert_int_equal(waitpid(spared, &status, 0), spared);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_folder_enter, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(first_signal_only_sets_the_flag),
        IN_SCRATCH(work_that_never_looks_at_the_flag_ends_all_the_same),
        IN_SCRATCH(alarm_that_somebody_else_has_set_ends_the_program),
        IN_SCRATCH(second_signal_removes_registered_files_and_kills),
        IN_SCRATCH(second_signal_says_the_last_words_unless_they_are_taken_back),
        IN_SCRATCH(signal_that_is_sent_twice_at_once_counts_as_one),
        IN_SCRATCH(death_looks_like_that_of_any_interrupted_program),
        IN_SCRATCH(exit_removes_registered_files),
        IN_SCRATCH(ignored_signal_stays_ignored),
        IN_SCRATCH(forked_child_does_not_remove_files_of_its_parent),
        IN_SCRATCH(name_that_is_free_again_can_be_registered_again),
        IN_SCRATCH(threads_may_register_at_once),
        IN_SCRATCH(registered_groups_are_killed_at_exit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
