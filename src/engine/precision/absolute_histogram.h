/* engine/precision/absolute_histogram.h: how often which absolute values were seen, in one pass and in constant memory.
 *
 * Bins are equally wide and begin at 0. When a value lies beyond the last one, the width is doubled until it does not,
 * so that counts stay exact.
 */
#ifndef ENGINE_PRECISION_ABSOLUTE_HISTOGRAM_H
#define ENGINE_PRECISION_ABSOLUTE_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#define ABSOLUTE_HISTOGRAM_BINS 2048

struct absolute_histogram {
    uint64_t bins[ABSOLUTE_HISTOGRAM_BINS];
    uint64_t zeros; /* seen before there was a width */
    double width;   /* 0: nothing but zeros so far */
    float largest;
    uint64_t total; /* finite values */
};

/* Zeroed memory is an empty histogram. */
void absolute_histogram_add(struct absolute_histogram *histogram, const float *values, size_t count);

/* What range to keep when 0 .. range is stored in 127 steps of equal size, and what is larger as its end. All of them
 * are at most `largest`, and > 0 when that is. */

/* The range with the least relative entropy between the distribution and its quantized form. Source: S. Migacz, "8-bit
 * Inference with TensorRT" (GTC 2017), with 2048 bins. */
double absolute_histogram_entropy_range(const struct absolute_histogram *histogram);

/* What `range` cuts off: the share of the values that lie beyond it, and the share of the sum of all absolute values by
 * which they do. As exact as the bins. */
struct absolute_histogram_clipping {
    double values, sum;
};

struct absolute_histogram_clipping absolute_histogram_clipping(const struct absolute_histogram *histogram,
                                                               double range);

/* The end of the first bin up to which there is this share (0 .. 1) of all values. */
double absolute_histogram_quantile_range(const struct absolute_histogram *histogram, double quantile);

#endif
