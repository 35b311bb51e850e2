/* tensor/statistics/range.h: range of a tensor's finite elements, with separate counts of NaN and infinities.
 *
 * In contrast to statistics.h, where a NaN makes every result NaN, the results describe the finite elements only.
 * 64-bit integers are rounded to float64 first.
 */
#ifndef TENSOR_STATISTICS_RANGE_H
#define TENSOR_STATISTICS_RANGE_H

#include "tensor/values/tensor.h"

struct value_range {
    size_t elements, nans, infinities, zeros;
    size_t finite;                 /* finite elements; if 0, the rest is 0 */
    double minimum, maximum, mean; /* of finite elements */
    double largest_magnitude;      /* of finite elements */
    double scale;                  /* the same without masks, see range_largest_magnitude() */
    double smallest_magnitude;     /* of finite elements other than 0; 0 if there are none */
};

/* One pass over the elements. The type must have an arithmetic (tensor/values/elements.h). */
void range_compute(const struct tensor *tensor, struct value_range *ret);

/* Whether a value can only be a mask: beyond 1e30; negative and beyond half the range of float16. Attention adds such
 * numbers, or puts them in place of scores, so that a Softmax makes 0 of them; their size does not matter. */
bool range_is_mask(enum data_type type, double value);

/* The scale of a tensor: the largest magnitude of its finite elements other than masks; 0 if there are none. */
double range_largest_magnitude(const struct tensor *tensor);

#endif
