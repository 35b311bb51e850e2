/* debug/accuracy/tolerance.h: how far results may differ by rounding alone, where the user has not said. */
#ifndef DEBUG_ACCURACY_TOLERANCE_H
#define DEBUG_ACCURACY_TOLERANCE_H

#include "onnx/model/model.h"

/* What errors of rounding grow with. */
struct rounding_paths {
    size_t depth; /* nodes on the longest path */
    size_t terms; /* products in the longest sum of a node that multiplies with constant weights; at least 1 */
};

void rounding_paths_of(const struct model *model, struct rounding_paths *ret);

/* The largest difference, relative to the largest magnitude of the tensor, that is put down to rounding:
 *
 *     8 (u sqrt(depth) + v sqrt(depth terms))
 *
 * where u is the unit roundoff of what tensors are stored in and v that of float32, in which sums are made. Errors that
 * are independent grow with the square root of their number (Higham and Mary, A New Approach to Probabilistic Rounding
 * Error Analysis, 2019); 8 leaves room for those that are not, and for algorithms like Winograd's. At most 1. */
double rounding_tolerance(double unit_roundoff, const struct rounding_paths *paths);

#endif
