/* After SIGKILL nobody is left to end the children, but the guard. What they hold open tells when they are gone; what
 * they would wait for takes 1000 seconds. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process/guard.h"
#include "base/process/process.h"
#include "support/in_child.h"
#include "support/scratch_folder.h"
#include "support/unit_test.h"

/* Much longer than it takes, much shorter than the children would live: only a test that fails waits that long. */
#define PATIENCE_IN_MILLISECONDS 60000

/* Reads one byte. False at the end, or when there is neither a byte nor an end in all that time. */
static bool read_byte(int fd, char *ret, bool *ret_ended)
{
    struct pollfd event = {.fd = fd, .events = POLLIN};
    ssize_t size = -1;

    if (poll(&event, 1, PATIENCE_IN_MILLISECONDS) == 1)
        size = read(fd, ret, 1);
    *ret_ended = size == 0;
    return size == 1;
}

/* Whether all who hold the other end have closed it, or are gone. */
static bool has_ended(int fd)
{
    bool ended;
    char byte;

    while (read_byte(fd, &byte, &ended)) {
    }
    return ended;
}

static void kill_parent(pid_t parent)
{
    int status;

    assert_int_equal(kill(parent, SIGKILL), 0);
    assert_int_equal(waitpid(parent, &status, 0), parent);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* Ends the parent of a check, a line of the shell, which holds the pipe "alive" open, and has written to it when all of
 * it is there. Nothing of the check is left then. */
static void assert_ends_with_its_parent(const char *line)
{
    bool ended;
    char byte;
    int alive;
    pid_t parent;

    assert_int_equal(mkfifo("alive", 0600), 0);
    alive = open("alive", O_RDONLY | O_NONBLOCK);
    assert_true(alive >= 0);
    parent = fork();
    if (parent == 0) {
        const char *const arguments[] = {"sh", "-c", line, NULL};
        struct process_result result;

        process_guard_start();
        process_run(&(struct process_request){.arguments = arguments}, &result, NULL);
        _exit(1); /* not reached */
    }
    assert_true(read_byte(alive, &byte, &ended));
    kill_parent(parent);
    assert_true(has_ended(alive));
    close(alive);
}

static void check_does_not_outlive_a_parent_that_is_killed(void **state)
{
    assert_ends_with_its_parent("exec 3>alive; sleep 1000 & sleep 1000 & echo >&3; wait");
}

/* The check has left everything behind that it could be known by: its session, its parent, its environment and its
 * standard streams. */
static void what_has_hidden_does_not_outlive_it_either(void **state)
{
    assert_ends_with_its_parent("env -i setsid sh -c 'exec 3>alive 0<&- 1>&- 2>&-; (sleep 1000 & sleep 1000 & "
                                "echo >&3; wait) & exit' & sleep 1000");
}

#ifdef RLIMIT_RTTIME
static int have_a_guard_and_none(void)
{
    struct rlimit before, with_guard, after;

    CHECK_OR_FAIL(getrlimit(RLIMIT_RTTIME, &before) == 0);
    process_guard_start();
    CHECK_OR_FAIL(getrlimit(RLIMIT_RTTIME, &with_guard) == 0);
    process_guard_stop();
    CHECK_OR_FAIL(getrlimit(RLIMIT_RTTIME, &after) == 0);
    CHECK_OR_FAIL(with_guard.rlim_max == before.rlim_max);
    CHECK_OR_FAIL(after.rlim_cur == before.rlim_cur && after.rlim_max == before.rlim_max);
    return 0;
}

static void limits_are_as_before_when_the_guard_has_gone(void **state)
{
    assert_int_equal(in_child(have_a_guard_and_none), 0);
}
#endif

/* A child in a group of its own. It answers each byte from `in` until there are no more; `others` are closed. */
static pid_t start_answering(int in, int out, const int *others, size_t count)
{
    pid_t ret = fork();
    char byte;

    if (ret != 0)
        return ret;
    process_guard_forget(); /* which waits for the parent */
    setpgid(0, 0);
    for (size_t i = 0; i < count; i++)
        close(others[i]);
    while (write(out, "", 1) == 1 && read(in, &byte, 1) == 1) {
    }
    _exit(0);
}

struct pipes {
    int ask[2], answer[2];    /* of the child that is taken out of the guard's list */
    int ask_kept[2], kept[2]; /* of the one that stays in it */
};

static _Noreturn void start_two(const struct pipes *pipes)
{
    const int of_removed[] = {pipes->ask[1], pipes->answer[0], pipes->ask_kept[1], pipes->kept[0], pipes->kept[1]};
    const int of_kept[] = {pipes->ask[1], pipes->answer[0], pipes->ask_kept[1], pipes->kept[0], pipes->answer[1]};
    pid_t removed, kept;

    process_guard_start();
    removed = start_answering(pipes->ask[0], pipes->answer[1], of_removed, 5);
    kept = start_answering(pipes->ask_kept[0], pipes->kept[1], of_kept, 5);
    setpgid(removed, removed); /* whoever is first */
    setpgid(kept, kept);
    process_guard_add(removed);
    process_guard_add(kept);
    process_guard_remove(removed);
    if (write(pipes->answer[1], "", 1) != 1)
        _exit(1);
    for (;;)
        pause();
}

static void group_that_was_taken_out_is_left_alone(void **state)
{
    struct pipes pipes;
    bool ended;
    char byte;
    pid_t parent;

    assert_int_equal(pipe(pipes.ask) | pipe(pipes.answer) | pipe(pipes.ask_kept) | pipe(pipes.kept), 0);
    parent = fork();
    if (parent == 0)
        start_two(&pipes);
    close(pipes.ask[0]);
    close(pipes.answer[1]);
    close(pipes.ask_kept[0]);
    close(pipes.kept[1]);
    for (int i = 0; i < 2; i++) /* from the child and from its parent, in any order */
        assert_true(read_byte(pipes.answer[0], &byte, &ended));
    kill_parent(parent);
    assert_true(has_ended(pipes.kept[0]));
    assert_int_equal(write(pipes.ask[1], "", 1), 1);
    assert_true(read_byte(pipes.answer[0], &byte, &ended));
    close(pipes.ask[1]);
    assert_true(has_ended(pipes.answer[0]));
    close(pipes.answer[0]);
    close(pipes.ask_kept[1]);
    close(pipes.kept[0]);
}

static int run_true(void)
{
    const char *const arguments[] = {"true", NULL};
    struct process_result result;

    CHECK_OR_FAIL(process_run(&(struct process_request){.arguments = arguments}, &result, NULL) == 0);
    process_result_release(&result);
    return 0;
}

/* After each child its orphans are ended. The guard is none of them, whenever it was started. */
static int run_with_two_guards(void)
{
    for (int i = 0; i < 2; i++) {
        process_guard_start();
        CHECK_OR_FAIL(process_guard_process() > 0);
        CHECK_OR_FAIL(run_true() == 0);
        CHECK_OR_FAIL(kill(process_guard_process(), 0) == 0);
        CHECK_OR_FAIL(run_true() == 0);
        process_guard_stop();
        CHECK_OR_FAIL(process_guard_process() == 0);
        CHECK_OR_FAIL(waitpid(-1, NULL, WNOHANG) == -1); /* nobody is left */
    }
    return 0;
}

static void guard_is_not_taken_for_an_orphan_of_a_check(void **state)
{
    assert_int_equal(in_child(run_with_two_guards), 0);
}

static void without_a_guard_there_is_nobody_to_tell(void **state)
{
    process_guard_add(getpid());
    process_guard_remove(getpid());
    process_guard_forget();
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_folder_enter, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_guard_there_is_nobody_to_tell),
        cmocka_unit_test(guard_is_not_taken_for_an_orphan_of_a_check),
        IN_SCRATCH(check_does_not_outlive_a_parent_that_is_killed),
#ifdef __linux__
        IN_SCRATCH(what_has_hidden_does_not_outlive_it_either),
#endif
#ifdef RLIMIT_RTTIME
        cmocka_unit_test(limits_are_as_before_when_the_guard_has_gone),
#endif
        cmocka_unit_test(group_that_was_taken_out_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
