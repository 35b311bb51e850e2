/* comparator/compare/validation.h: results, searched for values that are no numbers. */
#ifndef COMPARATOR_COMPARE_VALIDATION_H
#define COMPARATOR_COMPARE_VALIDATION_H

#include "base/log.h"
#include "format/polygraphy/run_results.h"

/* Looks at every output of every iteration of one of the runners, and logs which ones hold NaN or infinities, how many,
 * and where the first one is. Returns true when none does. */
bool validation_runner(const struct run_results *results, size_t runner, struct log *log);

/* The same for a single output. Where another runner has a number in a place of a NaN or an infinity, it is shown;
 * `reference` is that runner's output, or NULL. */
bool validation_output(const struct named_tensor *output, const struct tensor *reference, struct log *log);

/* One line about what is a number in the reference, of as many elements, and NaN or infinite in the output: how many
 * such values there are, what the reference has in place of the first one, and the limit of the type that it is beyond.
 * Nothing is logged when there are none. */
void validation_log_excess(struct log *log, const struct tensor *output, const struct tensor *reference);

/* What another runner has for an output of an iteration, of the same shape; its neighbour's counts first, with which it
 * is compared. NULL: nothing, or nothing yet. */
const struct tensor *validation_reference(const struct run_results *results, size_t runner, size_t iteration,
                                          const struct named_tensor *output);

/* The line that sums up a runner with several bad outputs. */
void validation_log_runner(struct log *log, const char *runner, size_t bad, const char *first_bad);

#endif
