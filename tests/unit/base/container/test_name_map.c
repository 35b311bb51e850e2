/* From names to numbers. */
#include "base/container/arena.h"
#include "base/container/name_map.h"
#include "support/unit_test.h"

static void empty_map_finds_nothing(void **state)
{
    struct name_map map;

    name_map_init(&map);
    assert_int_equal(name_map_find(&map, TEXT("a")), NAME_MAP_NONE);
    assert_int_equal(name_map_find(&map, TEXT("")), NAME_MAP_NONE);
    name_map_release(&map);
}

static void empty_name_is_a_name(void **state)
{
    struct name_map map;

    name_map_init(&map);
    assert_int_equal(name_map_add(&map, (struct text){NULL, 0}, 5), 5);
    assert_int_equal(name_map_find(&map, TEXT("")), 5);
    name_map_release(&map);
}

static void add_keeps_and_set_replaces_an_older_value(void **state)
{
    struct name_map map;

    name_map_init(&map);
    assert_int_equal(name_map_add(&map, TEXT("a"), 1), 1);
    assert_int_equal(name_map_add(&map, TEXT("a"), 2), 1);
    name_map_set(&map, TEXT("a"), 3);
    name_map_set(&map, TEXT("b"), 4);
    assert_int_equal(name_map_find(&map, TEXT("a")), 3);
    assert_int_equal(name_map_find(&map, TEXT("b")), 4);
    assert_int_equal(map.count, 2);
    name_map_release(&map);
}

static void many_names_are_all_found_again(void **state)
{
    enum { COUNT = 100000 };
    struct name_map map;
    struct arena arena;

    name_map_init(&map);
    arena_init(&arena);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(name_map_add(&map, text_of(arena_printf(&arena, "tensor_%u", i)), i), i);
    assert_int_equal(map.count, COUNT);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(name_map_find(&map, text_of(arena_printf(&arena, "tensor_%u", i))), i);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(name_map_find(&map, text_of(arena_printf(&arena, "tensor_%u_", i))), NAME_MAP_NONE);
    arena_release(&arena);
    name_map_release(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_map_finds_nothing),
        cmocka_unit_test(empty_name_is_a_name),
        cmocka_unit_test(add_keeps_and_set_replaces_an_older_value),
        cmocka_unit_test(many_names_are_all_found_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
