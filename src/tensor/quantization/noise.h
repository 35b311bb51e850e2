/* tensor/quantization/noise.h: how much of something is signal and how much is noise. */
#ifndef TENSOR_QUANTIZATION_NOISE_H
#define TENSOR_QUANTIZATION_NOISE_H

#include "tensor/values/tensor.h"

/* Sums of squares: of what is expected, and of how far it is off. Those of several tensors can be added up. */
struct noise {
    double signal, noise;
    size_t compared, left_out; /* elements */
};

/* 10 log10(signal / noise) in dB: infinity without noise, -infinity where there is noise and no signal; NAN where all
 * elements were left out. */
double noise_ratio(const struct noise *noise);

/* Adds a tensor. Elements that are no finite number in `expected` are left out; if one is no finite number in `actual`
 * alone, or the shapes differ, noise is infinite from then on. Strings and complex numbers are without noise when they
 * are the same, and infinite else. */
void noise_add(struct noise *noise, const struct tensor *actual, const struct tensor *expected);

#endif
