/* Sets of small integers; sizes around a word's 64 bits are where mistakes would be. */
#include "base/container/bitset.h"
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

/* Every third, and some whole words. */
static void fill_unevenly(struct bitset *set)
{
    for (size_t i = 0; i < set->size; i++)
        if (i % 3 == 0 || (i >= 128 && i < 256))
            bitset_add(set, i);
}

static void previous_members_are_found_from_the_end(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        struct bitset set;
        bitset_init(&set, sizes[i]);
        assert_int_equal(bitset_previous(&set, sizes[i]), sizes[i]);
        fill_unevenly(&set);
        for (size_t before = 0; before <= sizes[i]; before++) {
            size_t nth = 0;

            for (size_t member = before; member-- > 0;)
                if (bitset_has(&set, member))
                    assert_int_equal(bitset_nth_previous(&set, before, ++nth), member);
            assert_int_equal(bitset_nth_previous(&set, before, nth + 1), sizes[i]);
            assert_int_equal(bitset_previous(&set, before), bitset_nth_previous(&set, before, 1));
        }
        assert_int_equal(bitset_previous(&set, SIZE_MAX), bitset_previous(&set, sizes[i]));
        bitset_release(&set);
    }
}

static void sample_takes_every_so_manieth_member(void **state)
{
    for (size_t step = 1; step < 200; step++) {
        uint32_t sample[1000];
        size_t rank = 0, taken = 0;
        struct bitset set;

        bitset_init(&set, 1000);
        assert_int_equal(bitset_sample(&set, step, sample), 0);
        fill_unevenly(&set);
        assert_int_equal(bitset_sample(&set, step, sample), (bitset_count(&set) + step - 1) / step);
        for (size_t member = bitset_next(&set, 0); member < set.size; member = bitset_next(&set, member + 1))
            if (rank++ % step == 0)
                assert_int_equal(sample[taken++], member);
        bitset_release(&set);
    }
}

static void ranges_are_counted_and_removed_exactly(void **state)
{
    static const size_t places[] = {0, 1, 63, 64, 65, 100, 127, 128, 192, 200};

    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        for (size_t k = 0; k < ARRAY_LEN(places); k++) {
            size_t from = places[i], end = places[k], count = 0;
            struct bitset set, full;

            bitset_init(&set, 200);
            bitset_init(&full, 200);
            bitset_fill(&full);
            fill_unevenly(&set);
            for (size_t member = from; member < end; member++)
                count += bitset_has(&set, member);
            assert_int_equal(bitset_count_common_between(&set, &full, from, end), count);
            count = bitset_count(&set) - count;
            bitset_remove_range(&set, from, end);
            assert_int_equal(bitset_count(&set), count);
            assert_int_equal(bitset_count_common_between(&set, &full, from, end), 0);
            bitset_release(&set);
            bitset_release(&full);
        }
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
        cmocka_unit_test(previous_members_are_found_from_the_end),
        cmocka_unit_test(sample_takes_every_so_manieth_member),
        cmocka_unit_test(ranges_are_counted_and_removed_exactly),
        cmocka_unit_test(set_operations_agree_with_membership),
        cmocka_unit_test(equal_sets_have_equal_size_and_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
