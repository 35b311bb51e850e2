/* tensor/values/float_bits.h: the bit patterns of IEEE 754 numbers. */
#ifndef TENSOR_VALUES_FLOAT_BITS_H
#define TENSOR_VALUES_FLOAT_BITS_H

#include <stdint.h>
#include <string.h>

static inline uint32_t float32_bits(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static inline float float32_of_bits(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static inline uint64_t float64_bits(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static inline double float64_of_bits(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

#endif
