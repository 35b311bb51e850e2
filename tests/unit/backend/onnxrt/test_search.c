/* test_onnxrt_search.c: where ONNX Runtime's library is looked for. A text file of the right name cannot be loaded: the
 * message then shows that it was tried. */
#include "support/onnxrt_fixture.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "backend/onnxrt/search.h"
#include "base/file/file.h"
#include "support/scratch_folder.h"

#define PACKAGES "environment/lib/python3.12/site-packages/onnxruntime/capi"

static int enter(void **state)
{
    struct error err;

    unsetenv("POLYGRAPHY_ONNXRUNTIME");
    unsetenv("ORT_DYLIB_PATH");
    if (scratch_folder_enter(state) != 0 || mkdir("folder", 0700) != 0)
        return -1;
    scratch_file("folder/libonnxruntime.so", "no library");
    /* before the system's packages */
    return file_make_folders(PACKAGES, &err) == 0 && setenv("VIRTUAL_ENV", "environment", 1) == 0 ? 0 : -1;
}

static void search_fails(const char *wanted, struct error *err)
{
    void *handle = NULL;
    char *path = NULL;

    *err = (struct error){0};
    assert_int_equal(onnxrt_search(wanted, &handle, &path, err), ERR_MISSING);
    assert_null(handle);
    assert_null(path);
}

static void place_that_the_user_names_is_the_only_one(void **state)
{
    struct error err;

    search_fails("nowhere", &err);
    assert_message_contains(&err, "where --onnxrt-library points; looked at: 'nowhere' (not there); name");
    assert_int_equal(setenv("POLYGRAPHY_ONNXRUNTIME", "elsewhere", 1), 0);
    search_fails(NULL, &err);
    assert_message_contains(&err, "where POLYGRAPHY_ONNXRUNTIME points; looked at: 'elsewhere' (not there); name");
    search_fails("nowhere", &err);
    assert_message_contains(&err, "looked at: 'nowhere' (not there); name");
}

static void file_and_folder_are_both_taken(void **state)
{
    struct error err;

    search_fails("folder", &err);
    assert_message_contains(&err, "/folder/libonnxruntime.so: ");
    search_fails("folder/libonnxruntime.so", &err);
    assert_message_contains(&err, "/folder/libonnxruntime.so: ");
    search_fails(".", &err);
    assert_message_contains(&err, "looked at: folder '.'; name");
}

/* A test program has no library beside itself. */
static void variable_of_other_programs_comes_after_what_is_beside_the_program(void **state)
{
    struct error err;

    assert_int_equal(setenv("ORT_DYLIB_PATH", "folder", 1), 0);
    search_fails(NULL, &err);
    assert_message_contains(&err, "/../lib/polygraphy' (not there), ");
    assert_message_contains(&err, "/folder/libonnxruntime.so: ");
}

static void package_of_the_active_python_environment_comes_last(void **state)
{
    struct error err;

    search_fails(NULL, &err);
    assert_message_contains(&err, "/onnxruntime/capi'; ");
    scratch_file(PACKAGES "/libonnxruntime.so.1.24.1", "no library");
    search_fails(NULL, &err);
    assert_message_contains(&err, "/../lib/polygraphy' (not there), /");
    assert_message_contains(&err, PACKAGES "/libonnxruntime.so.1.24.1: ");
    assert_message_contains(&err, "install it (pip install onnxruntime), or name ");
}

static void python_package_without_the_c_library_is_told_which_package_has_one(void **state)
{
    struct error err;

    scratch_file(PACKAGES "/onnxruntime_pybind11_state.cpython-312-x86_64-linux-gnu.so", "a module");
    search_fails(NULL, &err);
    assert_message_contains(&err, "a Python package without the C library, which PyPI's onnxruntime has from 1.20.1");
    assert_int_equal(file_make_folders(PACKAGES "/../../onnxruntime-1.17.3.dist-info", &err), 0);
    search_fails(PACKAGES, &err);
    assert_message_contains(&err, "npm's onnxruntime-node 1.17.3 has it, which --onnxrt-library 1.17.3 fetches");
}

/* Any library that every system has will do: the search looks into none. */
static void library_of_the_system_is_loaded_only_when_it_is_named(void **state)
{
    struct error err = {0};
    void *handle = NULL;
    char *path = NULL;

    search_fails("nowhere", &err);
    assert_message_contains(&err, "(libonnxruntime.so.1 alone means the system's own)");
    assert_int_equal(onnxrt_search("libc.so.6", &handle, &path, &err), 0);
    assert_non_null(handle);
    assert_string_equal(path, "libc.so.6");
    free(path);
    search_fails("libnonesuch.so.1", &err);
    assert_message_contains(&err, "libnonesuch.so.1: cannot open shared object file");
}

#define SEARCH_TEST(test) cmocka_unit_test_setup_teardown(test, enter, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SEARCH_TEST(place_that_the_user_names_is_the_only_one),
        SEARCH_TEST(file_and_folder_are_both_taken),
        SEARCH_TEST(variable_of_other_programs_comes_after_what_is_beside_the_program),
        SEARCH_TEST(library_of_the_system_is_loaded_only_when_it_is_named),
        SEARCH_TEST(package_of_the_active_python_environment_comes_last),
        SEARCH_TEST(python_package_without_the_c_library_is_told_which_package_has_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
