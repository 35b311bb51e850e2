/* comparator/infer/checks.h: compares results, each with the next one, and validates them iteration by iteration, while
 * they are computed. Verdicts are kept, outputs are not.
 */
#ifndef COMPARATOR_INFER_CHECKS_H
#define COMPARATOR_INFER_CHECKS_H

#include "comparator/compare/comparison.h"
#include "comparator/compare/run_report.h"
#include "comparator/infer/log_sections.h"

struct iteration_checks {
    /* Set by the caller; everything must outlive the struct. */
    const struct comparison_settings *settings;
    struct log_sections *sections;
    size_t section;              /* the first one for its log lines: validation of each result, then comparisons */
    struct run_report *report;   /* receives validations; may be NULL */
    struct run_results *results; /* with one iteration each, the current one */

    struct comparison *couples;
    size_t couple_count;
    struct bad_outputs *bad; /* of each result, in the current iteration */
    bool is_invalid;         /* a validated output was not finite */
};

/* `iterations`: how many each result will have. */
void iteration_checks_begin(struct iteration_checks *checks, const size_t *iterations);
void iteration_checks_release(struct iteration_checks *checks); /* harmless on a zeroed struct */

/* Once the names of all outputs are known. Results that lack the iteration have none. */
void iteration_checks_begin_iteration(struct iteration_checks *checks, size_t index);
void iteration_checks_validate(struct iteration_checks *checks, size_t result, size_t index,
                               const struct named_tensor *output);

/* Compares the outputs that are there. */
int iteration_checks_advance(struct iteration_checks *checks, struct error *err);

/* Whether an output has not been compared yet. */
bool iteration_checks_await(const struct iteration_checks *checks, size_t result, const struct named_tensor *output);

/* Releases all outputs. */
void iteration_checks_end_iteration(struct iteration_checks *checks);

/* Whether further iterations cannot change the result: the result is known with `fail_fast` after a mismatch, and after
 * an iteration that could not be compared or has invalid values. */
bool iteration_checks_end_run(const struct iteration_checks *checks, size_t index, struct log *log);

bool iteration_checks_passed(const struct iteration_checks *checks); /* so far */

/* Logs the summaries. ERR_INVALID if there was nothing to compare. */
int iteration_checks_end(struct iteration_checks *checks, bool *ret_passed, struct error *err);

#endif
