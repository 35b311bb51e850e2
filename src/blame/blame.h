/* blame/blame.h: ranks tactics by the probability that they make builds fail.
 *
 * The module blame/ contains statistics over builds that passed or failed: blame.h ranks all tactics, association.h
 * tests one. It depends on base only, not on engines.
 *
 * The data are builds: each has a set of tactics and a verdict. Every tactic is a column: the set of builds that use
 * it. A faulty kernel may be used by several layers, and one use is enough to make a build fail. So there is also a
 * column, a pool, for each kernel: the builds that use any of its tactics. A column with all builds, or none, is
 * uninformative. The others are ranked under a model with a single culprit:
 *
 * - Either no tactic matters, and every build fails at the same unknown rate (prior probability 1/2), or exactly one
 *   column does: builds in it fail at one unknown rate, the others at another. Unknown rates have the prior
 *   Beta(1/2, 1/2).
 * - A fault of a tactic in one layer and a fault of a kernel in all layers have the same prior probability: each of M
 *   varying tactics has 1/(4M), each of P varying pools 1/(4P). Without pools, each tactic has 1/(2M).
 * - Tactics with a failure rate not above that without them are ruled out.
 * - The posterior follows from Bayes' rule, without thresholds or parameters. A noisy verdict changes the probabilities
 *   a little; it decides nothing by itself.
 *
 * Tactics that always occurred together cannot be distinguished: they are one suspect with the sum of their
 * probabilities. A builder chooses tactics by measured time, not at random, so a confounder may change both tactics and
 * verdicts: a high probability suggests what to test; the proof is a build with the tactic forced or excluded.
 */
#ifndef BLAME_BLAME_H
#define BLAME_BLAME_H

#include <stdint.h>

#include "base/container/bitset.h"
#include "blame/association.h"

#define BLAME_POOL SIZE_MAX /* in place of a layer: the column is of a kernel in several layers */

struct blame_column {
    size_t layer;         /* index of the tactic's layer; layers are numbered from 0 without gaps */
    struct bitset builds; /* builds that use the tactic, or any tactic of the pool */
};

struct blame_table {
    struct blame_column *items;
    size_t count, capacity;
    struct bitset failed; /* failed builds; the others passed */
};

/* Initializes a table of passed builds without columns. The caller adds members to `failed`, adds columns, and adds
 * members to these. */
void blame_table_init(struct blame_table *table, size_t build_count);
void blame_table_release(struct blame_table *table);

/* Adds a tactic, or with BLAME_POOL a pool. Returns its set of builds, empty, valid until the next call. Add pools
 * after all tactics. */
struct bitset *blame_table_add(struct blame_table *table, size_t layer);

struct association blame_table_association(const struct blame_table *table, size_t column);

struct blame_suspect {
    const size_t *columns; /* ascending; several columns if they always occurred together */
    size_t column_count;
    struct association association;
    double probability; /* that one of the columns is the culprit */
    double ochiai;
    double fisher;              /* p-value of Fisher's exact test, one-sided */
    double holm;                /* p-value with Holm's correction for all distinct columns tested */
    struct estimate difference; /* of the failure rates with and without */
};

struct blame {
    struct blame_suspect *items; /* the most probable first */
    size_t count;
    double no_culprit;     /* probability that no tactic matters */
    size_t varying_count;  /* tactics in some builds, but not all */
    size_t pool_count;     /* pools in some builds, but not all */
    size_t distinct_count; /* number of distinct sets of builds of these */
    size_t layer_count;
    size_t fixed_layer_count; /* layers with the same tactic in every build: not analysable */

    /* Estimated number of further builds until the first suspect, if it is the culprit, has a probability above 95 %
     * (for several tactics that always occurred together: one of them). 0: reached. -1: unknown. With p the probability
     * of one of its tactics it is (ln(0.95/0.05) - ln(p/(1-p))) / I, rounded up, I being association_information():
     * assuming that tactics continue to vary as before, independently of each other. */
    long more_builds;

    size_t *columns; /* private: all varying columns, equal ones adjacent */
};

void blame_rank(struct blame *ret, const struct blame_table *table);
void blame_release(struct blame *blame);

#endif
