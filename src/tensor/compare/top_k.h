/* tensor/compare/top_k.h: where the largest values are. */
#ifndef TENSOR_COMPARE_TOP_K_H
#define TENSOR_COMPARE_TOP_K_H

#include "tensor/values/tensor.h"

/* Replaces each line along `axis` (negative: counted from the last one) by the int64 positions of its `k` largest
 * values, the largest first. Of equal values the first comes first; NaN comes after all numbers. A `k` greater than
 * the axis means all.
 *
 * ERR_INVALID for k < 1, an axis that is not there, or a scalar; ERR_UNSUPPORTED for strings and complex numbers. */
int top_k(const struct tensor *tensor, int64_t k, int64_t axis, struct tensor *ret, struct error *err);

#endif
