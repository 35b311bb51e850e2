/* tensor/compare/slices.h: parts of an output that have a scale of their own: the scores beside pixels, one channel of
 * many. A difference that is small for the whole may be as large as all of such a part.
 */
#ifndef TENSOR_COMPARE_SLICES_H
#define TENSOR_COMPARE_SLICES_H

#include "tensor/values/tensor.h"

/* All elements with one index on one axis. */
struct slice_error {
    bool found;
    size_t axis, index;
    double scale;      /* largest finite magnitude of the slice in the reference */
    double difference; /* largest absolute one, where both are finite */
};

/* The slice with the largest difference against its own scale, on axes along which the scales of slices differ by more
 * than a factor of 100. Slices whose scale is not more than `noise` times that of the whole are rounding errors
 * themselves, and left out. Not found where there is no such axis, or the types or shapes do not allow it. */
void slices_find_worst(const struct tensor *reference, const struct tensor *other, double noise,
                       struct slice_error *ret);

/* How many elements of two integer or boolean tensors of one shape differ; 0 for other types. */
size_t count_changed_integers(const struct tensor *reference, const struct tensor *other);

#endif
