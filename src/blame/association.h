/* blame/association.h: how strongly one tactic goes together with failing.
 *
 * Everything follows from four numbers: how many builds with the tactic, and without it, failed and passed.
 */
#ifndef BLAME_ASSOCIATION_H
#define BLAME_ASSOCIATION_H

#include <stdbool.h>
#include <stddef.h>

struct association {
    size_t failed_with, passed_with;       /* builds that have the tactic */
    size_t failed_without, passed_without; /* builds that do not */
};

/* A number and the interval that holds the true one with a confidence of 95 %. */
struct estimate {
    double value, low, high;
};

/* Whether builds with the tactic failed more often than those without. False when there are none of one kind. */
bool association_is_positive(const struct association *association);

/* The logarithm of the probability of these verdicts, in this order, when builds with the tactic fail at one rate and
 * those without at another, both unknown. Each rate has Jeffreys' prior, the beta distribution Beta(1/2, 1/2). */
double association_log_evidence(const struct association *association);

/* The same when all builds fail at one and the same unknown rate: no tactic matters. */
double association_log_evidence_of_none(size_t failed, size_t passed);

/* Ochiai's coefficient, 0 to 1: the cosine between "has the tactic" and "failed". */
double association_ochiai(const struct association *association);

/* Fisher's exact test, one-sided: how probable it is that at least as many of the failures fall on builds with the
 * tactic, were they dealt out at random. */
double association_fisher(const struct association *association);

/* The rate that `failed` of `total` builds hint at, with Wilson's score interval; 0 to 1 when there are none. */
struct estimate failure_rate(size_t failed, size_t total);

/* The failure rate with the tactic minus that without, -1 to 1, with the interval made of two of Wilson's (Newcombe
 * 1998, "Interval estimation for the difference between independent proportions", method 10). */
struct estimate association_difference(const struct association *association);

/* By how much one more build is expected to shift the log odds towards this tactic and away from an innocent one, or
 * from "none", if this tactic is the culprit: the mutual information, in nats, between having the tactic and failing.
 * With q the share of builds that have it, a and b the failure rates with and without, r = q a + (1 - q) b, and
 * KL(x, y) = x ln(x/y) + (1-x) ln((1-x)/(1-y)), it is q KL(a, r) + (1 - q) KL(b, r); the three rates are the means of
 * their Beta posteriors. 0 when a <= b: the numbers do not suffice for a guess. */
double association_information(const struct association *association);

#endif
