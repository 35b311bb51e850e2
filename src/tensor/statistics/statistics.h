/* tensor/statistics/statistics.h: the statistics of a tensor that the log shows.
 *
 * The module tensor/statistics/ contains summary statistics of tensors and differences. It depends on tensor/values/.
 *
 * Everything is computed in float64: 64-bit integers are rounded to it first. A NaN among the elements makes
 * everything NaN; an empty tensor has the values that Polygraphy shows for one
 * (docs/coming-from-polygraphy.md, "Statistics of nothing").
 */
#ifndef TENSOR_STATISTICS_STATISTICS_H
#define TENSOR_STATISTICS_STATISTICS_H

#include "tensor/values/tensor.h"

struct statistics {
    size_t elements;
    double mean;
    double standard_deviation, variance; /* of the whole population */
    double median;
    double minimum, maximum;
    size_t minimum_at, maximum_at; /* row-major index of the first such element, or of the first NaN */
    double average_magnitude;      /* mean of the absolute values */
    bool has_percentiles;          /* false for bool */
    double p90, p95, p99;
};

/* ERR_UNSUPPORTED for strings and complex numbers. */
int statistics_compute(const struct tensor *tensor, struct statistics *ret, struct error *err);

/* Appends "mean=2.6361, std-dev=0, ..., min=2.6361 at (0,), ..., p99=2.6361"; `shape` is the tensor's. */
void statistics_to_text(const struct statistics *statistics, const struct shape *shape, struct string_builder *text);

/* The value at position fraction * (elements - 1) of the sorted elements, linearly interpolated. NaN if an element is
 * NaN, infinity for an empty tensor. `fraction` is in [0, 1]; the type must have an arithmetic
 * (tensor/values/elements.h). */
double statistics_quantile(const struct tensor *tensor, double fraction);

/* The middle element, or the mean of the two middle ones. NaN if an element is NaN, 0 for an empty tensor. */
double statistics_median(const struct tensor *tensor);

#endif
