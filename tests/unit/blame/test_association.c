/* Two-by-two tables, against values worked out by hand, by enumeration and by numerical integration. */
#include <math.h>

#include "base/memory.h"
#include "blame/association.h"
#include "support/unit_test.h"

#define PI 3.14159265358979323846

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.15g is not %.15g", value, expected);
}

/* Calls `test` for every table with 1 to `most` builds. */
static void for_each_table(size_t most, void (*test)(const struct association *association))
{
    for (size_t a = 0; a <= most; a++)
        for (size_t b = 0; a + b <= most; b++)
            for (size_t c = 0; a + b + c <= most; c++)
                for (size_t d = a + b + c == 0; a + b + c + d <= most; d++)
                    test(&(struct association){a, b, c, d});
}

/* The integral of p^failed (1-p)^passed over the prior Beta(1/2, 1/2), with p = sin(x)^2. What is integrated has a
 * period of pi, so that the midpoint rule is exact as soon as there are more points than builds. */
static double integrated_evidence(size_t failed, size_t passed)
{
    const int points = 200;
    double sum = 0;

    for (int i = 0; i < points; i++) {
        double x = (i + 0.5) * PI / points;

        sum += pow(sin(x), 2 * (double)failed) * pow(cos(x), 2 * (double)passed);
    }
    return sum / points;
}

static void assert_evidence_is_the_integral(const struct association *a)
{
    double expected =
        integrated_evidence(a->failed_with, a->passed_with) * integrated_evidence(a->failed_without, a->passed_without);

    assert_near(exp(association_log_evidence(a)) / expected, 1, 1e-10);
}

static void evidence_is_the_integral_over_all_rates(void **state)
{
    for_each_table(12, assert_evidence_is_the_integral);
    assert_near(exp(association_log_evidence_of_none(60, 40)) / integrated_evidence(60, 40), 1, 1e-9);
}

static void evidence_of_small_tables_is_what_it_is_on_paper(void **state)
{
    /* B(5/2, 1/2) / pi = 3/8, B(1/2, 7/2) / pi = 5/16, B(5/2, 7/2) / pi = 3/256 */
    assert_near(association_log_evidence(&(struct association){2, 0, 0, 3}), log(15.0 / 128), 1e-12);
    assert_near(association_log_evidence_of_none(2, 3), log(3.0 / 256), 1e-12);
    assert_near(association_log_evidence_of_none(0, 0), 0, 1e-12);
}

/* Deals the tactic out to the builds in all ways; the first builds are those that failed. */
static void assert_fisher_is_enumerated(const struct association *a)
{
    unsigned failed = (unsigned)(a->failed_with + a->failed_without);
    unsigned builds = failed + (unsigned)(a->passed_with + a->passed_without);
    unsigned all = 0, extreme = 0;

    for (unsigned hand = 0; hand < 1u << builds; hand++) {
        if ((size_t)__builtin_popcount(hand) != a->failed_with + a->passed_with)
            continue;
        all++;
        extreme += (size_t)__builtin_popcount(hand & ((1u << failed) - 1)) >= a->failed_with;
    }
    assert_near(association_fisher(a), (double)extreme / all, 1e-12);
}

static void fishers_test_counts_all_ways_to_deal(void **state)
{
    for_each_table(9, assert_fisher_is_enumerated);
}

static void fishers_test_is_that_of_the_tea_tasting_lady(void **state)
{
    assert_near(association_fisher(&(struct association){3, 1, 1, 3}), 17.0 / 70, 1e-12);
    assert_near(association_fisher(&(struct association){4, 0, 0, 4}), 1.0 / 70, 1e-12);
}

static void fishers_test_takes_many_builds(void **state)
{
    double p = association_fisher(&(struct association){3000, 1000, 1000, 3000});

    assert_true(p >= 0 && p < 1e-300);
    p = association_fisher(&(struct association){1000, 1000, 1000, 1000});
    assert_true(p > 0.5 && p < 0.52);
    assert_true(association_fisher(&(struct association){0, 4000, 4000, 0}) == 1);
}

static void ochiai_is_a_cosine(void **state)
{
    assert_near(association_ochiai(&(struct association){2, 0, 0, 3}), 1, 0);
    assert_near(association_ochiai(&(struct association){0, 2, 3, 0}), 0, 0);
    assert_near(association_ochiai(&(struct association){0, 0, 0, 3}), 0, 0);
    assert_near(association_ochiai(&(struct association){1, 3, 0, 9}), 0.5, 1e-15);
    assert_near(association_ochiai(&(struct association){3, 1, 6, 2}), 0.5, 1e-15);
}

