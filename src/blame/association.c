/* blame/association.c: statistics of two-by-two tables. */
#include "blame/association.h"

#include <math.h>

/* The 97.5 % quantile of the normal distribution. */
#define NORMAL_QUANTILE 1.959963984540054

bool association_is_positive(const struct association *association)
{
    size_t with = association->failed_with + association->passed_with;
    size_t without = association->failed_without + association->passed_without;

    return association->failed_with * without > association->failed_without * with;
}

/* The logarithm of the beta function. */
static double log_beta(double a, double b)
{
    return lgamma(a) + lgamma(b) - lgamma(a + b);
}

double association_log_evidence_of_none(size_t failed, size_t passed)
{
    return log_beta((double)failed + 0.5, (double)passed + 0.5) - log_beta(0.5, 0.5);
}

double association_log_evidence(const struct association *association)
{
    return association_log_evidence_of_none(association->failed_with, association->passed_with) +
           association_log_evidence_of_none(association->failed_without, association->passed_without);
}

double association_ochiai(const struct association *association)
{
    double failed = (double)(association->failed_with + association->failed_without);
    double with = (double)(association->failed_with + association->passed_with);

    return association->failed_with == 0 ? 0 : (double)association->failed_with / sqrt(failed * with);
}

/* The logarithm of the number of ways to choose `k` of `n`. */
static double log_choose(size_t n, size_t k)
{
    return lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1);
}

double association_fisher(const struct association *association)
{
    size_t failed = association->failed_with + association->failed_without;
    size_t passed = association->passed_with + association->passed_without;
    size_t with = association->failed_with + association->passed_with;
    size_t most = failed < with ? failed : with;
    double all = log_choose(failed + passed, with);
    double sum = 0;

    for (size_t i = association->failed_with; i <= most; i++)
        if (with - i <= passed)
            sum += exp(log_choose(failed, i) + log_choose(passed, with - i) - all);
    return fmin(sum, 1);
}

struct estimate failure_rate(size_t failed, size_t total)
{
    double n = (double)total, square = NORMAL_QUANTILE * NORMAL_QUANTILE;

    if (total == 0)
        return (struct estimate){0.5, 0, 1};
    double rate = (double)failed / n;
    double center = (rate + square / (2 * n)) / (1 + square / n);
    double half = NORMAL_QUANTILE * sqrt(rate * (1 - rate) / n + square / (4 * n * n)) / (1 + square / n);

    /* Exact bounds despite rounding: the interval of rate 0 begins at 0, that of rate 1 ends at 1. */
    return (struct estimate){rate, failed == 0 ? 0 : center - half, failed == total ? 1 : center + half};
}

/* Not hypot(): programs linked with glibc 2.35 or later that use it do not start with an older glibc. */
static double euclidean_distance(double x, double y)
{
    return sqrt(x * x + y * y);
}

struct estimate association_difference(const struct association *association)
{
    struct estimate with = failure_rate(association->failed_with, association->failed_with + association->passed_with);
    struct estimate without =
        failure_rate(association->failed_without, association->failed_without + association->passed_without);
    double difference = with.value - without.value;

    return (struct estimate){
        .value = difference,
        .low = difference - euclidean_distance(with.value - with.low, without.high - without.value),
        .high = difference + euclidean_distance(with.high - with.value, without.value - without.low),
    };
}

/* The posterior mean of a rate. */
static double mean_rate(size_t failed, size_t passed)
{
    return ((double)failed + 0.5) / ((double)(failed + passed) + 1);
}

/* The Kullback-Leibler divergence of failure rates `x` (0 < x < 1) and `y`, in nats. */
static double rate_divergence(double x, double y)
{
    return x * log(x / y) + (1 - x) * log((1 - x) / (1 - y));
}

double association_information(const struct association *association)
{
    double share = mean_rate(association->failed_with + association->passed_with,
                             association->failed_without + association->passed_without);
    double with = mean_rate(association->failed_with, association->passed_with);
    double without = mean_rate(association->failed_without, association->passed_without);
    double overall = share * with + (1 - share) * without;

    return with > without ? share * rate_divergence(with, overall) + (1 - share) * rate_divergence(without, overall)
                          : 0;
}
