/* Allocation that never returns NULL. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "support/in_child.h"
#include "support/unit_test.h"

static void no_bytes_are_not_exhaustion(void **state)
{
    void *a = memory_alloc(0), *b = memory_alloc_zero(0, 8), *c = memory_resize(memory_alloc(8), 0, 8);

    assert_non_null(a);
    assert_non_null(b);
    assert_non_null(c);
    free(a);
    free(b);
    free(c);
}

static int clear_too_much(void)
{
    free(memory_alloc_zero(SIZE_MAX / 2, 4));
    return 0;
}

static int resize_too_far(void)
{
    free(memory_resize(NULL, SIZE_MAX / 8 + 2, 8));
    return 0;
}

static int copy_too_much(void)
{
    free(memory_copy("", SIZE_MAX));
    return 0;
}

static void overflow_counts_as_exhaustion_which_ends_the_process(void **state)
{
    assert_int_equal(in_child(clear_too_much), EXIT_FAILURE);
    assert_int_equal(in_child(resize_too_far), EXIT_FAILURE);
    assert_int_equal(in_child(copy_too_much), EXIT_FAILURE);
}

static void copy_is_ended_by_nul(void **state)
{
    char *copy = memory_copy("abcdef", 3);
    char *nothing = memory_copy(NULL, 0);

    assert_string_equal(copy, "abc");
    assert_string_equal(nothing, "");
    free(copy);
    free(nothing);
}

static void appended_elements_keep_their_values(void **state)
{
    struct {
        int *items;
        size_t count, capacity;
    } numbers = {0};

    for (int i = 0; i < 1000; i++)
        *VECTOR_APPEND(&numbers) = i;
    assert_int_equal(numbers.count, 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(numbers.items[i], i);
    free(numbers.items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_bytes_are_not_exhaustion),
        cmocka_unit_test(overflow_counts_as_exhaustion_which_ends_the_process),
        cmocka_unit_test(copy_is_ended_by_nul),
        cmocka_unit_test(appended_elements_keep_their_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
