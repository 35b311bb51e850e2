/* This program and its machine. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/system.h"
#include "support/unit_test.h"

static void the_program_knows_its_own_path(void **state)
{
    char *path = system_program_path();

    assert_non_null(path);
    assert_non_null(strstr(path, "test_system"));
    assert_int_equal(access(path, X_OK), 0);
    free(path);
}

static void temporary_files_lie_where_TMPDIR_says(void **state)
{
    unsetenv("TMPDIR");
    assert_string_equal(system_temporary_folder(), "/tmp");
    setenv("TMPDIR", "", 1);
    assert_string_equal(system_temporary_folder(), "/tmp");
    setenv("TMPDIR", "/elsewhere", 1);
    assert_string_equal(system_temporary_folder(), "/elsewhere");
    unsetenv("TMPDIR");
}

static void processors_have_a_number_and_a_name(void **state)
{
    struct string_builder name;

    assert_in_range(system_processors(), 1, sysconf(_SC_NPROCESSORS_CONF));
    string_init(&name);
    system_add_processor_name(&name);
    assert_true(name.size > 0);
    assert_null(strchr(name.data, '\n'));
    string_release(&name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_program_knows_its_own_path),
        cmocka_unit_test(temporary_files_lie_where_TMPDIR_says),
        cmocka_unit_test(processors_have_a_number_and_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
