/* Kernels that several layers use: the ranking of simulated builds with a known culprit. */
#include <math.h>

#include "base/memory.h"
#include "blame/blame.h"
#include "support/unit_test.h"

#define LAYERS 40
#define TACTICS 4 /* of each layer */
#define CASES 200
#define MOST_BUILDS 80

static uint64_t random_state;

/* splitmix64 */
static uint64_t random_bits(void)
{
    uint64_t bits = random_state += 0x9E3779B97F4A7C15u;

    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EBu;
    return bits ^ bits >> 31;
}

static bool happens(double probability)
{
    return (double)(random_bits() >> 11) * 0x1p-53 < probability;
}

/* Layers are of several kinds, in turns; those of a kind choose among the same kernels. The culprit is the first tactic
 * of the first layer, or its kernel, wherever it is used. */
enum culprit { NOBODY, A_TACTIC, A_KERNEL };

struct world {
    enum culprit culprit;
    size_t kinds;
    double with, without; /* how often builds with the culprit fail, and others */
    bool avoiding;        /* in every other build each kernel is avoided with probability 1/2 */
};

struct experiment {
    uint8_t tactics[MOST_BUILDS][LAYERS];
    bool failed[MOST_BUILDS];
};

static bool is_guilty(const struct world *world, const uint8_t *tactics)
{
    if (world->culprit == A_TACTIC)
        return tactics[0] == 0;
    for (size_t layer = 0; world->culprit == A_KERNEL && layer < LAYERS; layer += world->kinds)
        if (tactics[layer] == 0)
            return true;
    return false;
}

/* One of the tactics, of those that are not avoided if there are any. */
static uint8_t draw(unsigned avoided)
{
    uint8_t tactic;

    do
        tactic = (uint8_t)(random_bits() % TACTICS);
    while (avoided != (1 << TACTICS) - 1 && (avoided & 1u << tactic) != 0);
    return tactic;
}

static void build_many(const struct world *world, struct experiment *ret)
{
    for (size_t build = 0; build < MOST_BUILDS; build++) {
        unsigned avoided[LAYERS] = {0};

        for (size_t kind = 0; kind < world->kinds; kind++)
            avoided[kind] = world->avoiding && build % 2 == 1 ? (unsigned)(random_bits() % (1 << TACTICS)) : 0;
        for (size_t layer = 0; layer < LAYERS; layer++)
            ret->tactics[build][layer] = draw(avoided[layer % world->kinds]);
        ret->failed[build] = happens(is_guilty(world, ret->tactics[build]) ? world->with : world->without);
    }
}

static void tabulate(const struct world *world, const struct experiment *experiment, size_t builds,
                     struct blame_table *ret)
{
    blame_table_init(ret, builds);
    for (size_t build = 0; build < builds; build++)
        if (experiment->failed[build])
            bitset_add(&ret->failed, build);
    for (size_t layer = 0; layer < LAYERS; layer++)
        for (size_t tactic = 0; tactic < TACTICS; tactic++) {
            struct bitset *set = blame_table_add(ret, layer);

            for (size_t build = 0; build < builds; build++)
                if (experiment->tactics[build][layer] == tactic)
                    bitset_add(set, build);
        }
    for (size_t kind = 0; kind < world->kinds; kind++)
        for (size_t tactic = 0; tactic < TACTICS; tactic++) {
            struct bitset *set = blame_table_add(ret, BLAME_POOL);

            for (size_t layer = kind; layer < LAYERS; layer += world->kinds)
                bitset_unite(set, &ret->items[layer * TACTICS + tactic].builds);
        }
}

struct score {
    double first, sure, right; /* shares: the culprit is first; something is above 90 %; of these, the culprit */
};

static struct score simulate(struct world world, size_t builds)
{
    static struct experiment experiment;
    size_t culprit = world.culprit == A_KERNEL ? LAYERS * TACTICS : world.culprit == A_TACTIC ? 0 : SIZE_MAX;
    size_t first = 0, sure = 0, right = 0;

    random_state = 20250607;
    for (int i = 0; i < CASES; i++) {
        struct blame_table table;
        struct blame blame;

        build_many(&world, &experiment);
        tabulate(&world, &experiment, builds, &table);
        blame_rank(&blame, &table);
        bool found = blame.count > 0 && blame.items[0].columns[0] == culprit;
        first += found;
        if (blame.count > 0 && blame.items[0].probability > 0.9) {
            sure++;
            right += found;
        }
        blame_release(&blame);
        blame_table_release(&table);
    }
    return (struct score){(double)first / CASES, (double)sure / CASES, sure > 0 ? (double)right / (double)sure : 1};
}

/* ---- By hand ---- */

static void add(struct blame_table *table, size_t layer, const char *builds)
{
    struct bitset *set = blame_table_add(table, layer);

    for (size_t i = 0; builds[i]; i++)
        if (builds[i] == '+')
            bitset_add(set, i);
}

