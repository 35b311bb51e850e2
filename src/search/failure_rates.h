/* search/failure_rates.h: how often an unreliable check fails with the bug, and how often without it.
 *
 * The first rate comes from the original, and is kept up to date with candidates that were found to have the bug: it
 * may fall as the model shrinks. The second one comes from a candidate that is known to be good, if there is one, and
 * from those that were found not to have the bug; until there are enough of them it is presumed to be high. All of it
 * is a value: it follows from counts, so that a session that is resumed arrives at the same rates.
 */
#ifndef SEARCH_FAILURE_RATES_H
#define SEARCH_FAILURE_RATES_H

#include <stdbool.h>

#include "search/sequential_test.h"
#include "search/verdict.h"

struct failure_rates {
    bool no_false_failures; /* without the bug the check never fails: the user says so */
    bool calibrated;        /* the original was seen to fail */
    bool always_fails;      /* with the bug, as far as was seen: then a single pass says that it is not there */
    double fails, runs;     /* with the bug; older runs weigh less */
    struct run_counts without;
};

void failure_rates_init(struct failure_rates *rates, bool no_false_failures);

/* Whether the original was run often enough, and what that says: a failure when it failed at all. SEQUENTIAL_OPEN: once
 * more. */
enum sequential_state failure_rates_judge_bad(struct run_counts counts);

/* The same for a candidate that should not have the bug. */
enum sequential_state failure_rates_judge_good(struct run_counts counts);

/* Which verdict on a candidate must not be wrong, since the search goes on from there. */
enum weighty_verdict {
    WEIGHTY_FAILURE,     /* a smaller model is looked for that fails */
    WEIGHTY_PASS,        /* a remedy is looked for */
    WEIGHTY_BOTH,        /* the difference between the two */
    WEIGHTY_SECOND_LOOK, /* neither that much: one that was found to fail is looked at again */
};

/* Whether a candidate has the bug. */
enum sequential_state failure_rates_judge(struct failure_rates *rates, struct run_counts counts,
                                          enum weighty_verdict weighty);

/* Learn from what was found in so many runs. */
void failure_rates_learn_bad(struct failure_rates *rates, struct run_counts counts);
void failure_rates_learn_good(struct failure_rates *rates, struct run_counts counts);
void failure_rates_learn(struct failure_rates *rates, struct run_counts counts, enum verdict verdict);

/* Estimates on the safe side: with a probability of 75 % the first rate is higher, and the second one begins high. */
double failure_rate_with_bug(const struct failure_rates *rates);
double failure_rate_without_bug(const struct failure_rates *rates);

/* False when the two are so close that no number of runs that anyone would wait for can tell them apart. */
bool failure_rates_differ(const struct failure_rates *rates);

#endif
