/* comparator/data/cast.h: a tensor with the same values in another element type. */
#ifndef COMPARATOR_DATA_CAST_H
#define COMPARATOR_DATA_CAST_H

#include "tensor/values/tensor.h"

/* Floating values are rounded to nearest, or cut off after the point for an integer type. Values beyond the type's
 * range become its nearest bound (NaN becomes 0) and are counted in `ret_clipped`; a floating type of 16 bits or more
 * has infinity there instead, and counts finite values that became infinite. Bool is true for all but 0.
 * ERR_UNSUPPORTED when either type is a string or complex. */
int tensor_cast(const struct tensor *from, enum data_type type, struct tensor *ret, size_t *ret_clipped,
                struct error *err);

/* The same for numbers that were written as text: int64, float64 or bool. They keep their values: a floating type
 * rounds them, and nothing else is lost. `ret_bad` is the first element whose value the type does not hold, or
 * the number of elements. */
int tensor_cast_numbers(const struct tensor *from, enum data_type type, struct tensor *ret, size_t *ret_bad,
                        struct error *err);

#endif
