/* What killed processes leave of the files that they were writing. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/file_temporary.h"
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

static void what_a_living_process_writes_stays(void **state)
{
    char name[64];

    snprintf(name, sizeof(name), ".out.%ld.abcdef", (long)getppid());
    scratch_file(name, "");
    file_remove_leftovers("out");
    assert_true(file_exists(name));
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
    static const char *const names[] = {
        ".out",
        ".out.backup",
        ".out.999999999",
        ".out.999999999.",
        ".out.0.abcdef",
        ".out.-9.abcdef",
        ".out.+999999999.abcdef",
        ".out.999999999.abcde",
        "out.9.abcdef",
        ".out.999999999.abc-ef",
        ".outer.999999999.abcdef",
        ".out.99999999999999999999.abcdef",
        ".out.x.abcdef",
        ".out.999999999.abcdefg",
    };
    size_t count = sizeof(names) / sizeof(names[0]);

    for (size_t i = 0; i < count; i++)
        scratch_file(names[i], "");
    assert_int_equal(mkdir(".out.999999999.folder", 0777), 0);
    assert_int_equal(symlink("nowhere", ".out.999999999.symbol"), 0);
    file_remove_leftovers("out");
    assert_int_equal(scratch_count("."), (int)count + 2);
    file_remove_leftovers("missing/out");
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_folder_enter, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(leftovers_of_killed_processes_go),        IN_SCRATCH(leftovers_lie_beside_what_a_link_leads_to),
        IN_SCRATCH(names_of_any_length_are_found_again),     IN_SCRATCH(what_a_living_process_writes_stays),
        IN_SCRATCH(what_has_our_number_was_another_process), IN_SCRATCH(other_names_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
