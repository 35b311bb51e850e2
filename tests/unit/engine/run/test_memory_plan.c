/* Memory plans: nothing that lives at the same time overlaps, and no more room than side by side. */
#include "support/unit_test.h"

#include <stdbool.h>

#include "base/memory.h"
#include "engine/run/memory_plan.h"

#define ROUNDED(size) (((size) + 63) / 64 * 64)

static void assert_valid(const struct memory_block *blocks, size_t count, size_t total)
{
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(blocks[i].offset % MEMORY_PLAN_ALIGNMENT, 0);
        assert_true(blocks[i].offset + blocks[i].size <= total);
        for (size_t k = 0; k < i; k++) {
            bool together = blocks[i].first <= blocks[k].last && blocks[k].first <= blocks[i].last;
            bool apart = blocks[i].offset + blocks[i].size <= blocks[k].offset ||
                         blocks[k].offset + blocks[k].size <= blocks[i].offset;

            assert_true(!together || apart);
        }
    }
    assert_true(total <= memory_plan_without_reuse(blocks, count));
}

static void a_chain_needs_room_for_two_neighbours(void **state)
{
    struct memory_block blocks[20];
    size_t total;

    for (size_t i = 0; i < ARRAY_LEN(blocks); i++)
        blocks[i] = (struct memory_block){.size = 1000, .first = i, .last = i + 1};
    total = memory_plan(blocks, ARRAY_LEN(blocks));
    assert_valid(blocks, ARRAY_LEN(blocks), total);
    assert_int_equal(total, 2 * ROUNDED(1000));
    assert_int_equal(memory_plan_without_reuse(blocks, ARRAY_LEN(blocks)), 20 * ROUNDED(1000));
}

static void what_lives_throughout_shares_with_nobody(void **state)
{
    struct memory_block blocks[] = {{.size = 64, .first = 0, .last = 9},
                                    {.size = 640, .first = 0, .last = 3},
                                    {.size = 640, .first = 4, .last = 9}};

    assert_int_equal(memory_plan(blocks, 3), 704);
    assert_valid(blocks, 3, 704);
}

static void empty_blocks_take_no_room(void **state)
{
    struct memory_block blocks[] = {{.size = 0, .first = 0, .last = 1}, {.size = 0, .first = 0, .last = 1}};

    assert_int_equal(memory_plan(blocks, 2), 0);
    assert_int_equal(memory_plan(NULL, 0), 0);
}

static void random_plans_never_overlap(void **state)
{
    uint64_t random = 1;

    for (size_t round = 0; round < 200; round++) {
        struct memory_block blocks[40];

        for (size_t i = 0; i < ARRAY_LEN(blocks); i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            blocks[i] =
                (struct memory_block){.size = (size_t)(random >> 40) % 5000, .first = (size_t)(random >> 33) % 30};
            blocks[i].last = blocks[i].first + (size_t)(random >> 50) % 8;
        }
        assert_valid(blocks, ARRAY_LEN(blocks), memory_plan(blocks, ARRAY_LEN(blocks)));
    }
}

static void sizes_that_overflow_are_told(void **state)
{
    struct memory_block blocks[] = {{.size = SIZE_MAX - 10, .first = 0, .last = 1},
                                    {.size = SIZE_MAX / 2, .first = 5, .last = 6}};

    assert_true(memory_plan(blocks, 2) == SIZE_MAX);
    blocks[0].size = SIZE_MAX / 2 + 1;
    blocks[1].size = SIZE_MAX / 2 + 1;
    assert_true(memory_plan(blocks, 2) == SIZE_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_needs_room_for_two_neighbours),
        cmocka_unit_test(what_lives_throughout_shares_with_nobody),
        cmocka_unit_test(empty_blocks_take_no_room),
        cmocka_unit_test(random_plans_never_overlap),
        cmocka_unit_test(sizes_that_overflow_are_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
