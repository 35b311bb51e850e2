/* Tests of search/lookahead.c, with a search that shows what it was told: what is listed, in which order, and how much
 * of it. */
#include <stdlib.h>

#include "base/memory.h"
#include "search/lookahead.h"
#include "support/unit_test.h"

enum { MOST = 64 };

/* After `length` verdicts it is over. */
struct toy {
    size_t told, length;
    uint64_t way; /* a bit for each verdict, 1 for a failure, behind a leading 1 */
    int64_t nodes;
    double failure; /* what it expects */
};

/* How candidates of the toy are described. */
struct description {
    bool by_depth;      /* the candidate depends on the number of verdicts only; else on all of them */
    size_t same_again;  /* so many verdicts later it is the same candidate again; 0: never */
    size_t known_from;  /* from so many verdicts on there is one already */
    size_t hidden_from; /* from so many verdicts on nothing can be told */
    double failure;
    int64_t nodes;
    size_t asked; /* how often */
};

static size_t alive, most_alive;

static void copy(void *search, const void *from)
{
    alive++;
    most_alive = alive > most_alive ? alive : most_alive;
    *(struct toy *)search = *(const struct toy *)from;
}

static void release(void *search)
{
    alive--;
}

static bool advance(void *search, int64_t nodes, enum verdict verdict)
{
    struct toy *toy = search;

    toy->way = 2 * toy->way + (verdict == VERDICT_FAIL);
    toy->nodes = nodes;
    return ++toy->told < toy->length;
}

static double expect(const void *search)
{
    return ((const struct toy *)search)->failure;
}

static struct hash identity_of(const struct description *description, const struct toy *toy)
{
    uint64_t depth = description->same_again > 0 ? toy->told % description->same_again : toy->told;

    return description->by_depth ? (struct hash){depth, 0} : (struct hash){toy->way, 1};
}

static bool describe(void *data, const void *search, int64_t index, struct foreseen *ret)
{
    struct description *description = data;
    const struct toy *toy = search;

    assert_int_equal(index, 10 + toy->told);
    description->asked++;
    *ret = (struct foreseen){.identity = identity_of(description, toy),
                             .nodes = description->nodes,
                             .known = toy->told >= description->known_from,
                             .verdict = VERDICT_FAIL};
    return toy->told < description->hidden_from;
}

static struct description plain(void)
{
    return (struct description){.known_from = SIZE_MAX, .hidden_from = SIZE_MAX};
}

static struct lookahead *begin(struct description *description, size_t length)
{
    static const struct search_ops ops = {
        .size = sizeof(struct toy), .copy = copy, .release = release, .advance = advance, .expect = expect};
    struct toy toy = {.length = length, .way = 1, .failure = description->failure};

    alive = most_alive = 0;
    return lookahead_new(&ops, &toy, 10, describe, description);
}

static void end(struct lookahead *lookahead)
{
    lookahead_free(lookahead);
    assert_int_equal(alive, 0);
}

static uint64_t way_of(const struct lookahead_item *item)
{
    return ((const struct toy *)item->search)->way;
}

static void assert_probability(const struct lookahead_item *item, double probability)
{
    assert_true(item->probability > probability - 1e-9 && item->probability < probability + 1e-9);
}

static void most_probable_checks_come_first(void **state)
{
    static const double probabilities[] = {1, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25, 0.125};
    struct description description = plain();
    struct lookahead *lookahead = begin(&description, 100);
    struct lookahead_item items[MOST];

    assert_int_equal(lookahead_list(lookahead, 8, items), 8);
    for (size_t i = 0; i < 8; i++) {
        assert_probability(&items[i], probabilities[i]);
        assert_int_equal(items[i].index, i == 0 ? 10 : i < 3 ? 11 : i < 7 ? 12 : 13);
    }
    end(lookahead);
}

static void what_the_search_expects_makes_the_order(void **state)
{
    struct description description = plain();
    struct lookahead *lookahead;
    struct lookahead_item items[MOST];

    description.failure = 0.75;
    lookahead = begin(&description, 100);
    assert_int_equal(lookahead_list(lookahead, 5, items), 5);
    assert_int_equal(way_of(&items[0]), 1);
    assert_int_equal(way_of(&items[1]), 3); /* failed */
    assert_int_equal(way_of(&items[2]), 7); /* failed twice */
    assert_int_equal(way_of(&items[3]), 15);
    assert_int_equal(way_of(&items[4]), 31);
    assert_probability(&items[4], 0.75 * 0.75 * 0.75 * 0.75);
    assert_int_equal(lookahead_list(lookahead, 6, items), 6);
    assert_int_equal(way_of(&items[4]), 31);
    assert_int_equal(way_of(&items[5]), 2); /* passed */
    end(lookahead);
}

