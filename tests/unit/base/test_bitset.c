/* Sets of small integers; sizes around a word's 64 bits are where mistakes would be. */
#include "base/bitset.h"
#include "base/memory.h"
#include "support/unit_test.h"

static const size_t sizes[] = {0, 1, 63, 64, 65, 127, 128, 129, 1000};

static void full_set_has_exactly_its_members(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        struct bitset set;
        size_t count = 0;
        bitset_init(&set, sizes[i]);
        assert_int_equal(bitset_count(&set), 0);
        assert_int_equal(bitset_next(&set, 0), sizes[i]);
        bitset_fill(&set);
        assert_int_equal(bitset_count(&set), sizes[i]);
        for (size_t member = bitset_next(&set, 0); member < set.size; member = bitset_next(&set, member + 1))
            assert_int_equal(member, count++);
        assert_int_equal(count, sizes[i]);
        bitset_release(&set);
    }
}

static void next_finds_the_smallest_member_from_there_on(void **state)
{
    struct bitset set;

    bitset_init(&set, 300);
    bitset_add(&set, 63);
    bitset_add(&set, 64);
    bitset_add(&set, 299);
    assert_int_equal(bitset_next(&set, 0), 63);
    assert_int_equal(bitset_next(&set, 63), 63);
    assert_int_equal(bitset_next(&set, 64), 64);
    assert_int_equal(bitset_next(&set, 65), 299);
    assert_int_equal(bitset_next(&set, 300), 300);
    assert_int_equal(bitset_next(&set, SIZE_MAX), 300);
    bitset_remove(&set, 299);
    assert_int_equal(bitset_next(&set, 65), 300);
    bitset_release(&set);
}

static void set_operations_agree_with_membership(void **state)
{
    struct bitset a, b, united, common, rest;

    bitset_init(&a, 200);
    bitset_init(&b, 200);
    for (size_t i = 0; i < 200; i += 2)
        bitset_add(&a, i);
    for (size_t i = 0; i < 200; i += 3)
        bitset_add(&b, i);
    bitset_init_copy(&united, &a);
    bitset_init_copy(&common, &a);
    bitset_init_copy(&rest, &a);
    bitset_unite(&united, &b);
    bitset_intersect(&common, &b);
    bitset_subtract(&rest, &b);
    for (size_t i = 0; i < 200; i++) {
        assert_int_equal(bitset_has(&united, i), i % 2 == 0 || i % 3 == 0);
        assert_int_equal(bitset_has(&common, i), i % 6 == 0);
        assert_int_equal(bitset_has(&rest, i), i % 2 == 0 && i % 3 != 0);
    }
    bitset_release(&a);
    bitset_release(&b);
    bitset_release(&united);
    bitset_release(&common);
    bitset_release(&rest);
}

static void equal_sets_have_equal_size_and_members(void **state)
{
    struct bitset a, b, longer;

    bitset_init(&a, 70);
    bitset_init(&longer, 71);
    bitset_add(&a, 69);
    bitset_init_copy(&b, &a);
    assert_true(bitset_equal(&a, &b));
    bitset_add(&b, 3);
    assert_false(bitset_equal(&a, &b));
    bitset_assign(&b, &a);
    assert_true(bitset_equal(&a, &b));
    bitset_clear(&a);
    assert_false(bitset_equal(&a, &b));
    assert_false(bitset_equal(&a, &longer));
    bitset_release(&a);
    bitset_release(&b);
    bitset_release(&longer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_set_has_exactly_its_members),
        cmocka_unit_test(next_finds_the_smallest_member_from_there_on),
        cmocka_unit_test(set_operations_agree_with_membership),
        cmocka_unit_test(equal_sets_have_equal_size_and_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
