/* test_onnxrt_search.c: where ONNX Runtime's library is looked for. A text file of the right name cannot be loaded: the
 * message then shows that it was tried. */
#include "onnxrt_test.h"

#include "backend/onnxrt_search.h"
#include "support/scratch_folder.h"

#include <sys/stat.h>

static int enter(void **state)
{
    unsetenv("POLYGRAPHY_ONNXRUNTIME");
    unsetenv("ORT_DYLIB_PATH");
    if (scratch_folder_enter(state) != 0 || mkdir("folder", 0700) != 0)
        return -1;
    scratch_file("folder/libonnxruntime.so", "no library");
    return 0;
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
    assert_mentions(err.message, "where --onnxruntime-lib points; looked at: 'nowhere' (not there); install");
    assert_int_equal(setenv("POLYGRAPHY_ONNXRUNTIME", "elsewhere", 1), 0);
    search_fails(NULL, &err);
    assert_mentions(err.message, "where POLYGRAPHY_ONNXRUNTIME points; looked at: 'elsewhere' (not there); install");
    search_fails("nowhere", &err);
    assert_mentions(err.message, "looked at: 'nowhere' (not there); install");
}

static void file_and_folder_are_both_taken(void **state)
{
    struct error err;

    search_fails("folder", &err);
    assert_mentions(err.message, "/folder/libonnxruntime.so: ");
    search_fails("folder/libonnxruntime.so", &err);
    assert_mentions(err.message, "/folder/libonnxruntime.so: ");
    search_fails(".", &err);
    assert_mentions(err.message, "looked at: folder '.'; install");
}

/* The other places may have a library: then it is found, which is as good. */
static void variable_of_other_programs_is_tried_and_passed_over(void **state)
{
    struct error err = {0};
    void *handle = NULL;
    char *path = NULL;

    assert_int_equal(setenv("ORT_DYLIB_PATH", "elsewhere", 1), 0);
    if (onnxrt_search(NULL, &handle, &path, &err) < 0) {
        assert_mentions(err.message, "looked at: 'elsewhere' (not there), folder '");
        assert_mentions(err.message, "/../lib/polygraphy' (not there), the system's library path; install");
    } else {
        assert_non_null(handle);
        assert_non_null(path);
    }
    free(path);
}

#define SEARCH_TEST(test) cmocka_unit_test_setup_teardown(test, enter, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SEARCH_TEST(place_that_the_user_names_is_the_only_one),
        SEARCH_TEST(file_and_folder_are_both_taken),
        SEARCH_TEST(variable_of_other_programs_is_tried_and_passed_over),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