static void verdicts_so_far_make_the_order_when_the_search_expects_nothing(void **state)
{
    struct description description = plain();
    struct lookahead *lookahead = begin(&description, 100);
    struct lookahead_item items[MOST];

    for (size_t i = 0; i < 6; i++)
        lookahead_advance(lookahead, 0, VERDICT_PASS);
    lookahead_advance(lookahead, 0, VERDICT_SKIP); /* says nothing of failures */
    assert_int_equal(lookahead_list(lookahead, 3, items), 3);
    assert_int_equal(items[0].index, 17);
    assert_probability(&items[1], 7.0 / 8);
    assert_int_equal(way_of(&items[1]), 1 << 8);
    assert_probability(&items[2], 7.0 / 8 * 7 / 8);
    end(lookahead);
}

static void same_check_on_two_branches_is_listed_once(void **state)
{
    struct description description = plain();
    struct lookahead *lookahead;
    struct lookahead_item items[MOST];

    description.by_depth = true;
    lookahead = begin(&description, 5);
    assert_int_equal(lookahead_list(lookahead, MOST, items), 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(items[i].index, 10 + i);
        assert_probability(&items[i], 1); /* it comes on all branches */
    }
    end(lookahead);
}

static void candidate_that_comes_again_has_the_verdict_that_it_had(void **state)
{
    struct description description = plain();
    struct lookahead *lookahead;
    struct lookahead_item items[MOST];
    size_t count;

    description.by_depth = true;
    description.same_again = 2; /* two candidates in turns, over and over */
    lookahead = begin(&description, 7);
    count = lookahead_list(lookahead, MOST, items);
    assert_int_equal(count, 2);
    lookahead_advance(lookahead, 0, VERDICT_FAIL);
    lookahead_advance(lookahead, 0, VERDICT_PASS);
    assert_int_equal(lookahead_list(lookahead, MOST, items), 0); /* there is nothing left to decide */
    end(lookahead);
}

static void verdict_that_comes_early_leaves_one_branch(void **state)
{
    struct description description = plain();
    struct lookahead *lookahead = begin(&description, 3);
    struct lookahead_item items[MOST];

    assert_int_equal(lookahead_list(lookahead, MOST, items), 7);
    lookahead_learn(lookahead, (struct hash){3, 1}, 11, VERDICT_PASS); /* behind a failure */
    assert_int_equal(lookahead_list(lookahead, MOST, items), 5);       /* without itself and one behind it */
    for (size_t i = 0; i < 5; i++) {
        assert_int_not_equal(way_of(&items[i]), 3);
        assert_int_not_equal(way_of(&items[i]), 7);
    }
    lookahead_learn(lookahead, (struct hash){1, 1}, 10, VERDICT_FAIL);
    assert_int_equal(lookahead_list(lookahead, MOST, items), 1);
    assert_int_equal(way_of(&items[0]), 6);
    assert_probability(&items[0], 1);
    lookahead_advance(lookahead, 0, VERDICT_FAIL);
    lookahead_advance(lookahead, 0, VERDICT_PASS);
    assert_int_equal(lookahead_list(lookahead, MOST, items), 1);
    assert_int_equal(way_of(&items[0]), 6);
    end(lookahead);
}

static void verdict_on_another_iteration_is_not_taken(void **state)
{
    struct description description = plain();
    struct lookahead *lookahead = begin(&description, 3);
    struct lookahead_item items[MOST];

    lookahead_learn(lookahead, (struct hash){3, 1}, 12, VERDICT_PASS);
    assert_int_equal(lookahead_list(lookahead, MOST, items), 7);
    end(lookahead);
}

static void candidate_that_cannot_be_checked_has_a_branch_of_its_own(void **state)
{
    struct description description = plain();
    struct lookahead *lookahead = begin(&description, 2);
    struct lookahead_item items[MOST];

    lookahead_learn(lookahead, (struct hash){1, 1}, 10, VERDICT_SKIP);
    assert_int_equal(lookahead_list(lookahead, MOST, items), 1);
    assert_int_equal(items[0].index, 11);
    lookahead_advance(lookahead, 0, VERDICT_SKIP);
    assert_int_equal(lookahead_list(lookahead, MOST, items), 1);
    assert_int_equal(items[0].index, 11);
    end(lookahead);
}

static void nothing_is_listed_when_the_search_is_over(void **state)
{
    struct description description = plain();
    struct lookahead *lookahead = begin(&description, 2);
    struct lookahead_item items[MOST];

    assert_int_equal(lookahead_list(lookahead, 0, items), 0);
    lookahead_advance(lookahead, 0, VERDICT_PASS);
    assert_int_equal(lookahead_list(lookahead, MOST, items), 1);
    lookahead_advance(lookahead, 0, VERDICT_PASS);
    assert_int_equal(lookahead_list(lookahead, MOST, items), 0);
    lookahead_advance(lookahead, 0, VERDICT_PASS); /* nothing comes behind the end */
    assert_int_equal(lookahead_list(lookahead, MOST, items), 0);
    end(lookahead);
}

