/* Locks of sessions: who has them, and what becomes of them when a process ends, forks, or is killed. */
#include "support/unit_test.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file/file.h"
#include "debug/record/session_lock.h"
#include "support/captured_log.h"
#include "support/scratch_folder.h"

static int take(struct session_lock *lock, const char *path, struct error *err)
{
    return session_lock_take(lock, path, "writes", "--option", NULL, err);
}

static void must_take(struct session_lock *lock, const char *path)
{
    struct error err = {0};

    if (take(lock, path, &err) < 0)
        fail_msg("%s", err.message);
    assert_true(lock->fd >= 0);
}

/* What another process gets: 0, or ERR_EXISTS with a message that says `whose` it is. */
static bool others_are_refused(const char *path, const char *whose)
{
    pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        struct session_lock lock;
        struct error err = {0};
        int rc = take(&lock, path, &err);

        session_lock_release(&lock);
        _exit(rc == 0 ? 0 : rc == ERR_EXISTS && strstr(err.message, whose) != NULL ? 1 : 2);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
    return WEXITSTATUS(status) == 1;
}

static void lock_is_on_the_file_however_its_path_is_spelled(void **state)
{
    struct session_lock lock;
    char whose[64];

    (void)state;
    assert_int_equal(mkdir("folder", 0777), 0);
    assert_int_equal(symlink("folder/file", "link"), 0);
    assert_int_equal(symlink("folder", "other"), 0);
    must_take(&lock, "folder/file");
    snprintf(whose, sizeof(whose), "process %ld (", (long)getpid());
    assert_true(others_are_refused("folder/file", whose));
    assert_true(others_are_refused("folder/../folder//file", whose));
    assert_true(others_are_refused("other/file", whose));
    assert_true(others_are_refused("link", "already writes 'link': "));
    assert_false(others_are_refused("file", whose));
    assert_false(others_are_refused("folder/file2", whose));
    session_lock_release(&lock);
    assert_false(others_are_refused("link", whose));
    assert_int_equal(scratch_count("folder"), 0);
    assert_int_equal(scratch_count("."), 3);
}

/* As the program's guard and its fork server do. */
static void forked_child_does_not_hold_it(void **state)
{
    struct session_lock lock;
    int ready[2];
    pid_t holder, child;
    int status;

    (void)state;
    assert_int_equal(pipe(ready), 0);
    holder = fork();
    assert_true(holder >= 0);
    if (holder == 0) {
        must_take(&lock, "file");
        child = fork();
        if (child == 0) {
            for (;;)
                pause();
        }
        if (write(ready[1], &child, sizeof(child)) != sizeof(child))
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ready[0], &child, sizeof(child)), sizeof(child));
    assert_true(others_are_refused("file", ""));
    assert_int_equal(kill(holder, SIGKILL), 0);
    assert_int_equal(waitpid(holder, &status, 0), holder);
    assert_true(file_exists(".file.lock"));
    assert_int_equal(kill(child, 0), 0);
    assert_false(others_are_refused("file", ""));
    assert_false(file_exists(".file.lock"));
    kill(child, SIGKILL);
    close(ready[0]);
    close(ready[1]);
}

/* A check may remove what it does not know, and another session begin then. */
static void file_in_place_of_a_lock_stays(void **state)
{
    struct session_lock lock;

    (void)state;
    must_take(&lock, "file");
    assert_int_equal(unlink(".file.lock"), 0);
    scratch_file(".file.lock", "");
    session_lock_release(&lock);
    assert_true(file_exists(".file.lock"));
}

/* However often the file is removed and made again, no two processes have the lock at once. */
static int take_turns(void)
{
    for (int i = 0, turns = 0; turns < 50; i++) {
        struct session_lock lock;

        if (i == 1000000)
            return 1;
        if (take(&lock, "file", NULL) == 0) {
            if (lock.fd < 0 || mkdir("alone", 0777) != 0 || rmdir("alone") != 0)
                return 2;
            turns++;
        }
        session_lock_release(&lock);
    }
    return 0;
}

static void one_process_at_a_time_has_it(void **state)
{
    pid_t children[4];

    (void)state;
    for (int i = 0; i < 4; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0)
            _exit(take_turns());
    }
    for (int i = 0; i < 4; i++) {
        int status;

        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    assert_int_equal(scratch_count("."), 0);
}

static void names_of_any_length_can_be_locked(void **state)
{
    char name[256];

    (void)state;
    for (size_t length = 1; length < sizeof(name); length += 254) {
        struct session_lock lock;

        memset(name, 'n', length);
        name[length] = '\0';
        must_take(&lock, name);
        assert_true(others_are_refused(name, ""));
        session_lock_release(&lock);
        assert_int_equal(scratch_count("."), 0);
    }
}

static void what_is_no_file_is_not_locked(void **state)
{
    static const char *const paths[] = {"/dev/null", "folder", "pipe"};
    struct session_lock lock;

    (void)state;
    assert_int_equal(mkdir("folder", 0777), 0);
    assert_int_equal(mkfifo("pipe", 0666), 0);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        assert_int_equal(take(&lock, paths[i], NULL), 0);
        assert_int_equal(lock.fd, -1);
        session_lock_release(&lock);
    }
    assert_int_equal(scratch_count("."), 2);
}

static void what_is_in_the_way_is_a_warning_and_stays(void **state)
{
    struct captured_log shown;
    struct session_lock lock;
    struct error err = {0};

    (void)state;
    captured_log_init(&shown);
    scratch_file(".one.lock", "mine");
    assert_int_equal(symlink("target", ".two.lock"), 0);
    assert_int_equal(mkdir(".three.lock", 0777), 0);
    assert_int_equal(mkfifo(".four.lock", 0666), 0);
    for (const char *const *name = (const char *const[]){"one", "two", "three", "four", NULL}; *name != NULL; name++) {
        string_clear(&shown.text);
        assert_int_equal(session_lock_take(&lock, *name, "writes", "--option", &shown.log, &err), 0);
        assert_int_equal(lock.fd, -1);
        session_lock_release(&lock);
        assert_true(captured_log_has(&shown, "W Cannot lock '"));
        assert_true(captured_log_has(&shown, "cannot open"));
    }
    assert_true(scratch_file_is(".one.lock", "mine"));
    assert_int_equal(scratch_count("."), 4);
    captured_log_release(&shown);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_folder_enter, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(lock_is_on_the_file_however_its_path_is_spelled),
        IN_SCRATCH(forked_child_does_not_hold_it),
        IN_SCRATCH(file_in_place_of_a_lock_stays),
        IN_SCRATCH(one_process_at_a_time_has_it),
        IN_SCRATCH(names_of_any_length_can_be_locked),
        IN_SCRATCH(what_is_no_file_is_not_locked),
        IN_SCRATCH(what_is_in_the_way_is_a_warning_and_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
