/* tensor/compare/validate.h: looking for values that are no numbers. */
#ifndef TENSOR_COMPARE_VALIDATE_H
#define TENSOR_COMPARE_VALIDATE_H

#include "tensor/values/tensor.h"

/* Types without NaN and infinity, strings among them, have none. A complex number counts by either part, for both if
 * need be. */
struct validation {
    size_t nans, infinities;
    size_t first_nan, first_infinity; /* row-major numbers, valid when there are any; see shape_position() */
};

void tensor_validate(const struct tensor *tensor, struct validation *ret);

/* Where a tensor has a NaN or an infinity and a reference, which has as many elements, has a number. */
struct excess {
    size_t count;
    size_t first;                /* row-major number, valid when there are any, like these: */
    double value, reference;     /* what the two have there */
    enum data_type limited_type; /* ends below the reference, which may be the reason; UNDEFINED: none does */
};

/* Complex numbers and strings have none. What is float32 or float64 may have been computed in a narrower type, whose
 * limits are looked at, too. */
void tensor_find_excess(const struct tensor *tensor, const struct tensor *reference, struct excess *ret);

/* The largest finite number of a floating type; NaN for other types. */
double data_type_limit(enum data_type type);

#endif