static void nothing_is_looked_at_behind_what_cannot_be_told_yet(void **state)
{
    struct description description = plain();
    struct lookahead *lookahead;
    struct lookahead_item items[MOST];

    description.hidden_from = 2;
    lookahead = begin(&description, 100);
    assert_int_equal(lookahead_list(lookahead, MOST, items), 3);
    description.hidden_from = 3;
    assert_int_equal(lookahead_list(lookahead, MOST, items), 7); /* it is asked again */
    end(lookahead);
}

static void wrong_number_of_nodes_drops_what_was_built_on_it(void **state)
{
    struct description description = plain();
    struct lookahead *lookahead;
    struct lookahead_item items[MOST];

    description.nodes = 5;
    lookahead = begin(&description, 100);
    assert_int_equal(lookahead_list(lookahead, MOST, items), MOST);
    lookahead_advance(lookahead, 7, VERDICT_FAIL);
    assert_int_equal(lookahead_list(lookahead, 1, items), 1);
    assert_int_equal(((const struct toy *)items[0].search)->nodes, 7);
    assert_int_equal(way_of(&items[0]), 3);
    end(lookahead);
}

static void listing_ends_where_everything_is_known(void **state)
{
    struct description description = plain();
    struct lookahead *lookahead;
    struct lookahead_item items[MOST];

    description.known_from = 0;
    lookahead = begin(&description, SIZE_MAX); /* a search without end, and nothing left to decide */
    assert_int_equal(lookahead_list(lookahead, 4, items), 0);
    assert_true(description.asked < 1000);
    end(lookahead);
}

static void tree_stays_small_in_a_long_search(void **state)
{
    struct description description = plain();
    struct lookahead *lookahead = begin(&description, SIZE_MAX);
    struct lookahead_item items[MOST];
    uint64_t random = 1;

    for (size_t i = 0; i < 2000; i++) {
        enum verdict verdict;

        random = random * 6364136223846793005u + 1442695040888963407u;
        verdict = random >> 63 ? VERDICT_FAIL : VERDICT_PASS;
        description.failure = i / 100 % 2 == 0 ? 0.9 : 0.1; /* so that what is likely changes */
        assert_int_equal(lookahead_list(lookahead, 8, items), 8);
        assert_int_equal(items[0].index, 10 + i);
        lookahead_learn(lookahead, items[0].identity, items[0].index, verdict);
        lookahead_advance(lookahead, 0, verdict);
    }
    assert_true(most_alive < 500);
    assert_true(description.asked < 2000 * 16);
    end(lookahead);
}

/* What was listed once is still there when more, or other checks are listed. */
static void searches_of_a_list_last_until_the_next_verdict(void **state)
{
    struct description description = plain();
    struct lookahead *lookahead = begin(&description, 100);
    struct lookahead_item items[MOST], others[MOST];

    assert_int_equal(lookahead_list(lookahead, 16, items), 16);
    for (size_t i = 0; i < 16; i++)
        assert_int_equal(lookahead_list(lookahead, 1 + 4 * i % MOST, others), 1 + 4 * i % MOST);
    for (size_t i = 0; i < 16; i++)
        assert_int_equal(((const struct toy *)items[i].search)->told, items[i].index - 10);
    end(lookahead);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(most_probable_checks_come_first),
        cmocka_unit_test(what_the_search_expects_makes_the_order),
        cmocka_unit_test(verdicts_so_far_make_the_order_when_the_search_expects_nothing),
        cmocka_unit_test(same_check_on_two_branches_is_listed_once),
        cmocka_unit_test(candidate_that_comes_again_has_the_verdict_that_it_had),
        cmocka_unit_test(verdict_that_comes_early_leaves_one_branch),
        cmocka_unit_test(verdict_on_another_iteration_is_not_taken),
        cmocka_unit_test(candidate_that_cannot_be_checked_has_a_branch_of_its_own),
        cmocka_unit_test(nothing_is_listed_when_the_search_is_over),
        cmocka_unit_test(nothing_is_looked_at_behind_what_cannot_be_told_yet),
        cmocka_unit_test(wrong_number_of_nodes_drops_what_was_built_on_it),
        cmocka_unit_test(listing_ends_where_everything_is_known),
        cmocka_unit_test(tree_stays_small_in_a_long_search),
        cmocka_unit_test(searches_of_a_list_last_until_the_next_verdict),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
