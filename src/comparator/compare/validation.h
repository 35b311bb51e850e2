/* comparator/compare/validation.h: searches results for NaN and infinities. */
#ifndef COMPARATOR_COMPARE_VALIDATION_H
#define COMPARATOR_COMPARE_VALIDATION_H

#include "base/log.h"
#include "format/polygraphy/run_results.h"

/* Checks every output of every iteration of a runner, and logs which ones contain NaN or infinities, their number, and
 * the position of the first. Returns true if there are none. */
bool validation_runner(const struct run_results *results, size_t runner, struct log *log);

/* Like validation_runner(), for a single output; its first line begins with `label`. `reference` is another runner's
 * output, or NULL: its number at the position of a NaN or an infinity is shown. */
bool validation_output(const char *label, const struct named_tensor *output, const struct tensor *reference,
                       struct log *log);

/* Logs one line about elements that are finite in the reference (with as many elements), but NaN or infinite in the
 * output: their number, the reference value of the first, and the limit of the type that it exceeds. Logs nothing if
 * there are none. */
void validation_log_excess(struct log *log, const struct tensor *output, const struct tensor *reference);

/* Another runner's value of an output in an iteration, with the same shape; preferably that of the runner with which it
 * is compared. NULL: none, or none yet. */
const struct tensor *validation_reference(const struct run_results *results, size_t runner, size_t iteration,
                                          const struct named_tensor *output);

/* Logs the summary of a runner with several bad outputs. */
void validation_log_runner(struct log *log, const char *runner, size_t bad, const char *first_bad);

#endif
