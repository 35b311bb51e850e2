/* tensor/compare/compare.h: whether two outputs agree within tolerances.
 *
 * The module tensor/compare/ contains all comparisons of two tensors that `run` offers: differences with tolerances,
 * distances, rankings; and the search for NaN and infinities in one tensor. It depends on tensor/values/ and
 * tensor/statistics/.
 *
 * tensor/compare/difference.h defines the difference of two elements for each pair of types. A difference is too large
 * when it is NaN or greater than its tolerance; of two NaN it is 0 with `nans_compare_equal`. Two outputs disagree
 * when, for the chosen statistic, both the absolute and the relative difference are too large. Empty outputs agree.
 * Strings agree when they are equal, whatever the tolerances.
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
    /* Tolerance of the normwise relative error in the maximum norm (Higham, Accuracy and Stability of Numerical
     * Algorithms, ch. 6). Multiplied by the largest finite magnitude of the reference, it replaces a smaller `atol`,
     * except for integers of 32 bits and more; 0: none. Masks (range_is_mask()) do not count for that magnitude; they
     * are compared by position and sign. */
    double norm_tolerance;
    enum compare_statistic statistic;
    double quantile; /* for COMPARE_QUANTILE, in [0, 1] */
    bool infinities_compare_equal;
    bool nans_compare_equal; /* elements that are NaN in both outputs */
    /* false: the second output is transposed or reshaped if necessary, see tensor_match_shape() */
    bool check_shapes;
    bool want_medians; /* compute medians also if the statistic does not need them */
};

#define COMPARE_DEFAULTS ((struct compare_options){.atol = 1e-5, .rtol = 1e-5, .quantile = 0.99, .check_shapes = true})

struct compare_difference {
    double maximum, mean;
    double median;   /* valid when has_medians */
    double quantile; /* valid when has_quantiles */
};

struct compare_result {
    bool passed;
    bool shape_mismatch; /* the shapes are incompatible; nothing below is valid */
    struct compare_difference absolute, relative;
    bool has_medians, has_quantiles;
    double metric; /* not of compare_outputs(): the value of another comparison function */
    double atol;   /* in effect */
    double norm;   /* largest finite magnitude of the reference without masks; valid with a norm tolerance */
    size_t elements;
    size_t mismatches; /* elements outside their tolerances, whatever the statistic */
    size_t first;      /* row-major index of the first mismatch; valid with mismatches > 0 */
    /* index of the greatest absolute difference among the mismatches or, if there are none, all elements */
    size_t worst;
    size_t equal_nans;   /* elements that are NaN in both outputs and count as equal */
    bool zeros_replaced; /* zeros in the second output were replaced: relative differences to them are not meaningful */
};

/* Convert between the enum and its name on the command line ("elemwise", "max", ...). Parsing returns false for an
 * unknown name. */
const char *compare_statistic_name(enum compare_statistic statistic);
bool compare_statistic_parse(struct text name, enum compare_statistic *ret);

/* ERR_INVALID for a tolerance that is NaN or negative and for a quantile outside [0, 1]. Allows a caller to report them
 * before it computes the outputs. */
int compare_options_check(const struct compare_options *options, struct error *err);

/* Compares `a` with the reference `b`. A mismatch is a result, not an error. Errors: ERR_INVALID (options),
 * ERR_UNSUPPORTED (complex numbers), ERR_MEMORY (medians, quantiles or a transposed copy). */
int compare_outputs(const struct tensor *a, const struct tensor *b, const struct compare_options *options,
                    struct compare_result *ret, struct error *err);

enum difference_kind { DIFFERENCE_ABSOLUTE, DIFFERENCE_RELATIVE };

/* Computes all differences of one kind, in the shape of `a`; float32 if they are computed in float32, else float64.
 * ERR_INVALID if the shapes are incompatible. */
int compare_differences(const struct tensor *a, const struct tensor *b, const struct compare_options *options,
                        enum difference_kind kind, struct tensor *ret, struct error *err);

#endif
