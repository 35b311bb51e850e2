/* tensor/compare/difference.h: absolute and relative differences of two tensors, a run of elements at a time.
 *
 * With a the first and b the second tensor (the reference), absolute is |a - b| and relative is |a - b| / |b|. The
 * arithmetic depends on the two types:
 *  - integers and bool: exact magnitudes, saturated at 2^64 - 1, returned as float64; the
 *    relative difference to 0 is infinite, or NaN when both are 0
 *  - floating types that fit into float32, also against bool: float32
 *  - any other pair of numeric types: float64
 *  - strings: both differences are 0 for equal texts, else 1; also when only one of the tensors contains strings
 * Zeros in a floating reference are replaced by 2^-52.
 */
#ifndef TENSOR_COMPARE_DIFFERENCE_H
#define TENSOR_COMPARE_DIFFERENCE_H

#include "tensor/values/elements.h"

struct pair {
    const struct tensor *a, *b;
    enum arithmetic arithmetic; /* ARITHMETIC_NONE: strings */
    bool infinities_equal;      /* else their difference is NaN */
    bool nans_equal;            /* NaN in both has difference 0, else NaN */
    bool masks_equal;           /* masks (range_is_mask()) of the same sign have difference 0 */
};

/* The tensors must have the same number of elements, and no complex numbers. */
void pair_init(struct pair *pair, const struct tensor *a, const struct tensor *b, bool infinities_equal,
               bool nans_equal);

/* Writes `count` (at most ELEMENTS_RUN) differences from element `first` on. Differences computed in float32 are
 * widened to double. */
void pair_differences(const struct pair *pair, size_t first, size_t count, double *absolute, double *relative);

struct tolerance {
    double absolute, relative;
};

/* Whether an element with these differences is a mismatch: neither is within its tolerance, and NaN never is.
 * Tolerances are rounded to float32 for differences in float32, and do not apply to strings. */
bool pair_mismatch(const struct pair *pair, const struct tolerance *tolerance, double absolute, double relative);

struct difference_summary {
    double absolute_sum, relative_sum;
    double absolute_maximum, relative_maximum; /* NaN if any difference is NaN */
    size_t mismatches;
    bool zeros_replaced;
};

void pair_summarize(const struct pair *pair, size_t first, size_t count, const struct tolerance *tolerance,
                    struct difference_summary *ret);

/* How many of these elements (at most ELEMENTS_RUN) are NaN in both tensors. */
size_t pair_equal_nans(const struct pair *pair, size_t first, size_t count);

/* The greater of two differences; NaN counts as the greatest. */
double difference_greatest(double a, double b);

#endif
