/* Ranking suspects: small tables by hand, and simulated builds with a known culprit. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "blame/blame.h"
#include "support/unit_test.h"

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.15g is not %.15g", value, expected);
}

/* One column, "+" for each build that has the tactic. */
static void add(struct blame_table *table, size_t layer, const char *builds)
{
    struct bitset *set = blame_table_add(table, layer);

    assert_int_equal(strlen(builds), table->failed.size);
    for (size_t i = 0; builds[i]; i++)
        if (builds[i] == '+')
            bitset_add(set, i);
}

/* "F" for each build that failed. */
static void start(struct blame_table *table, const char *verdicts)
{
    blame_table_init(table, strlen(verdicts));
    for (size_t i = 0; verdicts[i]; i++)
        if (verdicts[i] == 'F')
            bitset_add(&table->failed, i);
}

/* ---- By hand ---- */

static void table_counts_the_four_kinds_of_builds(void **state)
{
    struct blame_table table;
    struct association association;

    start(&table, "FFFPPPPPPP");
    add(&table, 0, "++.++++...");
    association = blame_table_association(&table, 0);
    assert_int_equal(association.failed_with, 2);
    assert_int_equal(association.passed_with, 4);
    assert_int_equal(association.failed_without, 1);
    assert_int_equal(association.passed_without, 3);
    blame_table_release(&table);
}

/* B(5/2,1/2) B(1/2,7/2) / pi^2 = 30/256 against B(5/2,7/2) / pi = 3/256: the tactic is ten times as probable as none
 * at all, and the other two varying tactics did no harm. */
static void probabilities_follow_bayes_rule(void **state)
{
    struct blame_table table;
    struct blame blame;

    start(&table, "FFPPP");
    add(&table, 0, "++...");
    add(&table, 0, "..+++");
    add(&table, 1, "+++++");
    add(&table, 2, "....+");
    blame_rank(&blame, &table);
    assert_int_equal(blame.count, 1);
    assert_int_equal(blame.varying_count, 3);
    assert_int_equal(blame.distinct_count, 3);
    assert_int_equal(blame.layer_count, 3);
    assert_int_equal(blame.fixed_layer_count, 1);
    assert_int_equal(blame.items[0].columns[0], 0);
    assert_near(blame.items[0].probability, 10.0 / 3 / (10.0 / 3 + 1), 1e-12);
    assert_near(blame.no_culprit, 1 / (10.0 / 3 + 1), 1e-12);
    assert_near(blame.items[0].fisher, 0.1, 1e-12);
    assert_near(blame.items[0].holm, 0.3, 1e-12);
    assert_near(blame.items[0].ochiai, 1, 1e-12);
    assert_near(blame.items[0].difference.value, 1, 1e-12);
    blame_release(&blame);
    blame_table_release(&table);
}

static void tactics_that_always_occurred_together_are_one_suspect(void **state)
{
    struct blame_table table;
    struct blame blame;

    start(&table, "FFPPP");
    add(&table, 0, "+..++");
    add(&table, 0, "++...");
    add(&table, 1, ".++..");
    add(&table, 2, "++...");
    blame_rank(&blame, &table);
    assert_int_equal(blame.varying_count, 4);
    assert_int_equal(blame.distinct_count, 3);
    assert_int_equal(blame.items[0].column_count, 2);
    assert_int_equal(blame.items[0].columns[0], 1);
    assert_int_equal(blame.items[0].columns[1], 3);
    /* Each of the four has 1/8 beforehand; the third has B(3/2,3/2) B(3/2,5/2) / pi^2 = 2/256. */
    assert_near(blame.items[0].probability, 60.0 / (60 + 2 + 12), 1e-12);
    assert_near(blame.items[1].probability, 2.0 / (60 + 2 + 12), 1e-12);
    assert_near(blame.no_culprit, 12.0 / (60 + 2 + 12), 1e-12);
    assert_int_equal(blame.count, 2);
    blame_release(&blame);
    blame_table_release(&table);
}

