/* tensor/compare/metrics.h: metrics of the distance between two outputs.
 *
 * With a the first and b the second output. Everything is computed in float64; the differences of two integer types are
 * exact before they become float64. A NaN or an infinity in either output makes most metrics NaN, also if both outputs
 * have it in the same element. Empty outputs count as equal.
 */
#ifndef TENSOR_COMPARE_METRICS_H
#define TENSOR_COMPARE_METRICS_H

#include "tensor/values/tensor.h"

struct metrics {
    double l2_norm;                       /* sqrt(sum of (a-b)^2) */
    double cosine_similarity;             /* a.b / (|a||b|), -1 .. 1; 1 if both are zero, 0 if exactly one is */
    double mean_squared_error;            /* mean of (a-b)^2 */
    double normalized_mean_squared_error; /* mean of (a-b)^2 / mean of b^2; infinity if only b = 0 */
    double peak_signal_to_noise; /* dB: 20 log10(max a) - 10 log10(MSE), max a being 1 if <= 0; infinity if MSE = 0 */
    double signal_to_noise;      /* dB: 10 log10(mean of a^2 / MSE); infinity if MSE = 0, else -infinity if a = 0 */
};

/* ERR_UNSUPPORTED for strings and complex numbers, ERR_INVALID when the numbers of elements differ. */
int metrics_compute(const struct tensor *a, const struct tensor *b, struct metrics *ret, struct error *err);

#endif
