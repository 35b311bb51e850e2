/* tensor/compare/validate.h: counts NaN and infinities. */
#ifndef TENSOR_COMPARE_VALIDATE_H
#define TENSOR_COMPARE_VALIDATE_H

#include "tensor/values/tensor.h"

/* Results of tensor_validate(); all 0 for types without NaN and infinity, strings included. A complex number counts as
 * NaN if either part is NaN, and as infinite if either part is infinite. */
struct validation {
    size_t nans, infinities;
    size_t first_nan, first_infinity; /* row-major indices, valid if the count is not 0; see shape_position() */
};

void tensor_validate(const struct tensor *tensor, struct validation *ret);

/* Elements that are NaN or infinite where a reference tensor (with as many elements) has a finite number. */
struct excess {
    size_t count;
    size_t first;                /* row-major index; this and the following are valid if count > 0 */
    double value, reference;     /* of the first one */
    enum data_type limited_type; /* its largest number is below the reference: possible overflow; UNDEFINED: none */
};

/* Complex numbers and strings are never counted. A float32 or float64 value may have been computed in a narrower type,
 * so limits of narrower types are checked, too. */
void tensor_find_excess(const struct tensor *tensor, const struct tensor *reference, struct excess *ret);

/* The largest finite number of a floating type; NaN for other types. */
double data_type_limit(enum data_type type);

#endif