/* p-values of 0.1, 0.4 and 0.7 count three, two and one times, which would make 0.7 smaller than 0.8. */
static void holms_correction_counts_distinct_columns_and_never_shrinks(void **state)
{
    struct blame_table table;
    struct blame blame;

    start(&table, "FFPPP");
    add(&table, 0, "++...");
    add(&table, 1, "+....");
    add(&table, 2, "+.+..");
    add(&table, 3, "+.+..");
    blame_rank(&blame, &table);
    assert_int_equal(blame.count, 3);
    for (size_t i = 0; i < blame.count; i++) {
        const struct blame_suspect *suspect = &blame.items[i];
        const double fisher[] = {0.1, 0.4, 0.7}, holm[] = {0.3, 0.8, 0.8};

        assert_near(suspect->fisher, fisher[suspect->columns[0]], 1e-12);
        assert_near(suspect->holm, holm[suspect->columns[0]], 1e-12);
    }
    blame_release(&blame);
    blame_table_release(&table);
}

static void equal_evidence_keeps_the_order_of_the_table(void **state)
{
    struct blame_table table;
    struct blame blame;

    start(&table, "FFPP");
    add(&table, 0, ".+..");
    add(&table, 1, "+...");
    blame_rank(&blame, &table);
    assert_true(blame.items[0].probability == blame.items[1].probability);
    assert_int_equal(blame.items[0].columns[0], 0);
    blame_release(&blame);
    blame_table_release(&table);
}

static void one_good_build_with_the_culprit_does_not_clear_it(void **state)
{
    struct blame_table table;
    struct blame blame;

    start(&table, "FFFFFFPPPPPPPPP");
    add(&table, 0, "++++++........+");
    add(&table, 1, "+++...+++......");
    blame_rank(&blame, &table);
    assert_int_equal(blame.items[0].columns[0], 0);
    assert_true(blame.items[0].probability > 0.9);
    blame_release(&blame);
    blame_table_release(&table);
}

static void without_variation_there_is_no_suspect(void **state)
{
    struct blame_table table;
    struct blame blame;

    start(&table, "FP");
    add(&table, 0, "++");
    add(&table, 1, "++");
    blame_rank(&blame, &table);
    assert_int_equal(blame.count, 0);
    assert_int_equal(blame.fixed_layer_count, 2);
    assert_true(blame.no_culprit == 1);
    assert_int_equal(blame.more_builds, -1);
    blame_release(&blame);
    blame_table_release(&table);
}

static void without_verdicts_of_both_kinds_there_is_no_suspect(void **state)
{
    static const char *const verdicts[] = {"FF", "PP", ""};
    struct blame_table table;
    struct blame blame;

    for (size_t i = 0; i < ARRAY_LEN(verdicts); i++) {
        start(&table, verdicts[i]);
        if (verdicts[i][0])
            add(&table, 0, "+.");
        blame_rank(&blame, &table);
        assert_int_equal(blame.count, 0);
        assert_true(blame.no_culprit == 1);
        blame_release(&blame);
        blame_table_release(&table);
    }
}

/* ---- Builds still needed ---- */

static void settled_question_needs_no_more_builds(void **state)
{
    struct blame_table table;
    struct blame blame;

    start(&table, "FFFFFFFFFFPPPPPPPPPP");
    add(&table, 0, "++++++++++..........");
    blame_rank(&blame, &table);
    assert_true(blame.items[0].probability > 0.95);
    assert_int_equal(blame.more_builds, 0);
    blame_release(&blame);

    /* But of two that always occurred together one is innocent. */
    add(&table, 1, "++++++++++..........");
    blame_rank(&blame, &table);
    assert_true(blame.items[0].probability > 0.95);
    assert_true(blame.more_builds > 0);
    blame_release(&blame);
    blame_table_release(&table);
}

static void estimate_of_more_builds_is_the_documented_formula(void **state)
{
    struct blame_table table;
    struct blame blame;
    struct association association;

    start(&table, "FFPPP");
    add(&table, 0, "++...");
    add(&table, 1, "++...");
    add(&table, 2, ".+.+.");
    blame_rank(&blame, &table);
    association = blame_table_association(&table, 0);
    double p = blame.items[0].probability / 2;
    double builds = (log(0.95 / 0.05) - log(p / (1 - p))) / association_information(&association);
    assert_int_equal(blame.more_builds, (long)ceil(builds));
    blame_release(&blame);
    blame_table_release(&table);
}

