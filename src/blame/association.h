/* blame/association.h: statistics of the association between one tactic and failures.
 *
 * All are computed from a two-by-two table: numbers of failed and passed builds with and without the tactic.
 */
#ifndef BLAME_ASSOCIATION_H
#define BLAME_ASSOCIATION_H

#include <stdbool.h>
#include <stddef.h>

struct association {
    size_t failed_with, passed_with;       /* builds that have the tactic */
    size_t failed_without, passed_without; /* builds that do not */
};

/* An estimate with its 95 % confidence interval. */
struct estimate {
    double value, low, high;
};

/* Whether builds with the tactic failed more often than those without. False if there are no builds of one kind. */
bool association_is_positive(const struct association *association);

/* The logarithm of the probability of these verdicts, in this order, when builds with the tactic fail at one rate and
 * those without at another, both unknown. Each rate has Jeffreys' prior, the beta distribution Beta(1/2, 1/2). */
double association_log_evidence(const struct association *association);

/* Like association_log_evidence(), if all builds fail at the same unknown rate (no tactic matters). */
double association_log_evidence_of_none(size_t failed, size_t passed);

/* Ochiai's coefficient, 0 to 1: the cosine between "has the tactic" and "failed". */
double association_ochiai(const struct association *association);

/* Fisher's exact test, one-sided: the probability of at least as many failures with the tactic if failures were
 * independent of it. */
double association_fisher(const struct association *association);

/* The failure rate of `failed` of `total` builds with Wilson's score interval; 0 to 1 if there are none. */
struct estimate failure_rate(size_t failed, size_t total);

/* The failure rate with the tactic minus that without, -1 to 1, with an interval from two Wilson intervals (Newcombe
 * 1998, "Interval estimation for the difference between independent proportions", method 10). */
struct estimate association_difference(const struct association *association);

/* The expected change of the log odds of this tactic against an unrelated one or "none" by one more build, if this
 * tactic is the culprit: the mutual information, in nats, between the tactic and failing. With q the fraction of builds
 * with it, a and b the failure rates with and without, r = q a + (1 - q) b, and KL(x, y) = x ln(x/y) + (1-x)
 * ln((1-x)/(1-y)), it is q KL(a, r) + (1 - q) KL(b, r); the three rates are the means of their Beta posteriors. 0 if a
 * <= b: no estimate is possible. */
double association_information(const struct association *association);

#endif