static void association_is_positive_when_more_builds_fail_with_than_without(void **state)
{
    assert_true(association_is_positive(&(struct association){2, 1, 1, 1}));
    assert_false(association_is_positive(&(struct association){1, 1, 2, 2}));
    assert_false(association_is_positive(&(struct association){1, 2, 1, 1}));
    assert_false(association_is_positive(&(struct association){1, 1, 0, 0}));
    assert_false(association_is_positive(&(struct association){0, 0, 1, 1}));
}

/* The limits solve (rate - limit)^2 = z^2 limit (1 - limit) / n. */
static void wilsons_interval_solves_its_equation(void **state)
{
    double square = 1.959963984540054 * 1.959963984540054;

    for (size_t total = 1; total <= 30; total++)
        for (size_t failed = 0; failed <= total; failed++) {
            struct estimate estimate = failure_rate(failed, total);
            double n = (double)total, rate = (double)failed / n;

            assert_near(estimate.value, rate, 0);
            assert_true(0 <= estimate.low && estimate.low <= rate && rate <= estimate.high && estimate.high <= 1);
            assert_near(pow(rate - estimate.low, 2), square * estimate.low * (1 - estimate.low) / n, 1e-12);
            assert_near(pow(rate - estimate.high, 2), square * estimate.high * (1 - estimate.high) / n, 1e-12);
            assert_true(estimate.low < estimate.high);
        }
    assert_true(failure_rate(0, 0).low == 0 && failure_rate(0, 0).high == 1);
}

/* Newcombe (1998), table II: the rows 56/70 against 48/80 and 10/10 against 0/20, method 10. */
static void interval_of_the_difference_is_newcombes(void **state)
{
    struct estimate estimate = association_difference(&(struct association){56, 14, 48, 32});

    assert_near(estimate.value, 0.2, 1e-12);
    assert_near(estimate.low, 0.0524, 5e-5);
    assert_near(estimate.high, 0.3339, 5e-5);
    estimate = association_difference(&(struct association){10, 0, 0, 20});
    assert_near(estimate.value, 1, 1e-12);
    assert_near(estimate.low, 0.6791, 5e-5);
    assert_near(estimate.high, 1, 1e-12);
}

/* The information that a build gives is the expected log likelihood ratio of "its own rate with and without" against
 * "one rate for all": here averaged over the four kinds of builds. */
static void information_is_the_expected_shift_of_the_log_odds(void **state)
{
    const struct association association = {6, 1, 2, 8};
    double with = 6.5 / 8, without = 2.5 / 11, share = 7.5 / 18;
    double all = share * with + (1 - share) * without;
    double expected = share * with * log(with / all) + share * (1 - with) * log((1 - with) / (1 - all)) +
                      (1 - share) * without * log(without / all) +
                      (1 - share) * (1 - without) * log((1 - without) / (1 - all));

    assert_near(association_information(&association), expected, 1e-15);
    assert_true(expected > 0.1);
}

static void builds_that_do_not_differ_give_no_information(void **state)
{
    assert_true(association_information(&(struct association){2, 2, 2, 2}) == 0);
    assert_true(association_information(&(struct association){1, 2, 2, 1}) == 0);
    /* One failed build against a rate of 99 of 100 is higher on paper only. */
    assert_true(association_information(&(struct association){1, 0, 99, 1}) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evidence_is_the_integral_over_all_rates),
        cmocka_unit_test(evidence_of_small_tables_is_what_it_is_on_paper),
        cmocka_unit_test(fishers_test_counts_all_ways_to_deal),
        cmocka_unit_test(fishers_test_is_that_of_the_tea_tasting_lady),
        cmocka_unit_test(fishers_test_takes_many_builds),
        cmocka_unit_test(ochiai_is_a_cosine),
        cmocka_unit_test(association_is_positive_when_more_builds_fail_with_than_without),
        cmocka_unit_test(wilsons_interval_solves_its_equation),
        cmocka_unit_test(interval_of_the_difference_is_newcombes),
        cmocka_unit_test(information_is_the_expected_shift_of_the_log_odds),
        cmocka_unit_test(builds_that_do_not_differ_give_no_information),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
