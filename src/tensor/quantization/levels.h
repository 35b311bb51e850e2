/* tensor/quantization/levels.h: the representable values (levels) of a quantized type, and rounding to them.
 *
 * The module tensor/quantization/ contains QuantizeLinear and DequantizeLinear for single values, without a runtime,
 * and the signal-to-noise ratio of the result. It depends on tensor/values/.
 *
 * The rules are ONNX's: the quotient of value and scale is rounded to the nearest level, ties to even; then the zero
 * point is added, and the result is clipped to the type's range. Floating types of 8 and 4 bits have no zero point and
 * saturate at their largest finite number.
 */
#ifndef TENSOR_QUANTIZATION_LEVELS_H
#define TENSOR_QUANTIZATION_LEVELS_H

#include "tensor/values/data_type.h"

#define LEVELS_SMALL 256 /* as many as floating types have at most */

struct levels {
    enum data_type type;
    bool are_integers;
    int64_t lowest, highest;    /* of integers */
    size_t count;               /* 0: integers of more than 16 bits, too many to count one by one */
    float values[LEVELS_SMALL]; /* of a floating type, finite, in ascending order; zero once */
    bool even[LEVELS_SMALL];    /* the last bit of each is 0 */
};

/* False if values cannot be quantized to the type. */
bool levels_init(struct levels *levels, enum data_type type);

/* The level to which a value is quantized; `quotient` is the value divided by the scale. Levels are numbered from 0,
 * the lowest. NaN, which ONNX does not define here, is treated as 0. `clipped`: the rounded value was out of range. */
int64_t levels_find(const struct levels *levels, float quotient, int64_t zero_point, bool *clipped);

/* The value of a level, in units of the scale. */
static inline float levels_value(const struct levels *levels, int64_t level, int64_t zero_point)
{
    return levels->are_integers ? (float)(levels->lowest + level - zero_point) : levels->values[level];
}

#endif
