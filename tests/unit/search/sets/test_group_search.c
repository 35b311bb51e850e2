/* The group: those that fail alone are found, whichever they are, and what is said of them was seen. */
#include "search/sets/group_search.h"
#include "support/unit_test.h"

#define COUNT 40

struct run {
    struct group_search search; /* to be released */
    size_t checks;
};

/* All elements of `guilty` fail alone; `reason` is one outside of the group that does as well, or COUNT. */
static void run_search(const struct bitset *group, const struct bitset *guilty, size_t reason, struct run *ret)
{
    bool more = true;

    ret->checks = 0;
    group_search_start(&ret->search, group, bitset_next(guilty, 0) < COUNT ? bitset_next(guilty, 0) : SIZE_MAX);
    for (; more; ret->checks++) {
        const struct bitset *candidate = &ret->search.candidate;
        bool fails = bitset_count_common(candidate, guilty) > 0 || (reason < COUNT && bitset_has(candidate, reason));

        assert_in_range(ret->checks, 0, 2 * COUNT);
        assert_true(group_search_ops.remaining(&ret->search) > 0);
        more = group_search_ops.advance(&ret->search, -1, fails ? VERDICT_FAIL : VERDICT_PASS);
    }
    assert_int_equal(group_search_ops.remaining(&ret->search), 0);
}

/* Every third element is of the group; of these every so manyth fails. */
static void make_sets(size_t every, struct bitset *group, struct bitset *guilty)
{
    bitset_init(group, COUNT);
    bitset_init(guilty, COUNT);
    for (size_t i = 0; i < COUNT; i += 3) {
        bitset_add(group, i);
        if (i / 3 % every == every - 1)
            bitset_add(guilty, i);
    }
}

static void those_that_fail_are_found_whichever_they_are(void **state)
{
    for (size_t every = 1; every <= 14; every++) {
        struct bitset group, guilty;
        struct run run;

        make_sets(every, &group, &guilty);
        run_search(&group, &guilty, COUNT, &run);
        assert_true(run.search.cures && run.search.exact);
        assert_true(bitset_equal(&run.search.guilty, &guilty));
        assert_true(run.checks <= (every == 1 ? 14 : 20)); /* of 14 elements */
        search_release(&group_search_ops, &run.search);
        bitset_release(&group);
        bitset_release(&guilty);
    }
}

static void one_that_fails_takes_few_checks(void **state)
{
    struct bitset group, guilty;
    struct run run;

    bitset_init(&group, COUNT);
    bitset_init(&guilty, COUNT);
    bitset_fill(&group);
    bitset_add(&guilty, 20);
    run_search(&group, &guilty, COUNT, &run);
    assert_true(run.search.exact);
    assert_in_range(run.checks, 3, 8); /* chunks of 1, 2, 4, ... */
    search_release(&group_search_ops, &run.search);
    bitset_release(&group);
    bitset_release(&guilty);
}

static void another_reason_ends_it_at_once(void **state)
{
    struct bitset group, guilty;
    struct run run;

    make_sets(2, &group, &guilty);
    run_search(&group, &guilty, 1, &run);
    assert_int_equal(run.checks, 1);
    assert_false(run.search.cures || run.search.exact);
    search_release(&group_search_ops, &run.search);
    bitset_release(&group);
    bitset_release(&guilty);
}

static void without_one_that_fails_alone_only_the_group_is_tried(void **state)
{
    struct bitset group, guilty;
    struct run run;

    make_sets(100, &group, &guilty);
    run_search(&group, &guilty, COUNT, &run);
    assert_int_equal(run.checks, 1);
    assert_true(run.search.cures);
    assert_false(run.search.exact);
    search_release(&group_search_ops, &run.search);
    bitset_release(&group);
    bitset_release(&guilty);
}

static void what_cannot_be_checked_neither_passes_nor_fails(void **state)
{
    struct group_search search;
    struct bitset group;

    bitset_init(&group, 6);
    bitset_add(&group, 2);
    group_search_start(&search, &group, 2);
    assert_false(group_search_ops.advance(&search, -1, VERDICT_SKIP));
    assert_int_equal(search.without, VERDICT_SKIP);
    assert_false(search.cures);
    search_release(&group_search_ops, &search);
    bitset_release(&group);
}

/* Two that fail only together with a third: each chunk passes, and so the guilty one is not all. */
static void what_does_not_add_up_is_not_exact(void **state)
{
    struct group_search search, copied;
    struct bitset group;
    bool more = true;

    bitset_init(&group, 6);
    bitset_fill(&group);
    group_search_start(&search, &group, 0);
    while (more) {
        const struct bitset *candidate = &search.candidate;
        bool fails = bitset_has(candidate, 0) || (bitset_has(candidate, 1) && bitset_has(candidate, 5));

        search_copy(&group_search_ops, &copied, &search);
        assert_true(bitset_equal(&copied.candidate, candidate));
        search_release(&group_search_ops, &copied);
        more = group_search_ops.advance(&search, -1, fails ? VERDICT_FAIL : VERDICT_PASS);
    }
    assert_true(search.cures);
    assert_false(search.exact);
    assert_int_equal(bitset_count(&search.guilty), 1);
    search_release(&group_search_ops, &search);
    bitset_release(&group);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_that_fail_are_found_whichever_they_are),
        cmocka_unit_test(one_that_fails_takes_few_checks),
        cmocka_unit_test(another_reason_ends_it_at_once),
        cmocka_unit_test(without_one_that_fails_alone_only_the_group_is_tried),
        cmocka_unit_test(what_cannot_be_checked_neither_passes_nor_fails),
        cmocka_unit_test(what_does_not_add_up_is_not_exact),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
