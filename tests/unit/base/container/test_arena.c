/* Memory that is given back all at once. */
#include <stdalign.h>
#include <string.h>

#include "base/container/arena.h"
#include "support/unit_test.h"

static int make_arena(void **state)
{
    static struct arena arena;

    arena_init(&arena);
    *state = &arena;
    return 0;
}

static int release_arena(void **state)
{
    arena_release(*state);
    return 0;
}

static void every_piece_is_aligned_and_apart_from_the_others(void **state)
{
    enum { COUNT = 2000 };
    unsigned char *pieces[COUNT];

    for (size_t i = 0; i < COUNT; i++) {
        pieces[i] = arena_alloc(*state, i);
        assert_int_equal((uintptr_t)pieces[i] % alignof(max_align_t), 0);
        memset(pieces[i], (int)(i % 256), i);
    }
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t j = 0; j < i; j++)
            assert_int_equal(pieces[i][j], i % 256);
    }
}

static void zeroed_memory_is_zero_even_when_it_was_used_before(void **state)
{
    memset(arena_alloc(*state, 1000), 0xAA, 1000);
    arena_release(*state);
    const unsigned char *zero = arena_alloc_zero(*state, 10, 100);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(zero[i], 0);
}

static void huge_piece_does_not_make_all_later_ones_huge(void **state)
{
    struct arena *arena = *state;

    arena_alloc(arena, (size_t)300 << 20);
    struct arena_block *huge = arena->head;
    char *first = arena_alloc(arena, 1);
    assert_ptr_not_equal(arena->head, huge);
    assert_non_null(first);
}

static void copies_are_ended_by_nul(void **state)
{
    assert_string_equal(arena_strdup(*state, "abc"), "abc");
    assert_string_equal(arena_text(*state, (struct text){"abcdef", 3}), "abc");
    assert_string_equal(arena_text(*state, (struct text){NULL, 0}), "");
    assert_memory_equal(arena_copy(*state, "abc", 2), "ab", 2);
    assert_string_equal(arena_printf(*state, "%s %d", "node", 7), "node 7");
    assert_int_equal(strlen(arena_printf(*state, "%10000d", 1)), 10000);
}

static void released_arena_can_be_used_again(void **state)
{
    arena_alloc(*state, 100);
    arena_release(*state);
    arena_release(*state);
    assert_string_equal(arena_strdup(*state, "again"), "again");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_piece_is_aligned_and_apart_from_the_others, make_arena, release_arena),
        cmocka_unit_test_setup_teardown(zeroed_memory_is_zero_even_when_it_was_used_before, make_arena, release_arena),
        cmocka_unit_test_setup_teardown(huge_piece_does_not_make_all_later_ones_huge, make_arena, release_arena),
        cmocka_unit_test_setup_teardown(copies_are_ended_by_nul, make_arena, release_arena),
        cmocka_unit_test_setup_teardown(released_arena_can_be_used_again, make_arena, release_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
