/* comparator/data/cast.h: converts a tensor to another element type. */
#ifndef COMPARATOR_DATA_CAST_H
#define COMPARATOR_DATA_CAST_H

#include "tensor/values/tensor.h"

/* Floating values are rounded to nearest, or truncated for an integer type. Values beyond the type's range become its
 * nearest bound (NaN becomes 0) and are counted in `ret_clipped`; for floating types of 16 bits or more they become
 * infinite instead and are counted, too. For bool every value except 0 is true. ERR_UNSUPPORTED for strings and complex
 * numbers. */
int tensor_cast(const struct tensor *from, enum data_type type, struct tensor *ret, size_t *ret_clipped,
                struct error *err);

/* Like tensor_cast(), for numbers from text: int64, float64 or bool. Values must be preserved, except for rounding to a
 * floating type. `ret_bad` is the first element that the type cannot represent, or the number of elements. */
int tensor_cast_numbers(const struct tensor *from, enum data_type type, struct tensor *ret, size_t *ret_bad,
                        struct error *err);

#endif
