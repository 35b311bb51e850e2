/* tensor/validate.h: looking for values that are no numbers. */
#ifndef TENSOR_VALIDATE_H
#define TENSOR_VALIDATE_H

#include "tensor/tensor.h"

/* Types without NaN and infinity, strings among them, have none. A complex number counts by either part, for both if
 * need be. */
struct validation {
    size_t nans, infinities;
    size_t first_nan, first_infinity; /* row-major numbers, valid when there are any; see shape_position() */
};

void tensor_validate(const struct tensor *tensor, struct validation *ret);

#endif