static void hopeless_data_give_no_estimate(void **state)
{
    struct blame_table table;
    struct blame blame;
    char verdicts[102] = "F", builds[102] = "+";

    memset(verdicts + 1, 'F', 99);
    verdicts[100] = 'P';
    memset(builds + 1, '.', 100);
    start(&table, verdicts);
    add(&table, 0, builds);
    blame_rank(&blame, &table);
    assert_int_equal(blame.count, 1);
    assert_int_equal(blame.more_builds, -1);
    blame_release(&blame);
    blame_table_release(&table);
}

/* ---- Simulated builds ---- */

#define LAYERS 40
#define TACTICS 4 /* of each layer, chosen by lot */
#define CASES 200 /* for each point */
#define MOST_BUILDS 160

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

/* How builds with the guilty tactic, and the others, fail. */
struct world {
    double with, without;
};

static const struct world deterministic = {1, 0}, flaky = {0.6, 0}, noisy = {0.9, 0.1}, innocent = {0.3, 0.3};

struct experiment {
    uint8_t tactics[LAYERS][MOST_BUILDS];
    bool failed[MOST_BUILDS];
};

/* The guilty one is the first tactic of the first layer, hence column 0. */
static void build_many(struct experiment *experiment, const struct world *world)
{
    for (size_t build = 0; build < MOST_BUILDS; build++) {
        for (size_t layer = 0; layer < LAYERS; layer++)
            experiment->tactics[layer][build] = (uint8_t)(random_bits() % TACTICS);
        experiment->failed[build] = happens(experiment->tactics[0][build] == 0 ? world->with : world->without);
    }
}

/* The table of the first builds. */
static void tabulate(const struct experiment *experiment, size_t builds, struct blame_table *ret)
{
    blame_table_init(ret, builds);
    for (size_t build = 0; build < builds; build++)
        if (experiment->failed[build])
            bitset_add(&ret->failed, build);
    for (size_t layer = 0; layer < LAYERS; layer++)
        for (unsigned tactic = 0; tactic < TACTICS; tactic++) {
            struct bitset *set = blame_table_add(ret, layer);

            for (size_t build = 0; build < builds; build++)
                if (experiment->tactics[layer][build] == tactic)
                    bitset_add(set, build);
        }
}

/* The probability of the guilty tactic alone; 0 when it is no suspect. */
static double probability_of_culprit(const struct blame *blame)
{
    for (size_t i = 0; i < blame->count; i++)
        if (blame->items[i].columns[0] == 0)
            return blame->items[i].probability / (double)blame->items[i].column_count;
    return 0;
}

/* Whether the set difference finds the culprit: seen in bad builds and in no good one, in more bad ones than others. */
static bool difference_finds_culprit(const struct blame_table *table)
{
    size_t best = 0, winner = 0;

    for (size_t i = 0; i < table->count; i++) {
        struct association association = blame_table_association(table, i);

        if (association.passed_with == 0 && association.failed_with >= best) {
            winner = association.failed_with > best ? i : SIZE_MAX; /* a tie helps nobody */
            best = association.failed_with;
        }
    }
    return best > 0 && winner == 0;
}

/* Shares of the cases. */
struct score {
    double first, difference, sure, sure_and_right;
};

static struct score simulate(const struct world *world, size_t builds)
{
    static struct experiment experiment;
    size_t first = 0, difference = 0, sure = 0, right = 0;

    random_state = 20240607;
    for (int i = 0; i < CASES; i++) {
        struct blame_table table;
        struct blame blame;

        build_many(&experiment, world);
        tabulate(&experiment, builds, &table);
        blame_rank(&blame, &table);
        bool found = blame.count > 0 && blame.items[0].columns[0] == 0 && blame.items[0].column_count == 1 &&
                     (blame.count == 1 || blame.items[1].probability < blame.items[0].probability);
        first += found;
        difference += difference_finds_culprit(&table);
        if (blame.count > 0 && blame.items[0].probability / (double)blame.items[0].column_count > 0.9) {
            sure++;
            right += found;
        }
        blame_release(&blame);
        blame_table_release(&table);
    }
    return (struct score){(double)first / CASES, (double)difference / CASES, (double)sure / CASES,
                          sure > 0 ? (double)right / (double)sure : 1};
}

static void without_noise_the_ranking_finds_what_the_set_difference_finds(void **state)
{
    struct score ten = simulate(&deterministic, 10), twenty = simulate(&deterministic, 20);
    struct score forty = simulate(&deterministic, 40);

    assert_true(ten.first >= ten.difference - 0.02 && ten.first < 0.9);
    assert_true(twenty.first > ten.first && twenty.first > 0.9);
    assert_true(forty.first == 1 && forty.difference > 0.95);
}

