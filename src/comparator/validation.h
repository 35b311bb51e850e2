/* comparator/validation.h: results, searched for values that are no numbers (spec, behaviour 7.7). */
#ifndef COMPARATOR_VALIDATION_H
#define COMPARATOR_VALIDATION_H

#include "base/log.h"
#include "format/run_results.h"

/* Looks at every output of every iteration and logs which ones hold NaN or infinities, how many, and where the first
 * one is. Returns true when none does. */
bool validation_run(const struct run_results *results, struct log *log);

/* The same for one runner, for a single output. */
bool validation_runner(const struct runner_results *runner, struct log *log);
bool validation_output(const struct named_tensor *output, struct log *log);

/* The line that sums up a runner with several bad outputs. */
void validation_log_runner(struct log *log, const char *runner, size_t bad, const char *first_bad);

#endif
