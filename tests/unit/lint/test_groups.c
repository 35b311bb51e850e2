/* Findings that differ in names and numbers are one group. */
#include "lint/groups.h"
#include "support/unit_test.h"

static void findings_with_an_apostrophe_are_told_apart(void **state)
{
    SCOPED_ARENA(arena);
    struct lint_groups groups = {0};

    name_map_init(&groups.index);
    lint_groups_add(&groups, &arena, 1, TEXT("the model's input 'x1' is not used"), LOG_WARNING);
    lint_groups_add(&groups, &arena, 1, TEXT("the model's input 'x2' is not used"), LOG_WARNING);
    lint_groups_add(&groups, &arena, 1, TEXT("the model's output has no type"), LOG_WARNING);
    lint_groups_add(&groups, &arena, 1, TEXT("the model's name is empty"), LOG_WARNING);
    assert_int_equal(groups.groups.count, 3);
    assert_int_equal(groups.groups.items[0].count, 2);
    assert_int_equal(groups.groups.items[1].count, 1);
    lint_groups_release(&groups);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(findings_with_an_apostrophe_are_told_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
