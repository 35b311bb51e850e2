/* comparator/compare/pair.h: compares two outputs, and logs the verdict and statistics of their values. */
#ifndef COMPARATOR_COMPARE_PAIR_H
#define COMPARATOR_COMPARE_PAIR_H

#include <math.h>

#include "comparator/compare/pairing.h"
#include "comparator/compare/settings.h"

/* The runners' names are for messages. */
struct pair_names {
    const char *first, *second;
};

/* Whether outputs of these types and shapes can be compared by a function: see comparison_function_requirement(). Not
 * for COMPARISON_DETECTIONS, which depends on the other outputs (detector.h). */
bool comparison_function_applies(enum comparison_function function, const struct output_pair *pair);

/* Compares two outputs by one function and the criteria for the first output's name. ERR_UNSUPPORTED if the function
 * does not support their types: strings and complex numbers have no metrics. */
int compare_pair(struct log *log, enum comparison_function function, const struct output_pair *pair,
                 const struct comparison_criteria *criteria, struct compare_result *ret, struct error *err);

/* The steps that comparisons of several outputs share: the line that names a pair; and the verdict on `result->metric`,
 * which fills result->passed. */
void pair_log_beginning(struct log *log, enum comparison_function function, const struct output_pair *pair);
void pair_judge_metric(struct log *log, enum comparison_function function, double limit, struct compare_result *result);

/* Logs statistics of the values of both outputs, if they are numbers, and a verbose log their values and histograms. */
int pair_log_statistics(struct log *log, const struct output_pair *pair, const struct pair_names *runners,
                        struct error *err);

/* Appends what did not match: "'y', 3 of 96 elements, the worst at (0, 2): 1.5 vs. 1.6"; only the name if the verdict
 * does not concern single elements. Both tensors must be available. */
void pair_add_mismatch(const struct output_pair *pair, const struct compare_result *result, struct string_builder *ret);

/* The range of a histogram. */
struct histogram_range {
    double minimum, maximum;
};

#define HISTOGRAM_RANGE_EMPTY ((struct histogram_range){INFINITY, -INFINITY})

/* Logs "<label> | Stats: ..." and, nested at LOG_VERBOSE, the values of up to 100 elements and a histogram. Computes
 * only what is shown. The tensor must be numeric. */
int statistics_log(struct log *log, const char *label, const struct tensor *tensor, const struct histogram_range *range,
                   struct error *err);

#endif
