/* Listing files. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/file/list.h"
#include "base/memory.h"
#include "support/scratch_folder.h"
#include "support/unit_test.h"

/* Lists `folder` and compares with paths that are parted by blanks. */
static void assert_listed(const char *folder, const char *expected)
{
    struct file_list list;
    struct error err;
    char found[1024] = "";

    if (file_list_find(&list, folder, &err) < 0)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < list.count; i++) {
        strncat(found, i > 0 ? " " : "", sizeof(found) - strlen(found) - 1);
        strncat(found, list.items[i], sizeof(found) - strlen(found) - 1);
    }
    assert_string_equal(found, expected);
    file_list_release(&list);
}

static void make_folder(const char *path)
{
    assert_int_equal(mkdir(path, 0777), 0);
}

static void files_in_all_folders_are_listed_in_order(void **state)
{
    make_folder("top");
    make_folder("top/b");
    make_folder("top/b/c");
    make_folder("top/empty");
    scratch_file("top/b/c/1", "");
    scratch_file("top/b/2", "");
    scratch_file("top/z", "");
    scratch_file("top/a", "");
    assert_listed("top", "top/a top/b/2 top/b/c/1 top/z");
    assert_listed("./top/", "./top/a ./top/b/2 ./top/b/c/1 ./top/z");
    assert_listed("top/empty", "");
}

static void hidden_names_are_left_out(void **state)
{
    make_folder("top");
    make_folder("top/.hidden");
    scratch_file("top/.hidden/a", "");
    scratch_file("top/.b", "");
    scratch_file("top/c", "");
    assert_listed("top", "top/c");
}

static void names_are_no_patterns(void **state)
{
    make_folder("run[1]");
    scratch_file("run[1]/*", "");
    assert_listed("run[1]", "run[1]/*");
}

static void links_are_followed_but_not_in_circles(void **state)
{
    make_folder("top");
    make_folder("other");
    make_folder("top/inner");
    scratch_file("other/a", "");
    scratch_file("top/inner/b", "");
    assert_int_equal(symlink("../other", "top/link"), 0);
    assert_int_equal(symlink("../..", "top/inner/up"), 0);
    assert_int_equal(symlink("../top", "other/back"), 0);
    assert_int_equal(symlink("nowhere", "top/dangling"), 0);
    assert_int_equal(symlink("self", "top/self"), 0);
    assert_int_equal(symlink("inner/b", "top/file"), 0);
    assert_listed("top", "top/file top/inner/b top/inner/up/other/a top/link/a");
}

static void pipes_and_devices_are_left_out(void **state)
{
    make_folder("top");
    assert_int_equal(mkfifo("top/pipe", 0666), 0);
    assert_int_equal(symlink("/dev/zero", "top/device"), 0);
    scratch_file("top/a", "");
    assert_listed("top", "top/a");
}

static void what_is_no_folder_cannot_be_listed(void **state)
{
    struct file_list list;
    struct error err;

    scratch_file("file", "");
    assert_int_equal(file_list_find(&list, "file", &err), ERR_IO);
    assert_non_null(strstr(err.message, "'file'"));
    assert_int_equal(file_list_find(&list, "missing", &err), ERR_IO);
}

static void folders_inside_each_other_have_a_limit(void **state)
{
    struct file_list list;
    struct error err;

    make_folder("deep");
    assert_int_equal(chdir("deep"), 0);
    for (int i = 0; i < 257; i++) {
        make_folder("d");
        assert_int_equal(chdir("d"), 0);
    }
    for (int i = 0; i < 258; i++)
        assert_int_equal(chdir(".."), 0);
    assert_int_equal(file_list_find(&list, "deep", &err), ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "256 folders"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, scratch_folder_enter, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(files_in_all_folders_are_listed_in_order),
        TEST(hidden_names_are_left_out),
        TEST(names_are_no_patterns),
        TEST(links_are_followed_but_not_in_circles),
        TEST(pipes_and_devices_are_left_out),
        TEST(what_is_no_folder_cannot_be_listed),
        TEST(folders_inside_each_other_have_a_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