static void with_noise_more_builds_help_the_ranking_and_ruin_the_set_difference(void **state)
{
    const struct world *worlds[] = {&flaky, &noisy};

    for (size_t i = 0; i < ARRAY_LEN(worlds); i++) {
        struct score twenty = simulate(worlds[i], 20), forty = simulate(worlds[i], 40);
        struct score eighty = simulate(worlds[i], 80);

        assert_true(twenty.first > 0.4 && twenty.first < forty.first);
        assert_true(forty.first > 0.85 && forty.first <= eighty.first);
        assert_true(eighty.first > 0.97);
        assert_true(eighty.difference < twenty.difference);
        assert_true(forty.first > forty.difference + 0.4);
        assert_true(eighty.first > eighty.difference + 0.7);
    }
}

static void whoever_is_nearly_sure_is_right(void **state)
{
    const struct world *worlds[] = {&deterministic, &flaky, &noisy};

    for (size_t i = 0; i < ARRAY_LEN(worlds); i++)
        for (size_t builds = 10; builds <= 80; builds *= 2)
            assert_true(simulate(worlds[i], builds).sure_and_right > 0.98);
    assert_true(simulate(&noisy, 10).sure < 0.02);
    assert_true(simulate(&noisy, 80).sure > 0.9);
}

static void innocent_tactics_are_not_convicted(void **state)
{
    assert_true(simulate(&innocent, 20).sure <= 0.01);
    assert_true(simulate(&innocent, 80).sure <= 0.02);
}

/* Builds on by as many as the estimate says, wherever the culprit leads after 20 builds. */
static void estimate_of_more_builds_is_about_right(void **state)
{
    static struct experiment experiment;
    size_t estimates = 0, enough = 0, twice_enough = 0;

    random_state = 7;
    for (int i = 0; i < CASES; i++) {
        struct blame_table table;
        struct blame blame;

        build_many(&experiment, &noisy);
        tabulate(&experiment, 20, &table);
        blame_rank(&blame, &table);
        long more = blame.count > 0 && blame.items[0].columns[0] == 0 ? blame.more_builds : 0;
        blame_release(&blame);
        blame_table_release(&table);
        for (long factor = 1; factor <= 2 && more > 0 && 20 + 2 * more <= MOST_BUILDS; factor++) {
            tabulate(&experiment, (size_t)(20 + factor * more), &table);
            blame_rank(&blame, &table);
            bool settled = probability_of_culprit(&blame) > 0.95;
            estimates += factor == 1;
            enough += factor == 1 && settled;
            twice_enough += factor == 2 && settled;
            blame_release(&blame);
            blame_table_release(&table);
        }
    }
    assert_true(estimates > CASES / 3);
    assert_in_range(enough, estimates / 3, estimates * 9 / 10);
    assert_true(twice_enough > estimates * 4 / 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_counts_the_four_kinds_of_builds),
        cmocka_unit_test(probabilities_follow_bayes_rule),
        cmocka_unit_test(tactics_that_always_occurred_together_are_one_suspect),
        cmocka_unit_test(holms_correction_counts_distinct_columns_and_never_shrinks),
        cmocka_unit_test(equal_evidence_keeps_the_order_of_the_table),
        cmocka_unit_test(one_good_build_with_the_culprit_does_not_clear_it),
        cmocka_unit_test(without_variation_there_is_no_suspect),
        cmocka_unit_test(without_verdicts_of_both_kinds_there_is_no_suspect),
        cmocka_unit_test(settled_question_needs_no_more_builds),
        cmocka_unit_test(estimate_of_more_builds_is_the_documented_formula),
        cmocka_unit_test(hopeless_data_give_no_estimate),
        cmocka_unit_test(without_noise_the_ranking_finds_what_the_set_difference_finds),
        cmocka_unit_test(with_noise_more_builds_help_the_ranking_and_ruin_the_set_difference),
        cmocka_unit_test(whoever_is_nearly_sure_is_right),
        cmocka_unit_test(innocent_tactics_are_not_convicted),
        cmocka_unit_test(estimate_of_more_builds_is_about_right),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
