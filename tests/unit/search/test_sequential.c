/* Tests of search/failure_rates.c, one candidate: as few runs as Wald promises, and no more errors. */
#include <math.h>
#include <stdbool.h>

#include "base/memory.h"
#include "search/failure_rates.h"
#include "support/unit_test.h"

static uint64_t random_state;

static bool happens(double probability)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(random_state >> 11) < probability * 9007199254740992.0;
}

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%g is not %g", value, expected);
}

static struct sequential_plan plan_of(double present, double absent, double false_presence)
{
    return (struct sequential_plan){present, absent, false_presence, SEQUENTIAL_FALSE_ABSENCE, 1000000};
}

/* What comes of many tests of a candidate that fails at a certain rate. */
struct outcome {
    double runs, present; /* means */
};

static struct outcome simulate(const struct sequential_plan *plan, double rate)
{
    enum { TESTS = 20000 };
    size_t runs = 0, present = 0;

    for (size_t i = 0; i < TESTS; i++) {
        struct run_counts counts = {0};
        enum sequential_state state;

        do {
            counts.runs++;
            counts.fails += happens(rate) ? 1 : 0;
            state = sequential_judge(plan, counts);
        } while (state == SEQUENTIAL_OPEN);
        runs += counts.runs;
        present += state == SEQUENTIAL_PRESENT ? 1 : 0;
    }
    return (struct outcome){(double)runs / TESTS, (double)present / TESTS};
}

static void expected_numbers_of_runs_are_as_computed(void **state)
{
    static const struct {
        double present, absent, false_presence;
        double runs_if_present, runs_if_absent;
    } cases[] = {
        {0.99, 0.01, 0.01, 1.0, 1.0},   {0.9, 0.1, 0.01, 3.7, 2.5},    {0.8, 0.05, 0.01, 2.9, 2.3},
        {0.5, 0.02, 0.01, 4.5, 5.7},    {0.5, 0.1, 0.01, 9.7, 9.0},    {0.3, 0, 0.01, 3.2, 9.0},
        {0.2, 0.01, 0.01, 12.4, 17.4},  {0.99, 0.01, 0.001, 2.0, 1.0}, {0.9, 0.1, 0.001, 4.9, 2.5},
        {0.8, 0.05, 0.001, 4.3, 2.4},   {0.5, 0.02, 0.001, 6.3, 5.7},  {0.5, 0.1, 0.001, 14.0, 9.1},
        {0.2, 0.01, 0.001, 17.8, 17.6},
    };

    random_state = 3;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct sequential_plan plan = plan_of(cases[i].present, cases[i].absent, cases[i].false_presence);
        struct outcome with = simulate(&plan, cases[i].present), without = simulate(&plan, cases[i].absent);

        print_message("%g %g %g: %.2f %.2f\n", plan.present, plan.absent, plan.false_presence, with.runs, without.runs);
        assert_near(with.runs, cases[i].runs_if_present, 0.05 + 0.02 * with.runs);
        assert_near(without.runs, cases[i].runs_if_absent, 0.05 + 0.02 * without.runs);
    }
}

static void errors_are_no_more_frequent_than_asked_for(void **state)
{
    static const struct {
        double present, absent;
    } cases[] = {{0.9, 0.1}, {0.8, 0.05}, {0.5, 0.1}, {0.3, 0}, {0.2, 0.01}};

    random_state = 4;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct sequential_plan plan = plan_of(cases[i].present, cases[i].absent, 0.01);

        /* Wald's bounds hold for both errors together; three standard deviations of 20000 tests go on top. */
        assert_true(1 - simulate(&plan, plan.present).present <= 0.05 + 0.005);
        assert_true(simulate(&plan, plan.absent).present <= 0.0106 + 0.003);
    }
}

static void single_failure_decides_when_there_are_no_false_ones(void **state)
{
    struct sequential_plan plan = plan_of(0.3, 0, SEQUENTIAL_FALSE_PRESENCE);

    assert_int_equal(sequential_judge(&plan, (struct run_counts){1, 1}), SEQUENTIAL_PRESENT);
    assert_int_equal(sequential_judge(&plan, (struct run_counts){8, 1}), SEQUENTIAL_PRESENT);
    assert_int_equal(sequential_judge(&plan, (struct run_counts){8, 0}), SEQUENTIAL_OPEN);
    assert_int_equal(sequential_judge(&plan, (struct run_counts){9, 0}), SEQUENTIAL_ABSENT);
}

static void test_gives_up_after_the_most_runs(void **state)
{
    struct sequential_plan plan = plan_of(0.5, 0.4, SEQUENTIAL_FALSE_PRESENCE);

    plan.most_runs = 10;
    assert_int_equal(sequential_judge(&plan, (struct run_counts){9, 4}), SEQUENTIAL_OPEN);
    assert_int_equal(sequential_judge(&plan, (struct run_counts){10, 4}), SEQUENTIAL_UNDECIDED);
}

/* The values are those of R's binom.confint(method = "wilson"). */
static void intervals_are_wilsons(void **state)
{
    struct rate_interval interval = rate_interval((struct run_counts){10, 8}, QUANTILE_OF_95_PERCENT);

    assert_near(interval.low, 0.4901625, 1e-6);
    assert_near(interval.high, 0.9433178, 1e-6);
    interval = rate_interval((struct run_counts){20, 0}, QUANTILE_OF_95_PERCENT);
    assert_near(interval.low, 0, 0);
    assert_near(interval.high, 0.1611252, 1e-6);
    interval = rate_interval((struct run_counts){5, 5}, QUANTILE_OF_80_PERCENT);
    assert_near(interval.low, 0.7527424, 1e-4);
    assert_near(interval.high, 1, 0);
    interval = rate_interval((struct run_counts){0, 0}, QUANTILE_OF_95_PERCENT);
    assert_near(interval.low, 0, 0);
    assert_near(interval.high, 1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expected_numbers_of_runs_are_as_computed),
        cmocka_unit_test(errors_are_no_more_frequent_than_asked_for),
        cmocka_unit_test(single_failure_decides_when_there_are_no_false_ones),
        cmocka_unit_test(test_gives_up_after_the_most_runs),
        cmocka_unit_test(intervals_are_wilsons),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
