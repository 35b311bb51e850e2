/* tensor/statistics/selection.h: order statistics (the n-th smallest elements) without sorting or copying the tensor.
 *
 * Each pass over the data counts the elements by eleven more bits of their order keys (tensor/statistics/order_key.h),
 * beginning with the highest, among those that share the bits found so far: three passes for types of up to 32 bits,
 * six for others.
 */
#ifndef TENSOR_STATISTICS_SELECTION_H
#define TENSOR_STATISTICS_SELECTION_H

#include "tensor/values/tensor.h"

#define SELECTION_MAX_RANKS 8

/* Writes to ret[i] the element of rank ranks[i], 0 being the smallest. At most SELECTION_MAX_RANKS ranks, each less
 * than the number of elements, of a type with an arithmetic (tensor/values/elements.h). NaN sorts beyond the
 * infinities. */
void selection_find(const struct tensor *tensor, const size_t *ranks, size_t count, double *ret);

#endif
