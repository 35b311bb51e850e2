/* comparator/compare/criteria.h: the criteria that outputs must satisfy, by output name. */
#ifndef COMPARATOR_COMPARE_CRITERIA_H
#define COMPARATOR_COMPARE_CRITERIA_H

#include "base/text/named_values.h"
#include "comparator/compare/function.h"
#include "tensor/compare/compare.h"
#include "tensor/compare/detections.h"

/* The criteria for two outputs. */
struct comparison_criteria {
    struct compare_options simple;
    bool atol_is_integer, rtol_is_integer; /* how they are printed, see struct named_number */
    size_t index_tolerance;
    size_t topk_size;
    struct detection_criteria detections; /* `has_scores` is not set */
    double limits[COMPARISON_FUNCTIONS];  /* of functions with a metric, which fails if it is NaN */
};

/* The criteria for all outputs, as in the options; each member has the name of its option. Zeroed: the defaults of
 * comparison_rules_find() apply. */
struct comparison_rules {
    struct named_numbers rtol, atol, norm_tolerance;
    struct named_words check_error_stat; /* "max", "mean", "median", "elemwise" or "quantile" */
    struct named_numbers error_quantile; /* 0 .. 1 */
    bool infinities_compare_equal, nans_compare_equal, no_shape_check, want_medians;
    struct named_integers index_tolerance;             /* >= 0 */
    struct named_integers topk_size;                   /* >= 1 */
    struct named_numbers iou_threshold;                /* 0 .. 1 */
    struct named_numbers score_tolerance, score_cut;   /* >= 0; any */
    struct named_words detection_columns;              /* see detection_columns_parse() */
    struct named_numbers limits[COMPARISON_FUNCTIONS]; /* of functions with a metric */
};

/* The criteria for the output of this name. */
void comparison_rules_find(const struct comparison_rules *rules, const char *output, struct comparison_criteria *ret);

#endif
