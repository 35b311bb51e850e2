/* blame/blame.h: which tactic makes builds fail?
 *
 * The module blame/ is statistics over builds that passed or failed: blame.h ranks all tactics, association.h weighs
 * one. A table of bits comes in, probabilities and tests go out. It may use base alone, and knows nothing of engines.
 *
 * The data are builds: each has some tactics and a verdict. Every tactic is a column: the set of builds that have it.
 * A kernel that several layers use may be at fault in all of them: then a build is bad as soon as one of them has it.
 * So that is a column, too, a pool: the builds that have any of its tactics. A column that all builds have, or none,
 * says nothing. The others are ranked under a model with one culprit:
 *
 * - Either no tactic matters, and every build fails at the same unknown rate (probability 1/2 beforehand), or exactly
 *   one column does: builds in it fail at one unknown rate, the others at another. Unknown rates have the prior
 *   Beta(1/2, 1/2).
 * - Beforehand, it is as probable that a tactic is at fault in one layer as that a kernel is wherever it is used: each
 *   of M varying tactics has 1/(4M), each of P varying pools 1/(4P). Without pools, each tactic has 1/(2M).
 * - Tactics with which builds did not fail more often than without are ruled out.
 * - What the data make of these hypotheses is Bayes' rule: no threshold, no parameter. A noisy verdict shifts the
 *   probabilities a little; it neither clears nor convicts a tactic by itself.
 *
 * Tactics that always occurred together cannot be told apart: they are one suspect, with their probabilities added up.
 * A builder chooses tactics by measured time, not by lot, so that something else may make builds fail and change
 * tactics, too: a high probability tells what to try, and proof is a build with the tactic forced or forbidden.
 */
#ifndef BLAME_BLAME_H
#define BLAME_BLAME_H

#include <stdint.h>

#include "base/container/bitset.h"
#include "blame/association.h"

#define BLAME_POOL SIZE_MAX /* in place of a layer: the column is of a kernel in several layers */

struct blame_column {
    size_t layer;         /* number of the layer that the tactic belongs to; layers are numbered from 0 without gaps */
    struct bitset builds; /* which builds have the tactic, or any of the pool */
};

struct blame_table {
    struct blame_column *items;
    size_t count, capacity;
    struct bitset failed; /* which builds failed; the others passed */
};

/* A table of builds that all passed, without columns: set members of `failed`, add columns, set members of theirs. */
void blame_table_init(struct blame_table *table, size_t build_count);
void blame_table_release(struct blame_table *table);

/* Adds a tactic, or with BLAME_POOL a pool, that no build has yet. Returns its builds, which stay where they are until
 * the next call. Pools come after all tactics. */
struct bitset *blame_table_add(struct blame_table *table, size_t layer);

struct association blame_table_association(const struct blame_table *table, size_t column);

struct blame_suspect {
    const size_t *columns; /* ascending; more than one when they always occurred together */
    size_t column_count;
    struct association association;
    double probability; /* that one of the columns is the culprit */
    double ochiai;
    double fisher;              /* p-value of Fisher's exact test, one-sided */
    double holm;                /* the same with Holm's correction for all distinct columns that were tested */
    struct estimate difference; /* of the failure rates with and without */
};

struct blame {
    struct blame_suspect *items; /* the most probable first */
    size_t count;
    double no_culprit;     /* probability that no tactic matters */
    size_t varying_count;  /* tactics that some builds have and some do not */
    size_t pool_count;     /* pools of which some builds have something and some have nothing */
    size_t distinct_count; /* how many different sets of builds those have */
    size_t layer_count;
    size_t fixed_layer_count; /* layers with the same tactic in every build: nothing can be said about those */

    /* How many more builds should bring the first suspect, if it is the culprit, to a probability above 95 %; of
     * several tactics that always occurred together, one of them. 0: it is there. -1: no idea.
     * With p the probability of one of its tactics it is (ln(0.95/0.05) - ln(p/(1-p))) / I, rounded up, I being
     * association_information(): tactics are taken to go on varying as they did, independently of each other. */
    long more_builds;

    size_t *columns; /* private: all varying columns, equal ones side by side */
};

void blame_rank(struct blame *ret, const struct blame_table *table);
void blame_release(struct blame *blame);

#endif
