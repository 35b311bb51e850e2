/* comparator/compare/accuracy.h: metrics of comparisons that are kept: judged by averages over iterations, or again
 * with other thresholds.
 */
#ifndef COMPARATOR_COMPARE_ACCURACY_H
#define COMPARATOR_COMPARE_ACCURACY_H

#include "comparator/compare/settings.h"
#include "format/polygraphy/accuracy_results.h"

/* A result for each function, in their order. `average`: its verdict is that of averages. */
void accuracy_results_begin(struct accuracy_results *results, const struct comparison_functions *functions,
                            bool average);

/* Adds what a comparison by one of these functions found. */
void accuracy_results_add_comparison(struct accuracy_results *results, const struct comparison_functions *functions,
                                     const struct compared_outputs *compared);

/* The verdict of one output, from its values and thresholds. */
bool accuracy_output_passed(const struct accuracy_output *output);

/* Replaces the thresholds of the results of these functions. ERR_MISSING if there are none for a function; ERR_INVALID
 * for a verdict alone, and for a statistic that was not saved: a comparison by elements has none. */
int accuracy_results_judge_again(struct accuracy_results *results, const struct comparison_functions *functions,
                                 const struct comparison_rules *rules, struct error *err);

/* Drops the results of all other functions, with a line for each. */
void accuracy_results_keep(struct accuracy_results *results, const struct comparison_functions *functions,
                           struct log *log);

/* Log the summary of each result (for `check accuracy`), or one for all of them, by averages (for `run`). `ret_passed`:
 * whether all passed. ERR_INVALID if values cannot be averaged, since outputs had different shapes. */
int accuracy_results_log(const struct accuracy_results *results, struct log *log, bool *ret_passed, struct error *err);
int accuracy_results_log_averages(const struct accuracy_results *results, struct log *log, bool *ret_passed,
                                  struct error *err);

/* The number of outputs in all iterations of all pairs of runners; 0: nothing was compared. */
size_t accuracy_count_outputs(const struct accuracy_results *results);

/* The number of iterations that passed. */
size_t accuracy_count_passed(const struct accuracy_pair *pair);

#endif
