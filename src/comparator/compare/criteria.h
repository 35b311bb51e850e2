/* comparator/compare/criteria.h: the criteria that outputs must satisfy, by output name. */
#ifndef COMPARATOR_COMPARE_CRITERIA_H
#define COMPARATOR_COMPARE_CRITERIA_H

#include "base/text/named_values.h"
#include "comparator/compare/function.h"
#include "tensor/compare/compare.h"

/* Limits of metrics. A metric that is NaN fails. */
struct metric_criteria {
    double l2_tolerance;     /* at most */
    double cosine_threshold; /* at least */
    double psnr_threshold;   /* dB, at least */
    double snr_threshold;    /* dB, at least */
    double nmse_tolerance;   /* normalized mean squared error, at most */
    double token_tolerance;  /* share of tokens that differ, at most */
    double kl_tolerance;     /* nats, at most */
    double ssim_threshold;   /* at least */
};

/* The criteria for two outputs. */
struct comparison_criteria {
    struct compare_options simple;
    bool atol_is_integer, rtol_is_integer; /* how they are printed, see struct named_number */
    size_t index_tolerance;
    struct metric_criteria metrics;
};

/* The criteria for all outputs, as in the options; each member has the name of its option. Zeroed: the defaults of
 * comparison_rules_find() apply. */
struct comparison_rules {
    struct named_numbers rtol, atol, norm_tolerance;
    struct named_words check_error_stat; /* "max", "mean", "median", "elemwise" or "quantile" */
    struct named_numbers error_quantile; /* 0 .. 1 */
    bool infinities_compare_equal, nans_compare_equal, no_shape_check, want_medians;
    struct named_integers index_tolerance; /* >= 0 */
    struct named_numbers l2_tolerance, cosine_threshold, psnr_threshold, snr_threshold, nmse_tolerance;
    struct named_numbers token_tolerance, kl_tolerance, ssim_threshold;
};

/* The limit of a function with a metric. */
double comparison_metric_limit(const struct metric_criteria *criteria, enum comparison_function function);

/* The criteria for the output of this name. */
void comparison_rules_find(const struct comparison_rules *rules, const char *output, struct comparison_criteria *ret);

#endif
