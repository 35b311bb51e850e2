/* tensor/statistics/order_key.h: numbers as unsigned integers that sort the same way.
 *
 * IEEE 754 numbers of one sign sort like their bit patterns; flipping the sign bit of positive ones and all bits of
 * negative ones puts the two halves into order. NaN sorts beyond the infinity of its sign, -0 just below 0.
 */
#ifndef TENSOR_STATISTICS_ORDER_KEY_H
#define TENSOR_STATISTICS_ORDER_KEY_H

#include "tensor/values/float_bits.h"

static inline uint32_t order_key_of_float32(float value)
{
    uint32_t bits = float32_bits(value);

    return bits ^ (bits >> 31 ? UINT32_MAX : (uint32_t)1 << 31);
}

static inline float order_key_to_float32(uint32_t key)
{
    return float32_of_bits(key ^ (key >> 31 ? (uint32_t)1 << 31 : UINT32_MAX));
}

static inline uint64_t order_key_of_float64(double value)
{
    uint64_t bits = float64_bits(value);

    return bits ^ (bits >> 63 ? UINT64_MAX : (uint64_t)1 << 63);
}

static inline double order_key_to_float64(uint64_t key)
{
    return float64_of_bits(key ^ (key >> 63 ? (uint64_t)1 << 63 : UINT64_MAX));
}

#endif
