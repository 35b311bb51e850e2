/* comparator/compare/function.h: the functions that compare two outputs, and their names. */
#ifndef COMPARATOR_COMPARE_FUNCTION_H
#define COMPARATOR_COMPARE_FUNCTION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text/string_builder.h"

enum comparison_function {
    COMPARISON_SIMPLE,            /* values, within tolerances */
    COMPARISON_INDICES,           /* rankings, within positions */
    COMPARISON_L2,                /* the L2 norm of the difference of two outputs */
    COMPARISON_COSINE_SIMILARITY, /* of the outputs as vectors */
    COMPARISON_PSNR,              /* the peak signal-to-noise ratio; the first output is the signal */
    COMPARISON_SNR,               /* the signal-to-noise ratio */
    COMPARISON_NMSE,              /* the normalized mean squared error */
    COMPARISON_TOKENS,            /* the share of tokens that differ */
    COMPARISON_KL,                /* the greatest Kullback-Leibler divergence of a row of logits, in nats */
    COMPARISON_TOPK,              /* the least overlap of the k best of a row of logits */
    COMPARISON_SSIM,              /* the least structural similarity of a plane of images */
    COMPARISON_DETECTIONS,        /* the share of detections without a partner; of several outputs at once */
    COMPARISON_FUNCTIONS,         /* their number */
};

/* In the order in which they are applied, each once. Empty: COMPARISON_SIMPLE alone. */
struct comparison_functions {
    enum comparison_function items[COMPARISON_FUNCTIONS];
    size_t count;
};

/* Adds a function, unless it is there. */
void comparison_functions_add(struct comparison_functions *functions, enum comparison_function function);
bool comparison_functions_contain(const struct comparison_functions *functions, enum comparison_function function);

/* The functions with the default in place: never empty. */
struct comparison_functions comparison_functions_or_default(const struct comparison_functions *functions);

/* As Polygraphy 0.53 labels them in the log: "simple", "L2 Norm". */
const char *comparison_function_label(enum comparison_function function);

/* Functions with a metric have a limit: its name in JSON ("psnr_threshold"; NULL: a function without a metric), its
 * default, and whether the metric must be at least as large, or at most. */
const char *comparison_limit_name(enum comparison_function function);
double comparison_default_limit(enum comparison_function function);
bool comparison_limit_is_minimum(enum comparison_function function);

/* Functions with a metric: whether it passes, which NaN does not; and the line of the log, such as
 * "L2 Norm: 0.5 (tolerance: 1e-05) | FAILED". */
bool comparison_metric_passes(enum comparison_function function, double value, double limit);
void comparison_describe_metric(enum comparison_function function, double value, double limit,
                                struct string_builder *ret);

/* What the function needs of outputs: "logits of at most 3 dimensions"; NULL: nothing. */
const char *comparison_function_requirement(enum comparison_function function);

/* As on the command line and in JSON: "simple", "l2". */
const char *comparison_function_name(enum comparison_function function);

#endif
