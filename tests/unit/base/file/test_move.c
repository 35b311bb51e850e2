/* Moving files and folders. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file/file.h"
#include "support/scratch_folder.h"
#include "support/unit_test.h"

static void file_is_renamed(void **state)
{
    scratch_file("a", "content");
    assert_int_equal(file_move("a", "b", NULL), 0);
    assert_true(scratch_file_is("b", "content"));
    assert_false(file_exists("a"));
}

static void nothing_is_ever_replaced(void **state)
{
    struct error err;

    scratch_file("a", "1");
    scratch_file("b", "2");
    assert_int_equal(file_move("a", "b", &err), ERR_EXISTS);
    assert_string_equal(err.message, "cannot move 'a': 'b' exists already");
    assert_int_equal(symlink("nowhere", "link"), 0);
    assert_int_equal(file_move("a", "link", &err), ERR_EXISTS);
    assert_int_equal(mkdir("empty", 0777), 0);
    assert_int_equal(mkdir("folder", 0777), 0);
    assert_int_equal(file_move("folder", "empty", &err), ERR_EXISTS);
    assert_true(scratch_file_is("a", "1"));
    assert_true(scratch_file_is("b", "2"));
}

static void missing_file_cannot_be_moved(void **state)
{
    struct error err;

    assert_int_equal(file_move("a", "b", &err), ERR_MISSING);
    scratch_file("a", "");
    assert_int_equal(file_move("a", "missing/b", &err), ERR_IO); /* it is the folder that is not there */
}

/* A folder on another file system than the working directory: in memory. NULL when there is none. */
static char *other_file_system(void)
{
    static char folder[64];
    struct stat here, there;

    snprintf(folder, sizeof(folder), "/dev/shm/scratch.XXXXXX");
    if (stat(".", &here) != 0 || stat("/dev/shm", &there) != 0 || here.st_dev == there.st_dev)
        return NULL;
    return mkdtemp(folder);
}

static void make_tree(void)
{
    static const char zeros[3 << 20];
    const struct timespec times[] = {{.tv_sec = 1000000000}, {.tv_sec = 1234567890}};

    assert_int_equal(file_make_folders("tree/below/deep", NULL), 0);
    scratch_file("tree/below/deep/file", "content");
    scratch_file("tree/empty", "");
    assert_int_equal(file_write("tree/large", zeros, sizeof(zeros), FILE_INTERMEDIATE, NULL), 0);
    assert_int_equal(chmod("tree/large", 0640), 0);
    assert_int_equal(utimensat(AT_FDCWD, "tree/large", times, 0), 0);
    assert_int_equal(symlink("nowhere", "tree/dangling"), 0);
    assert_int_equal(symlink("below", "tree/to_folder"), 0);
    assert_int_equal(chmod("tree/below", 0750), 0);
}

static void check_tree(const char *root)
{
    struct stat status;
    char target[32] = "", path[128];

    snprintf(path, sizeof(path), "%s/below/deep/file", root);
    assert_true(scratch_file_is(path, "content"));
    snprintf(path, sizeof(path), "%s/empty", root);
    assert_true(scratch_file_is(path, ""));
    snprintf(path, sizeof(path), "%s/large", root);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_size, 3 << 20);
    assert_int_equal(status.st_mode & 07777, 0640);
    assert_int_equal(status.st_mtime, 1234567890);
    snprintf(path, sizeof(path), "%s/below", root);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0750);
    snprintf(path, sizeof(path), "%s/dangling", root);
    assert_int_equal(readlink(path, target, sizeof(target) - 1), 7);
    assert_string_equal(target, "nowhere");
    snprintf(path, sizeof(path), "%s/to_folder", root);
    assert_int_equal(readlink(path, target, sizeof(target) - 1), 5);
}

static void folder_moves_to_another_file_system_with_all_it_holds(void **state)
{
    char *other = other_file_system(), to[128];

    if (!other)
        skip();
    make_tree();
    snprintf(to, sizeof(to), "%s/moved", other);
    assert_int_equal(file_move("tree", to, NULL), 0);
    check_tree(to);
    assert_int_equal(scratch_count("."), 0);
    assert_int_equal(scratch_count(other), 1);
    assert_int_equal(file_move(to, "back", NULL), 0);
    check_tree("back");
    assert_int_equal(rmdir(other), 0); /* is empty */
}

static void failed_move_to_another_file_system_leaves_all_as_it_was(void **state)
{
    char *other = other_file_system(), to[128];
    struct error err;

    if (!other)
        skip();
    make_tree();
    snprintf(to, sizeof(to), "%s/moved", other);
    assert_int_equal(mkfifo("tree/below/fifo", 0666), 0);
    assert_int_equal(file_move("tree", to, &err), ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "tree/below/fifo"));
    check_tree("tree");
    assert_int_equal(scratch_count(other), 0);

    assert_int_equal(mkdir(to, 0777), 0);
    assert_int_equal(file_move("tree", to, &err), ERR_EXISTS);
    assert_int_equal(scratch_count(to), 0);
    assert_int_equal(rmdir(to), 0);
    assert_int_equal(rmdir(other), 0);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_folder_enter, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(file_is_renamed),
        IN_SCRATCH(nothing_is_ever_replaced),
        IN_SCRATCH(missing_file_cannot_be_moved),
        IN_SCRATCH(folder_moves_to_another_file_system_with_all_it_holds),
        IN_SCRATCH(failed_move_to_another_file_system_leaves_all_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
