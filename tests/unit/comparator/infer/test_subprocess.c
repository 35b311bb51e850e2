/* test_subprocess.c: runners in processes of their own. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/fake_backend.h"
#include "support/results_fixture.h"
#include "support/scratch_folder.h"

static char *outer_folder; /* of temporary files, or NULL */

static int enter_folder(void **state)
{
    const char *folder = getenv("TMPDIR");
    int rc = scratch_folder_enter(state);

    outer_folder = folder ? strdup(folder) : NULL;
    setenv("TMPDIR", ".", 1);
    return rc;
}

static int leave_all(void **state)
{
    if (outer_folder)
        setenv("TMPDIR", outer_folder, 1);
    else
        unsetenv("TMPDIR");
    free(outer_folder);
    return scratch_folder_leave(state);
}

static int leave_folder(void **state)
{
    assert_int_equal(scratch_count("."), 0); /* no temporary file is left */
    return leave_all(state);
}

static int run_apart(struct fake_model *model, bool keep, struct run_results *ret, struct error *err)
{
    struct data_loader_settings data = {.seed = 1, .iterations = 2};
    struct driver_settings settings = fake_settings(model);
    struct data_loader *loader;
    bool passed;
    int rc;

    settings.sequential = true;
    settings.use_subprocess = true;
    settings.keep_outputs = keep;
    assert_int_equal(data_loader_new(&data, NULL, &loader, NULL), 0);
    rc = driver_run(&settings, loader, ret, &passed, err);
    data_loader_free(loader);
    return rc;
}

static void results_come_back(void **state)
{
    struct fake_model model = {0};
    struct run_results results = {0};
    struct error error;

    assert_int_equal(run_apart(&model, true, &results, &error), 0);
    assert_int_equal(model.runs, 0); /* that was another process */
    assert_int_equal(results.count, 1);
    assert_int_equal(results.items[0].count, 2);
    const struct tensor *y = &results.items[0].items[0].outputs.items[0].tensor;
    assert_true(*(const float *)y->data == 0.417022f + 1);
    run_results_release(&results);
}

static void results_that_nobody_needs_come_back_without_outputs(void **state)
{
    struct fake_model model = {0};
    struct run_results results = {0};

    assert_int_equal(run_apart(&model, false, &results, NULL), 0);
    assert_int_equal(results.items[0].count, 2);
    assert_int_equal(results.items[0].items[0].outputs.count, 0);
    run_results_release(&results);
}

static void errors_come_back(void **state)
{
    struct fake_model model = {.fails_at_run = 1};
    struct run_results results = {0};
    struct error error;

    assert_int_equal(run_apart(&model, true, &results, &error), ERR_BACKEND);
    assert_string_equal(error.message, "the fake model fails");
    assert_int_equal(results.count, 0);
}

static void crash(void)
{
    raise(SIGKILL);
}

static void end_early(void)
{
    _exit(7);
}

static void a_death_is_an_error_that_names_the_signal(void **state)
{
    struct fake_model model = {.at_run = crash};
    struct run_results results = {0};
    struct error error;

    assert_int_equal(run_apart(&model, true, &results, &error), ERR_BACKEND);
    assert_message_contains(&error, "the process of fake-runner-N0 was ended by signal 9 (Killed)");
    model.at_run = end_early;
    assert_int_equal(run_apart(&model, true, &results, &error), ERR_BACKEND);
    assert_message_contains(&error, "the process of fake-runner-N0 ended with exit code 7 before it had a result");
    assert_int_equal(results.count, 0);
}

#ifdef __linux__
static void hold_pipe_for_long(void)
{
    int alive = open("alive", O_WRONLY);

    if (write(alive, "", 1) == 1)
        sleep(1000);
}

static void a_runner_does_not_outlive_a_parent_that_is_killed(void **state)
{
    struct fake_model model = {.at_run = hold_pipe_for_long};
    struct run_results results = {0};
    int alive, status;
    pid_t parent;
    char byte;

    assert_int_equal(mkfifo("alive", 0600), 0);
    parent = fork();
    if (parent == 0) {
        run_apart(&model, true, &results, NULL);
        _exit(1); /* not reached */
    }
    alive = open("alive", O_RDONLY); /* when the runner has opened it */
    assert_int_equal(read(alive, &byte, 1), 1);
    assert_int_equal(kill(parent, SIGKILL), 0);
    assert_int_equal(waitpid(parent, &status, 0), parent);
    assert_int_equal(poll(&(struct pollfd){.fd = alive, .events = POLLIN}, 1, 60000), 1);
    assert_int_equal(read(alive, &byte, 1), 0); /* nobody holds it any more */
    close(alive);
}
#endif

#define IN_FOLDER(function) cmocka_unit_test_setup_teardown(function, enter_folder, leave_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(results_come_back),
        IN_FOLDER(results_that_nobody_needs_come_back_without_outputs),
        IN_FOLDER(errors_come_back),
        IN_FOLDER(a_death_is_an_error_that_names_the_signal),
#ifdef __linux__
        /* Nobody is left who would remove the temporary file. */
        cmocka_unit_test_setup_teardown(a_runner_does_not_outlive_a_parent_that_is_killed, enter_folder, leave_all),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
