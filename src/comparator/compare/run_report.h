/* comparator/compare/run_report.h: the results of comparison and validation as JSON.
 *
 *   "passed": false,
 *   "compare": "simple",        as typed; several are separated by blanks
 *   "comparisons": [            one for each compared pair of results, iteration, output and function
 *     {
 *       "first_runner": "A", "second_runner": "B", "iteration": 0,
 *       "output": "x", "counterpart": "x", "compare": "simple",
 *       "passed": false,
 *       "node": {"index": 4, "name": "conv", "operator": "Conv"},
 *       "first": {"dtype": "float32", "shape": [2], "statistics": {"mean": 3.5, ...}, "elements": 2, "nans": 0,
 *                 "infinities": 0, "finite": {"zeros": 0, "min": 3.0, ...}}, "second": ...,
 *       "tolerances": {"atol": 1e-05, ...},
 *       "differences": {"elements": 2, "mismatches": 1, "absolute": {"max": 5.0, "mean": 2.5}, "relative": ...,
 *                       "norm_error": 0.5, "first_bad": {"position": [1], "first": 4.0, "second": 9.0}, "worst": ...},
 *       "metrics": {"l2_norm": 5.0, "cosine_similarity": 0.94, ...}
 *     }
 *   ],
 *   "validation": [             one for each output that was validated; null: no validation
 *     {"runner": "A", "iteration": 0, "output": "x", "node": ..., "passed": true, "elements": 2, "nans": 0, ...}
 *   ],
 *   "outputs": [                one for each output of a single runner; null: several runners
 *     {"runner": "A", "iteration": 0, "output": "x", "node": ..., "dtype": "float32", "shape": [2], ...}
 *   ]
 *
 * "node" is the node that produces the output; null if there is none or the model is unknown. "statistics" and
 * "metrics" are null if not available: for strings and complex numbers, "metrics" also for outputs of different shapes
 * unless they are compared as detections.
 * "differences" is null unless values were compared with tolerances. Numbers may be NaN, Infinity and -Infinity, as
 * Python writes and reads them.
 */
#ifndef COMPARATOR_COMPARE_RUN_REPORT_H
#define COMPARATOR_COMPARE_RUN_REPORT_H

#include "comparator/compare/comparison.h"
#include "comparator/compare/element_json.h"
#include "format/json/writer.h"
#include "onnx/model/model.h"
#include "tensor/compare/metrics.h"
#include "tensor/compare/validate.h"
#include "tensor/statistics/range.h"
#include "tensor/statistics/statistics.h"

/* A description of an output, whose tensor may be released before the report is written. */
struct described_output {
    char *runner, *name;
    size_t iteration;
    enum data_type type;
    struct shape shape;
    bool has_statistics;
    struct statistics statistics;
    struct value_range range; /* only the counts without statistics */
};

/* One element of two outputs. */
struct compared_element {
    size_t element;
    struct element_value first, second;
};

struct compared_record {
    enum comparison_function function;
    struct described_output first, second;
    size_t iteration;
    bool passed, has_differences, has_metrics;
    struct comparison_criteria criteria;
    struct compare_result differences;
    struct compared_element first_bad, worst; /* valid with mismatches; with elements */
    struct metrics metrics;
};

struct validated_record {
    char *runner, *output;
    size_t iteration;
    struct shape shape;
    struct validation found;
};

struct run_report {
    struct compared_record *comparisons;
    size_t comparison_count, comparison_capacity;
    struct validated_record *validations;
    size_t validation_count, validation_capacity;
    struct described_output *outputs;
    size_t output_count, output_capacity;
};

void run_report_init(struct run_report *report);
void run_report_release(struct run_report *report);

/* Callback for `on_compared`; `data` is a struct run_report. */
void run_report_add_comparison(void *data, const struct compared_outputs *compared);

/* Adds the validation of an output. */
void run_report_add_validation(struct run_report *report, const char *runner, size_t iteration,
                               const struct named_tensor *output);
void run_report_add_validations(struct run_report *report, const struct runner_results *runner); /* of all outputs */

/* Add outputs that are not compared. `report` may be NULL. */
void run_report_add_output(struct run_report *report, const char *runner, size_t iteration,
                           const struct named_tensor *output);
void run_report_add_outputs(struct run_report *report, const struct runner_results *runner); /* all of them */

/* The result for a tensor, over all runners and iterations. */
struct tensor_summary {
    const char *name;
    const struct compared_record *worst;  /* the worst comparison; NULL: none */
    const struct described_output *alone; /* the last output that was not compared; NULL: none */
};

struct tensor_summaries {
    struct tensor_summary *items; /* freed by the caller; refer to the report */
    size_t count, capacity;
};

/* In the order of the outputs. */
void run_report_summarize(const struct run_report *report, struct tensor_summaries *ret);

/* The greatest difference divided by the reference's largest finite magnitude; NAN if values were not compared. */
double compared_norm_error(const struct compared_record *record);

/* The overall result. */
struct run_verdict {
    bool passed;
    const char *compare;       /* the comparison functions as typed, separated by blanks */
    bool validated;            /* --validate was given */
    const struct model *model; /* as in its file; NULL: unknown */
};

/* Adds the members above to an open object. */
void run_report_write(const struct run_report *report, const struct run_verdict *verdict, struct json_writer *json);

/* If this output mismatched, adds the members "output", "first_bad" and "worst": the first and the worst element of its
 * first mismatch. Returns whether it did. */
bool run_report_write_mismatch(const struct run_report *report, const char *output, struct json_writer *json);

/* Adds a member "node": the producer of a tensor. `model` may be NULL. */
void run_report_write_node(const struct model *model, const char *output, struct json_writer *json);

#endif
