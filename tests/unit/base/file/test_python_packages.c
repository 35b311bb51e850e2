/* Folders of Python packages. */
#include <stdlib.h>
#include <string.h>

#include "base/file/file.h"
#include "base/file/python_packages.h"
#include "base/memory.h"
#include "support/scratch_folder.h"
#include "support/unit_test.h"

static int make_environments(void **state)
{
    static const char *const folders[] = {"active/lib/python3.10/site-packages/b",
                                          "active/lib/python3.12/site-packages/a",
                                          "home/.local/lib/python3.12/site-packages/a/b"};
    struct error err;

    if (scratch_folder_enter(state) != 0)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(folders); i++)
        if (file_make_folders(folders[i], &err) < 0)
            return -1;
    scratch_file("home/.local/lib/python3.12/site-packages/a/b/lib.so.3", "");
    return setenv("VIRTUAL_ENV", "active", 1) == 0 && unsetenv("CONDA_PREFIX") == 0 && setenv("HOME", "home", 1) == 0
               ? 0
               : -1;
}

static void active_environment_comes_before_that_of_the_user(void **state)
{
    static const char *const expected[] = {"active/lib/python3.10/site-packages", "active/lib/python3.12/site-packages",
                                           "home/.local/lib/python3.12/site-packages"};
    struct file_list list = {0};

    python_packages_list(&list);
    assert_true(list.count >= ARRAY_LEN(expected));
    for (size_t i = 0; i < ARRAY_LEN(expected); i++)
        assert_string_equal(list.items[i], expected[i]);
    file_list_release(&list);
}

static void assert_found(const char *pattern, const char *expected)
{
    struct file_list list = {0};
    char *path;

    python_packages_list(&list);
    path = python_packages_find(&list, pattern);
    if (expected == NULL)
        assert_null(path);
    else
        assert_string_equal(path, expected);
    free(path);
    file_list_release(&list);
}

static void first_match_is_found(void **state)
{
    assert_found("a", "active/lib/python3.12/site-packages/a");
    assert_found("a/b/lib.so.*", "home/.local/lib/python3.12/site-packages/a/b/lib.so.3");
    assert_found("no_such_package_anywhere", NULL);
}

#define IN_ENVIRONMENTS(test) cmocka_unit_test_setup_teardown(test, make_environments, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_ENVIRONMENTS(active_environment_comes_before_that_of_the_user),
        IN_ENVIRONMENTS(first_match_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
