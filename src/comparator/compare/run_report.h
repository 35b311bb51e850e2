/* comparator/compare/run_report.h: what comparing and validating came to, as JSON for other programs.
 *
 *   {
 *     "passed": false,
 *     "compare": "simple",
 *     "comparisons": [            one for each two results, iteration and output that were compared
 *       {
 *         "first_runner": "A", "second_runner": "B", "iteration": 0,
 *         "output": "x", "counterpart": "x", "passed": false,
 *         "first": {"dtype": "float32", "shape": [2], "statistics": {"mean": 3.5, ...}}, "second": ...,
 *         "differences": {"elements": 2, "mismatches": 1, "absolute": {"max": 5.0, "mean": 2.5}, "relative": ...},
 *         "metrics": {"l2_norm": 5.0, "cosine_similarity": 0.94, ...}
 *       }
 *     ],
 *     "validation": [             one for each output that was searched for NaN and infinities; null: not wanted
 *       {"runner": "A", "iteration": 0, "output": "x", "passed": true, "elements": 2, "nans": 0, "infinities": 0}
 *     ]
 *   }
 *
 * "statistics" and "metrics" are null where there are none: for strings and complex numbers, "metrics" also for outputs
 * of different shapes. "differences" is null unless values were compared with tolerances. Numbers may be NaN, Infinity
 * and -Infinity, as Python writes and reads them.
 */
#ifndef COMPARATOR_COMPARE_RUN_REPORT_H
#define COMPARATOR_COMPARE_RUN_REPORT_H

#include "comparator/compare/comparison.h"
#include "format/json/writer.h"

struct run_report {
    struct compared_record *comparisons;
    size_t comparison_count, comparison_capacity;
    struct validated_record *validations;
    size_t validation_count, validation_capacity;
};

void run_report_init(struct run_report *report);
void run_report_release(struct run_report *report);

/* For `on_compared` of whoever compares; `data` is a struct run_report. */
void run_report_add_comparison(void *data, const struct compared_outputs *compared);

/* Looks at an output, as validation does. */
void run_report_add_validation(struct run_report *report, const char *runner, size_t iteration,
                               const struct named_tensor *output);
void run_report_add_validations(struct run_report *report, const struct runner_results *runner); /* of all outputs */

/* `compare` is what the user calls the function. */
void run_report_write(const struct run_report *report, bool passed, const char *compare, bool validated,
                      struct json_writer *json);

#endif
