/* tensor/statistics/histogram.h: histogram of a tensor's elements, in ten bins like numpy.histogram().
 *
 *   double minimum = INFINITY, maximum = -INFINITY;
 *   histogram_extend_range(a, &minimum, &maximum);
 *   histogram_extend_range(b, &minimum, &maximum);
 *   histogram_compute(a, minimum, maximum, &histogram);
 */
#ifndef TENSOR_STATISTICS_HISTOGRAM_H
#define TENSOR_STATISTICS_HISTOGRAM_H

#include "tensor/values/tensor.h"

#define HISTOGRAM_BINS 10

struct histogram {
    /* a bin includes its lower edge but not its upper one; the last bin includes both */
    double edges[HISTOGRAM_BINS + 1];
    size_t counts[HISTOGRAM_BINS];
    size_t outside; /* elements in no bin: NaN, and values beyond the edges */
};

/* Widens [*minimum, *maximum] to contain all finite elements. The type must have an arithmetic
 * (tensor/values/elements.h). */
void histogram_extend_range(const struct tensor *tensor, double *minimum, double *maximum);

/* Counts the elements between two finite bounds. Equal bounds are moved apart by 0.5 each. With bounds that are not
 * finite or in the wrong order (a range that was never extended), all elements are outside. */
void histogram_compute(const struct tensor *tensor, double minimum, double maximum, struct histogram *ret);

/* Appends a heading and a line for each bin, with bars of up to 40 '#'; each line ends with a line break. Appends
 * nothing when all bins are empty. */
void histogram_to_text(const struct histogram *histogram, struct string_builder *text);

#endif
