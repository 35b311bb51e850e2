/* Minimum cuts, held against all cuts that there are. */
#include "support/unit_test.h"

#include "base/memory.h"
#include "search/graph/minimum_cut.h"
#include "tensor/generate/mersenne_twister.h"

#define NODES 9
#define ARCS 20

struct plain_arc {
    uint32_t from, to;
    uint64_t capacity;
};

static uint64_t cost_of(const struct plain_arc *arcs, unsigned side)
{
    uint64_t cost = 0;

    for (size_t i = 0; i < ARCS; i++)
        cost += (side >> arcs[i].from & 1) != 0 && (side >> arcs[i].to & 1) == 0 ? arcs[i].capacity : 0;
    return cost;
}

/* The cheapest side of the source; all that are as cheap have it in common. */
static unsigned cheapest_side(const struct plain_arc *arcs)
{
    unsigned best = 1, common = 1;

    for (unsigned side = 1; side < 1U << NODES; side++) {
        if ((side & 1) == 0 || (side >> MINIMUM_CUT_SINK & 1) != 0)
            continue;
        if (cost_of(arcs, side) < cost_of(arcs, best))
            best = common = side;
        else if (cost_of(arcs, side) == cost_of(arcs, best))
            common &= side;
    }
    return common;
}

static void cuts_are_the_cheapest_and_the_smallest_of_these(void **state)
{
    struct mersenne_twister random;

    mersenne_twister_seed(&random, 7);
    for (int round = 0; round < 200; round++) {
        struct plain_arc arcs[ARCS];
        struct flow_network network;
        struct bitset side;
        unsigned expected;

        flow_network_init(&network, NODES);
        for (size_t i = 0; i < ARCS; i++) {
            arcs[i].from = mersenne_twister_next(&random) % NODES;
            arcs[i].to = mersenne_twister_next(&random) % NODES;
            arcs[i].capacity = mersenne_twister_next(&random) % 5;
            flow_network_add(&network, arcs[i].from, arcs[i].to, arcs[i].capacity);
        }
        expected = cheapest_side(arcs);
        bitset_init(&side, NODES);
        minimum_cut(&network, &side);
        for (size_t i = 0; i < NODES; i++)
            assert_int_equal(bitset_has(&side, i), expected >> i & 1);
        bitset_release(&side);
        flow_network_release(&network);
    }
}

static void what_is_endless_is_not_cut(void **state)
{
    struct flow_network network;
    struct bitset side;

    flow_network_init(&network, 4);
    flow_network_add(&network, MINIMUM_CUT_SOURCE, 2, MINIMUM_CUT_ENDLESS);
    flow_network_add(&network, 2, 3, 5);
    flow_network_add(&network, 3, 2, MINIMUM_CUT_ENDLESS);
    flow_network_add(&network, 3, MINIMUM_CUT_SINK, 4);
    bitset_init(&side, 4);
    minimum_cut(&network, &side);
    assert_true(bitset_has(&side, 2) && bitset_has(&side, 3));
    bitset_release(&side);
    flow_network_release(&network);
}

/* Source to 2, 3, sink is the shortest way, and takes what 4, 5, 3 needs: so it has to give way, by 6 and 7. Then
 * nothing but the source is on its side. */
static void what_flows_gives_way_to_what_cannot(void **state)
{
    static const uint32_t arcs[][2] = {
        {MINIMUM_CUT_SOURCE, 2}, {2, 3}, {3, MINIMUM_CUT_SINK}, {MINIMUM_CUT_SOURCE, 4}, {4, 5}, {5, 3}, {2, 6}, {6, 7},
        {7, MINIMUM_CUT_SINK}};
    struct flow_network network;
    struct bitset side;

    flow_network_init(&network, 8);
    for (size_t i = 0; i < ARRAY_LEN(arcs); i++)
        flow_network_add(&network, arcs[i][0], arcs[i][1], 1);
    bitset_init(&side, 8);
    minimum_cut(&network, &side);
    assert_true(bitset_has(&side, MINIMUM_CUT_SOURCE));
    assert_int_equal(bitset_count(&side), 1);
    bitset_release(&side);
    flow_network_release(&network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_are_the_cheapest_and_the_smallest_of_these),
        cmocka_unit_test(what_is_endless_is_not_cut),
        cmocka_unit_test(what_flows_gives_way_to_what_cannot),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
