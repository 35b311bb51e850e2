/* tensor/compare/compare.h: whether two outputs agree within tolerances.
 *
 * The module tensor/compare/ compares two tensors in every way that `run` offers: differences and tolerances,
 * distances, rankings; and looks for NaN and infinities in one. It uses tensor/values/ and tensor/statistics/.
 *
 * How the differences of two elements are computed for each pair of types: tensor/compare/difference.h. A difference is
 * too large when it is NaN or greater than its tolerance. Two outputs disagree when, for the chosen statistic, both the
 * absolute and the relative difference are too large. Empty outputs agree. Strings agree when they are equal, whatever
 * the tolerances.
 */
#ifndef TENSOR_COMPARE_COMPARE_H
#define TENSOR_COMPARE_COMPARE_H

#include "tensor/values/tensor.h"

enum compare_statistic {
    COMPARE_ELEMWISE, /* each element by itself */
    COMPARE_MAX,
    COMPARE_MEAN,
    COMPARE_MEDIAN,
    COMPARE_QUANTILE,
};

struct compare_options {
    double atol, rtol;
    /* Of the normwise relative error in the maximum norm (Higham, Accuracy and Stability of Numerical Algorithms,
     * ch. 6): times the largest finite magnitude of the reference it takes the place of a lesser absolute one, but
     * for integers of 32 bits and more; 0: none */
    double norm_tolerance;
    enum compare_statistic statistic;
    double quantile; /* for COMPARE_QUANTILE, in [0, 1] */
    bool infinities_compare_equal;
    /* false: the second output is transposed or reshaped if need be, see tensor_match_shape() */
    bool check_shapes;
    bool want_medians; /* report them though the statistic does not need them */
};

#define COMPARE_DEFAULTS ((struct compare_options){.atol = 1e-5, .rtol = 1e-5, .quantile = 0.99, .check_shapes = true})

struct compare_difference {
    double maximum, mean;
    double median;   /* valid when has_medians */
    double quantile; /* valid when has_quantiles */
};

struct compare_result {
    bool passed;
    bool shape_mismatch; /* the shapes do not go together; nothing below is valid */
    struct compare_difference absolute, relative;
    bool has_medians, has_quantiles;
    double atol; /* that was in effect */
    double norm; /* largest finite magnitude of the reference; valid with a norm tolerance */
    size_t elements;
    size_t mismatches; /* elements that fail by themselves, whatever the statistic */
    size_t first;      /* row-major number of the first of them; valid with mismatches > 0 */
    size_t worst; /* the one with the greatest absolute difference, of them or, if there are none, of all elements */
    bool zeros_replaced; /* in the second output: relative differences to them are not to be taken literally */
};

/* "elemwise", "max", ... as on the command line; parse returns false for anything else. */
const char *compare_statistic_name(enum compare_statistic statistic);
bool compare_statistic_parse(struct text name, enum compare_statistic *ret);

/* ERR_INVALID for a tolerance that is NaN or negative and for a quantile outside [0, 1]. Lets a caller complain before
 * it computes the outputs. */
int compare_options_check(const struct compare_options *options, struct error *err);

/* Compares `a` with the reference `b`. A disagreement is a result, not an error: errors are bad options, complex
 * numbers (ERR_UNSUPPORTED), and no memory for medians, quantiles or a transposed copy. */
int compare_outputs(const struct tensor *a, const struct tensor *b, const struct compare_options *options,
                    struct compare_result *ret, struct error *err);

enum difference_kind { DIFFERENCE_ABSOLUTE, DIFFERENCE_RELATIVE };

/* All differences of one kind in the shape of `a`: float32 where they are computed so, else float64. ERR_INVALID when
 * the shapes do not go together. */
int compare_differences(const struct tensor *a, const struct tensor *b, const struct compare_options *options,
                        enum difference_kind kind, struct tensor *ret, struct error *err);

#endif