/* "++..." has B(5/2,1/2) B(1/2,7/2) / pi^2 = 30/256, "+...." and ".+..." have 5/256 each, "none" 3/256. Four tactics
 * vary, and one pool. */
static void half_of_the_prior_is_shared_by_pools(void **state)
{
    const double pool = 0.25 * 30 / 256, none = 0.5 * 3 / 256, single = 0.25 / 4 * 5 / 256;
    const double sum = pool + none + 2 * single;
    struct blame_table table;
    struct blame blame;

    blame_table_init(&table, 5);
    bitset_add(&table.failed, 0);
    bitset_add(&table.failed, 1);
    add(&table, 0, "+....");
    add(&table, 0, ".++++");
    add(&table, 1, ".+...");
    add(&table, 1, "+.+++");
    add(&table, BLAME_POOL, "++...");
    add(&table, BLAME_POOL, "+++++");
    blame_rank(&blame, &table);
    assert_int_equal(blame.varying_count, 4);
    assert_int_equal(blame.pool_count, 1);
    assert_int_equal(blame.layer_count, 2);
    assert_int_equal(blame.count, 3);
    assert_int_equal(blame.items[0].columns[0], 4);
    assert_true(fabs(blame.items[0].probability - pool / sum) < 1e-12);
    assert_true(fabs(blame.no_culprit - none / sum) < 1e-12);
    blame_release(&blame);
    blame_table_release(&table);
}

/* A kernel that varies in one of its layers only, or that all of them have together: no build can tell. */
static void a_pool_and_a_tactic_with_the_same_builds_are_one_suspect(void **state)
{
    struct blame_table table;
    struct blame blame;

    blame_table_init(&table, 5);
    bitset_add(&table.failed, 0);
    bitset_add(&table.failed, 1);
    add(&table, 0, "++...");
    add(&table, 1, "++...");
    add(&table, BLAME_POOL, "++...");
    blame_rank(&blame, &table);
    assert_int_equal(blame.count, 1);
    assert_int_equal(blame.items[0].column_count, 3);
    assert_int_equal(blame.items[0].columns[2], 2);
    assert_true(fabs(blame.items[0].probability - 10.0 / 11) < 1e-12);
    blame_release(&blame);
    blame_table_release(&table);
}

/* ---- Simulated builds ---- */

static void a_kernel_at_fault_in_five_layers_is_found(void **state)
{
    const struct world always = {.culprit = A_KERNEL, .kinds = 8, .with = 1};
    const struct world noisy = {.culprit = A_KERNEL, .kinds = 8, .with = 0.9, .without = 0.1};
    struct score twenty = simulate(always, 20);

    assert_true(simulate(always, 10).first > 0.85);
    assert_true(twenty.first > 0.95 && twenty.sure > 0.8 && twenty.right > 0.98);
    assert_true(simulate(noisy, 40).first > 0.95);
    assert_true(simulate(noisy, 40).right > 0.98);
}

static void a_tactic_at_fault_in_one_layer_is_told_from_its_kernel(void **state)
{
    const struct world always = {.culprit = A_TACTIC, .kinds = 8, .with = 1};
    const struct world noisy = {.culprit = A_TACTIC, .kinds = 8, .with = 0.9, .without = 0.1};

    assert_true(simulate(always, 20).first > 0.95);
    assert_true(simulate(always, 20).right > 0.98);
    assert_true(simulate(noisy, 40).first > 0.9);
    assert_true(simulate(noisy, 40).right > 0.98);
}

/* With so many layers nearly every build has the kernel somewhere. Nobody innocent is convicted, and builds in which
 * kernels are avoided find it. */
static void a_kernel_at_fault_in_twenty_layers_takes_builds_that_avoid_it(void **state)
{
    struct world world = {.culprit = A_KERNEL, .kinds = 2, .with = 1};

    assert_true(simulate(world, 40).first < 0.3);
    assert_true(simulate(world, 40).right > 0.98);
    world.avoiding = true;
    assert_true(simulate(world, 20).first > 0.95);
    assert_true(simulate(world, 40).sure > 0.95);
    assert_true(simulate(world, 40).right > 0.98);
}

static void innocent_kernels_are_not_convicted(void **state)
{
    struct world world = {.kinds = 8, .with = 0.3, .without = 0.3};

    assert_true(simulate(world, 20).sure <= 0.01);
    assert_true(simulate(world, 80).sure <= 0.02);
    world.avoiding = true;
    assert_true(simulate(world, 80).sure <= 0.02);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_of_the_prior_is_shared_by_pools),
        cmocka_unit_test(a_pool_and_a_tactic_with_the_same_builds_are_one_suspect),
        cmocka_unit_test(a_kernel_at_fault_in_five_layers_is_found),
        cmocka_unit_test(a_tactic_at_fault_in_one_layer_is_told_from_its_kernel),
        cmocka_unit_test(a_kernel_at_fault_in_twenty_layers_takes_builds_that_avoid_it),
        cmocka_unit_test(innocent_kernels_are_not_convicted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
