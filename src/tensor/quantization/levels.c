/* tensor/quantization/levels.c: see levels.h. */
#include "tensor/quantization/levels.h"

#include <math.h>

/* Decodes a number of 8 bits, or of 4 in the low half. */
static float small_float(enum data_type type, unsigned bits)
{
    return type == DATA_FLOAT4E2M1 ? float4_to_float32((uint8_t)bits) : float8_to_float32(type, (uint8_t)bits);
}

/* Positive numbers sort like their bit patterns; negative ones mirror them. */
static void list_floats(struct levels *levels)
{
    unsigned sign = data_type_bits(levels->type) == 4 ? 0x8 : 0x80;

    for (unsigned bits = sign - 1; bits > 0; bits--) {
        float value = small_float(levels->type, bits);

        if (!isfinite(value))
            continue;
        levels->even[levels->count] = (bits & 1) == 0;
        levels->values[levels->count++] = -value;
    }
    for (unsigned bits = 0; bits < sign; bits++) {
        float value = small_float(levels->type, bits);

        if (!isfinite(value))
            continue;
        levels->even[levels->count] = (bits & 1) == 0;
        levels->values[levels->count++] = value;
    }
}

bool levels_init(struct levels *levels, enum data_type type)
{
    unsigned bits = data_type_bits(type);

    *levels = (struct levels){.type = type};
    if (data_type_is_float(type) && bits <= 8) {
        list_floats(levels);
        return true;
    }
    if (!data_type_is_integer(type) || bits > 32)
        return false;
    levels->are_integers = true;
    levels->lowest = data_type_is_signed(type) ? -((int64_t)1 << (bits - 1)) : 0;
    levels->highest = levels->lowest + ((int64_t)1 << bits) - 1;
    levels->count = bits <= 16 ? (size_t)1 << bits : 0;
    return true;
}

static int64_t find_integer(const struct levels *levels, float quotient, int64_t zero_point, bool *clipped)
{
    double rounded = rint((double)quotient) + (double)zero_point;

    *clipped = rounded < (double)levels->lowest || rounded > (double)levels->highest;
    if (!*clipped)
        return (int64_t)rounded - levels->lowest;
    return rounded < (double)levels->lowest ? 0 : levels->highest - levels->lowest;
}

static int64_t find_float(const struct levels *levels, float quotient, bool *clipped)
{
    const float *values = levels->values;
    size_t last = levels->count - 1, low = 0, high = last;
    double half_step = ((double)values[last] - (double)values[last - 1]) / 2;
    double below, above;
    double beyond = fabs((double)quotient) - (double)values[last];

    *clipped = beyond > half_step || (beyond == half_step && !levels->even[last]); /* NOLINT: exact */
    if (quotient >= values[last])
        return (int64_t)last;
    if (quotient <= values[0])
        return 0;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (values[middle] <= quotient)
            low = middle;
        else
            high = middle;
    }
    below = (double)quotient - (double)values[low];
    above = (double)values[high] - (double)quotient;
    if (below != above)
        return (int64_t)(below < above ? low : high);
    return (int64_t)(levels->even[low] ? low : high);
}

int64_t levels_find(const struct levels *levels, float quotient, int64_t zero_point, bool *clipped)
{
    if (isnan(quotient))
        quotient = 0;
    return levels->are_integers ? find_integer(levels, quotient, zero_point, clipped)
                                : find_float(levels, quotient, clipped);
}
