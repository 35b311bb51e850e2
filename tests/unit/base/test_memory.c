/* Allocation that never returns NULL. */
#include <stdbool.h>
#include <stdint.h>
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

static bool is_filled(const uint8_t *bytes, size_t size, uint8_t with)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != with)
            return false;
    return true;
}

/* More than the heap grows by at once, in blocks around every limit. */
static int use_memory(void)
{
    static const size_t sizes[] = {
        24, 4096, (size_t)1 << 17, (size_t)1 << 20, (size_t)20 << 20, ((size_t)32 << 20) + 1};
    uint8_t *blocks[4][ARRAY_LEN(sizes)];
    uint8_t *before = memory_alloc(1000);

    memset(before, 1, 1000);
    memory_make_roomy();
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < ARRAY_LEN(sizes); k++) {
            blocks[i][k] = memory_alloc(sizes[k]);
            memset(blocks[i][k], (int)(i * 10 + k), sizes[k]);
            if (i == 2) { /* a hole to be used again */
                free(blocks[1][k]);
                blocks[1][k] = NULL;
            }
        }
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < ARRAY_LEN(sizes); k++) {
            CHECK_OR_FAIL(i == 1 || is_filled(blocks[i][k], sizes[k], (uint8_t)(i * 10 + k)));
            free(blocks[i][k]);
        }
    CHECK_OR_FAIL(is_filled(before, 1000, 1));
    free(before);
    return 0;
}

static void blocks_of_every_size_hold_what_was_put_there(void **state)
{
    assert_int_equal(in_child(use_memory), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_bytes_are_not_exhaustion),
        cmocka_unit_test(overflow_counts_as_exhaustion_which_ends_the_process),
        cmocka_unit_test(copy_is_ended_by_nul),
        cmocka_unit_test(appended_elements_keep_their_values),
        cmocka_unit_test(blocks_of_every_size_hold_what_was_put_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
