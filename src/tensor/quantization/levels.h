/* tensor/quantization/levels.h: the numbers that a quantized type has, and which of them a number becomes.
 *
 * The module tensor/quantization/ computes what QuantizeLinear and DequantizeLinear do to values, without a runtime: a
 * tensor, scales and zero points come in, what became of the values goes out. It uses tensor/values/.
 *
 * The rules are ONNX's: the quotient of value and scale is rounded to the nearest level, halves to the even one; then
 * the zero point is added, and what is out of the type's range becomes the nearest that is in it. Floating types of 8
 * and 4 bits have no zero point; beyond their last finite number they saturate.
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

/* False for a type that nothing is quantized to. */
bool levels_init(struct levels *levels, enum data_type type);

/* The level that a value becomes whose quotient with the scale this is. Levels are numbered from 0, the lowest. NaN,
 * which no rule is for, becomes what 0 becomes. `clipped`: rounded, it lies out of range. */
int64_t levels_find(const struct levels *levels, float quotient, int64_t zero_point, bool *clipped);

/* What a level is, in units of the scale. */
static inline float levels_value(const struct levels *levels, int64_t level, int64_t zero_point)
{
    return levels->are_integers ? (float)(levels->lowest + level - zero_point) : levels->values[level];
}

#endif
