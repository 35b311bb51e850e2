/* What killed processes leave of the files that they were writing. */
#define _GNU_SOURCE /* unshare */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file/file.h"
#include "support/scratch_folder.h"
#include "support/unit_test.h"

/* Forks a child that is killed while it writes to `path`; leaves its temporary file. */
static void leave_one(const char *path)
{
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        struct file_writer writer;
        if (file_writer_open(&writer, path, NULL) == 0)
            kill(getpid(), SIGKILL);
        _exit(1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

static void leftovers_of_killed_processes_go(void **state)
{
    scratch_file("out", "old");
    leave_one("out");
    leave_one("./out");
    leave_one("new");
    assert_int_equal(scratch_count("."), 4);
    file_remove_leftovers("out");
    assert_int_equal(scratch_count("."), 2);
    assert_true(scratch_file_is("out", "old"));
    file_remove_leftovers("new");
    assert_int_equal(scratch_count("."), 1);
}

static void leftovers_lie_beside_what_a_link_leads_to(void **state)
{
    assert_int_equal(mkdir("folder", 0777), 0);
    assert_int_equal(symlink("folder/out", "link"), 0);
    leave_one("link");
    assert_int_equal(scratch_count("folder"), 1);
    file_remove_leftovers("link");
    assert_int_equal(scratch_count("folder"), 0);
}

static void names_of_any_length_are_found_again(void **state)
{
    char name[256];

    for (size_t length = 200; length < sizeof(name); length += 5) {
        memset(name, 'n', length);
        name[length] = '\0';
        leave_one(name);
        file_remove_leftovers(name);
        assert_int_equal(scratch_count("."), 0);
    }
}

/* The sixteen digits of names of this process. Valid until the next call. */
static const char *our_space(void)
{
    static char ret[17];
    char *name = file_temporary_name("out");
    const char *last = strrchr(name, '.');

    memcpy(ret, last - 16, 16);
    assert_int_equal(strspn(ret, "0123456789abcdef"), 16);
    assert_int_not_equal(strspn(ret, "0"), 16);
    free(name);
    return ret;
}

static void what_a_living_process_writes_stays(void **state)
{
    char name[64];

    snprintf(name, sizeof(name), ".out.%ld.%s.abcdef", (long)getppid(), our_space());
    scratch_file(name, "");
    file_remove_leftovers("out");
    assert_true(file_exists(name));
}

/* Its number says nothing here: it may be of another machine that has the same folder, of another container, or from
 * before this machine was started. */
static void what_a_process_elsewhere_writes_stays(void **state)
{
    const char *ours = our_space();
    const long numbers[] = {(long)getpid(), (long)getppid(), 999999999};
    char name[64], space[17];
    int count = 0;

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        for (int digit = 0; digit <= 16; digit++) {
            memcpy(space, ours, sizeof(space));
            if (digit < 16)
                space[digit] = space[digit] == '1' ? '2' : '1';
            else
                memset(space, '0', 16); /* who does not know where it is */
            snprintf(name, sizeof(name), ".out.%ld.%s.abcdef", numbers[i], space);
            scratch_file(name, "");
            count++;
        }
    file_remove_leftovers("out");
    assert_int_equal(scratch_count("."), count);
    snprintf(name, sizeof(name), ".out.999999999.%s.abcdef", ours);
    scratch_file(name, "");
    file_remove_leftovers("out");
    assert_int_equal(scratch_count("."), count);
}

/* In a container our number is nobody's. */
static void what_we_write_is_left_alone_in_another_pid_namespace(void **state)
{
    struct file_writer writer;
    pid_t child;
    int status;

    assert_int_equal(file_writer_open(&writer, "out", NULL), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        pid_t inner;

        if (unshare(CLONE_NEWPID) != 0)
            _exit(77);
        inner = fork();
        if (inner == 0) {
            leave_one("out"); /* what is of its own goes there */
            file_remove_leftovers("out");
            _exit(scratch_count(".") == 1 ? 0 : 1);
        }
        _exit(inner > 0 && waitpid(inner, &status, 0) == inner && WIFEXITED(status) ? WEXITSTATUS(status) : 2);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) {
        file_writer_release(&writer);
        skip(); /* it takes a permission to make one */
    }
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_true(file_exists(writer.temporary));
    file_writer_release(&writer);
}

static void what_has_our_number_was_another_process(void **state)
{
    char *name = file_temporary_name("out");

    scratch_file(name, "");
    file_remove_leftovers("out");
    assert_false(file_exists(name));
    free(name);
}

static void other_names_stay(void **state)
{
    static const char *const formats[] = {
        ".out",
        ".out.backup",
        ".out.999999999",
        ".out.999999999.",
        ".out.999999999.abcdef",
        ".out.999999999.%s",
        ".out.999999999.%s.",
        ".out.0.%s.abcdef",
        ".out.-9.%s.abcdef",
        ".out.+999999999.%s.abcdef",
        ".out.999999999.%s.abcde",
        "out.9.%s.abcdef",
        ".out.999999999.%s.abc-ef",
        ".out.999999999.%s-abcdef",
        ".outer.999999999.%s.abcdef",
        ".out.99999999999999999999.%s.abcdef",
        ".out.x.%s.abcdef",
        ".out.999999999.%s.abcdefg",
        ".out.999999999.%s0.abcdef",
    };
    size_t count = sizeof(formats) / sizeof(formats[0]);
    char name[128];

    for (size_t i = 0; i < count; i++) {
        const char *digits = strstr(formats[i], "%s");

        snprintf(name, sizeof(name), "%.*s%s%s", digits ? (int)(digits - formats[i]) : 64, formats[i],
                 digits ? our_space() : "", digits ? digits + 2 : "");
        scratch_file(name, "");
    }
    snprintf(name, sizeof(name), ".out.999999999.%s.folder", our_space());
    assert_int_equal(mkdir(name, 0777), 0);
    snprintf(name, sizeof(name), ".out.999999999.%s.symbol", our_space());
    assert_int_equal(symlink("nowhere", name), 0);
    file_remove_leftovers("out");
    assert_int_equal(scratch_count("."), (int)count + 2);
    file_remove_leftovers("missing/out");
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_folder_enter, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(leftovers_of_killed_processes_go),
        IN_SCRATCH(leftovers_lie_beside_what_a_link_leads_to),
        IN_SCRATCH(names_of_any_length_are_found_again),
        IN_SCRATCH(what_a_living_process_writes_stays),
        IN_SCRATCH(what_has_our_number_was_another_process),
        IN_SCRATCH(what_a_process_elsewhere_writes_stays),
        IN_SCRATCH(what_we_write_is_left_alone_in_another_pid_namespace),
        IN_SCRATCH(other_names_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
