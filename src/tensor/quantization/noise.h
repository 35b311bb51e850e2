/* tensor/quantization/noise.h: signal-to-noise ratio (SNR) of tensors. */
#ifndef TENSOR_QUANTIZATION_NOISE_H
#define TENSOR_QUANTIZATION_NOISE_H

#include "tensor/values/tensor.h"

/* Sums of squares of the expected values (signal) and of their errors (noise). Sums of several tensors can be added. */
struct noise {
    double signal, noise;
    size_t compared, left_out; /* elements */
};

/* 10 log10(signal / noise) in dB: infinity without noise, -infinity with noise but no signal; NAN if all elements were
 * left out. */
double noise_ratio(const struct noise *noise);

/* Adds a tensor. Elements that are not finite in `expected` are left out; if an element is not finite only in `actual`,
 * or the shapes differ, the noise becomes infinite. Strings and complex numbers add no noise if they are identical,
 * else infinite noise. */
void noise_add(struct noise *noise, const struct tensor *actual, const struct tensor *expected);

#endif
