/* tensor/statistics/range.h: what the numbers of a tensor range over, with NaN and infinities counted apart.
 *
 * Other than statistics.h, where a NaN makes everything NaN, this says what the finite elements are like. 64-bit
 * integers are rounded to float64 first.
 */
#ifndef TENSOR_STATISTICS_RANGE_H
#define TENSOR_STATISTICS_RANGE_H

#include "tensor/values/tensor.h"

struct value_range {
    size_t elements, nans, infinities, zeros;
    size_t finite;                 /* elements that are; with none, the rest is 0 */
    double minimum, maximum, mean; /* of them */
    double largest_magnitude;      /* of them */
    double smallest_magnitude;     /* of those that are not 0; 0 when all are */
};

/* One pass over the elements. The type has an arithmetic (tensor/values/elements.h). */
void range_compute(const struct tensor *tensor, struct value_range *ret);

/* The largest magnitude of the finite elements alone, which takes less time; 0 without such elements. */
double range_largest_magnitude(const struct tensor *tensor);

#endif
