/* tensor/values/match_shape.h: giving a tensor the shape that another one has. */
#ifndef TENSOR_VALUES_MATCH_SHAPE_H
#define TENSOR_VALUES_MATCH_SHAPE_H

#include "tensor/values/tensor.h"

/* When both ranks are the same and the wanted dimensions are a permutation of the tensor's, transposes it, each wanted
 * dimension taking the first axis of that length that is still free. Otherwise reshapes it. `wanted` is static.
 *
 * `ret` may refer to the data of `tensor`, which has to outlive it. ERR_INVALID when the numbers of elements differ. */
int tensor_match_shape(const struct tensor *tensor, const struct shape *wanted, struct tensor *ret, struct error *err);

#endif
