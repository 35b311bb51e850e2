/* comparator/compare/comparison.h: the results of runs, compared.
 *
 * Each result is compared with the next one, iteration by iteration, output by output. Verdicts belong to pairs of
 * results, not to their names, which may be equal.
 *
 * The module comparator/compare/ judges results of runs: results and criteria come in, a verdict goes out, with what
 * the log and a report say about it. It runs no model, and knows options only as criteria.
 */
#ifndef COMPARATOR_COMPARE_COMPARISON_H
#define COMPARATOR_COMPARE_COMPARISON_H

#include "comparator/compare/pairing.h"
#include "comparator/compare/settings.h"
#include "format/polygraphy/run_results.h"

/* Compares neighbours and tells in `ret_passed` whether all matched; fewer than two results match. ERR_INVALID when
 * there are two that have no output in common, after the others were compared; `ret_passed` tells of these also then.
 * Statistics for the log are computed only when they are shown. */
int comparison_run(struct run_results *results, const struct comparison_settings *settings, bool *ret_passed,
                   struct error *err);

/* One such pair of neighbours, compared while their outputs come:
 *
 *   comparison_begin(&comparison, &settings, &first, &second);
 *   for (i = 0; i < comparison.iterations && comparison_goes_on(&comparison); i++) {
 *       comparison_begin_iteration(&comparison, i);
 *       ... comparison_advance(&comparison, err) whenever more outputs are there ...
 *       comparison_end_iteration(&comparison);
 *   }
 *   rc = comparison_end(&comparison, &passed, err);
 *
 * Both results have all their iterations and, when an iteration begins, the names of all its outputs. Tensors may come
 * later, until then they are zeroed; names and tensors may not move. After an error call comparison_abandon().
 */
struct comparison {
    const struct comparison_settings *settings;
    struct runner_results *first, *second;
    size_t iterations; /* that both have */
    size_t passed_count, done_count;
    bool passed;          /* so far */
    struct error refusal; /* why an iteration could not be compared; code 0: none */

    /* Of the current iteration: */
    bool is_open;
    size_t index;
    struct pairing pairing;
    size_t next;           /* pair to compare */
    size_t compared_count; /* of the pairs before it */
    bool iteration_passed;
    struct string_builder compared, mismatched;
    size_t mismatched_count, first_mismatch_at; /* of the pairs that were compared */
    struct string_builder first_mismatch;       /* the output and its worst element */
};

void comparison_begin(struct comparison *comparison, const struct comparison_settings *settings,
                      struct runner_results *first, struct runner_results *second);
void comparison_begin_iteration(struct comparison *comparison, size_t index);

/* Compares the next pairs, in the order of the first result, as long as both of a pair are there. */
int comparison_advance(struct comparison *comparison, struct error *err);
void comparison_end_iteration(struct comparison *comparison);

/* Whether another iteration is to be compared: not after one with nothing to compare, nor after a mismatch, when the
 * first one ends it all. */
bool comparison_goes_on(const struct comparison *comparison);

/* Whether an output of the current iteration, of either result, still waits for its counterpart. */
bool comparison_awaits(const struct comparison *comparison, const struct named_tensor *output);

/* Tells in `ret_passed` whether all that was compared matched. ERR_INVALID when an iteration had nothing to compare. */
int comparison_end(struct comparison *comparison, bool *ret_passed, struct error *err);
void comparison_abandon(struct comparison *comparison);

#endif
