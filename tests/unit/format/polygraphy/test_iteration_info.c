/* The iteration info file. */
#include "support/format_fixture.h"

#include <unistd.h>

#include "format/polygraphy/debug_replay.h"

static void file_is_the_one_polygraphy_writes(void **state)
{
    const char *path = scratch_path("info.json");

    assert_int_equal(iteration_info_save(path, 1, NULL), 0);
    assert_same_content(path, "tests/golden/iteration_info/reduce_bisect_fail5_info_1.json");
    assert_int_equal(iteration_info_save(path, 0, NULL), 0);
    assert_same_content(path, "tests/golden/iteration_info/reduce_bisect_fail5_info_0.json");
    unlink(path);
}

static void folder_in_the_way_is_an_error_that_names_it(void **state)
{
    struct error error = {0};

    assert_int_equal(iteration_info_save("tests/golden", 0, &error), ERR_IO);
    assert_message_contains(&error, "tests/golden");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_is_the_one_polygraphy_writes),
        cmocka_unit_test(folder_in_the_way_is_an_error_that_names_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
