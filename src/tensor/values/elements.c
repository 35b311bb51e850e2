/* tensor/values/elements.c: reads elements as float32, float64 or 64-bit integers. */
#include "tensor/values/elements.h"

#include <string.h>

enum arithmetic elements_arithmetic(enum data_type type)
{
    if (data_type_is_integer(type) || type == DATA_BOOL)
        return ARITHMETIC_INTEGER;
    if (!data_type_is_float(type))
        return ARITHMETIC_NONE;
    return type == DATA_FLOAT64 ? ARITHMETIC_FLOAT64 : ARITHMETIC_FLOAT32;
}

/* Conversion loop: `stored` is the type in memory, `value` the name of one element in `expression`. memcpy() because of
 * alignment; compilers turn it into a plain load and vectorise the loop. */
#define CONVERT(stored, expression)                                                                                    \
    for (size_t i = 0; i < count; i++) {                                                                               \
        stored value;                                                                                                  \
        memcpy(&value, source + i * sizeof(value), sizeof(value));                                                     \
        ret[i] = (expression);                                                                                         \
    }

static const uint8_t *element_address(const struct tensor *tensor, size_t element)
{
    return (const uint8_t *)tensor->data + element * (data_type_bits(tensor->type) / 8);
}

/* Of a tensor with 4-bit elements. */
static uint8_t half_byte(const struct tensor *tensor, size_t element)
{
    const uint8_t *bytes = tensor->data;

    return bytes[element / 2] >> (element % 2 * 4) & 15;
}

void elements_to_integers(const struct tensor *tensor, size_t first, size_t count, uint64_t *ret)
{
    const uint8_t *source = element_address(tensor, first);

    switch (tensor->type) {
    case DATA_BOOL:
        CONVERT(uint8_t, value != 0)
        break;
    case DATA_UINT8:
        CONVERT(uint8_t, value)
        break;
    case DATA_UINT16:
        CONVERT(uint16_t, value)
        break;
    case DATA_UINT32:
        CONVERT(uint32_t, value)
        break;
    case DATA_UINT64:
    case DATA_INT64:
        memcpy(ret, source, count * sizeof(*ret));
        break;
    case DATA_INT8:
        CONVERT(int8_t, (uint64_t)(int64_t)value)
        break;
    case DATA_INT16:
        CONVERT(int16_t, (uint64_t)(int64_t)value)
        break;
    case DATA_INT32:
        CONVERT(int32_t, (uint64_t)(int64_t)value)
        break;
    case DATA_UINT4:
        for (size_t i = 0; i < count; i++)
            ret[i] = half_byte(tensor, first + i);
        break;
    case DATA_INT4:
        for (size_t i = 0; i < count; i++)
            ret[i] = (uint64_t)(int64_t)((half_byte(tensor, first + i) ^ 8) - 8);
        break;
    default:
        break;
    }
}

void elements_to_float32(const struct tensor *tensor, size_t first, size_t count, float *ret)
{
    const uint8_t *source = element_address(tensor, first);

    switch (tensor->type) {
    case DATA_FLOAT32:
        memcpy(ret, source, count * sizeof(*ret));
        break;
    case DATA_BOOL:
        CONVERT(uint8_t, value != 0 ? 1.0F : 0.0F)
        break;
    case DATA_FLOAT16:
        CONVERT(uint16_t, float16_to_float32(value))
        break;
    case DATA_BFLOAT16:
        CONVERT(uint16_t, bfloat16_to_float32(value))
        break;
    case DATA_FLOAT8E4M3FN:
        CONVERT(uint8_t, float8_to_float32(DATA_FLOAT8E4M3FN, value))
        break;
    case DATA_FLOAT8E4M3FNUZ:
        CONVERT(uint8_t, float8_to_float32(DATA_FLOAT8E4M3FNUZ, value))
        break;
    case DATA_FLOAT8E5M2:
        CONVERT(uint8_t, float8_to_float32(DATA_FLOAT8E5M2, value))
        break;
    case DATA_FLOAT8E5M2FNUZ:
        CONVERT(uint8_t, float8_to_float32(DATA_FLOAT8E5M2FNUZ, value))
        break;
    case DATA_FLOAT4E2M1:
        for (size_t i = 0; i < count; i++)
            ret[i] = float4_to_float32(half_byte(tensor, first + i));
        break;
    default:
        break;
    }
}

/* Converts to float32 and then to float64, through a buffer for part of the run. */
static void widen_float32(const struct tensor *tensor, size_t first, size_t count, double *ret)
{
    float part[256];

    while (count > 0) {
        size_t step = count < 256 ? count : 256;
        elements_to_float32(tensor, first, step, part);
        for (size_t i = 0; i < step; i++)
            ret[i] = (double)part[i];
        first += step;
        count -= step;
        ret += step;
    }
}

void elements_to_float64(const struct tensor *tensor, size_t first, size_t count, double *ret)
{
    const uint8_t *source = element_address(tensor, first);

    switch (tensor->type) {
    case DATA_FLOAT64:
        memcpy(ret, source, count * sizeof(*ret));
        break;
    case DATA_FLOAT32:
        CONVERT(float, (double)value)
        break;
    case DATA_BOOL:
        CONVERT(uint8_t, value != 0 ? 1.0 : 0.0)
        break;
    case DATA_UINT8:
        CONVERT(uint8_t, (double)value)
        break;
    case DATA_UINT16:
        CONVERT(uint16_t, (double)value)
        break;
    case DATA_UINT32:
        CONVERT(uint32_t, (double)value)
        break;
    case DATA_UINT64:
        CONVERT(uint64_t, (double)value)
        break;
    case DATA_INT8:
        CONVERT(int8_t, (double)value)
        break;
    case DATA_INT16:
        CONVERT(int16_t, (double)value)
        break;
    case DATA_INT32:
        CONVERT(int32_t, (double)value)
        break;
    case DATA_INT64:
        CONVERT(int64_t, (double)value)
        break;
    case DATA_UINT4:
        for (size_t i = 0; i < count; i++)
            ret[i] = (double)half_byte(tensor, first + i);
        break;
    case DATA_INT4:
        for (size_t i = 0; i < count; i++)
            ret[i] = (double)((half_byte(tensor, first + i) ^ 8) - 8);
        break;
    default:
        widen_float32(tensor, first, count, ret);
        break;
    }
}

void element_store_float(enum data_type type, double value, size_t element, void *data)
{
    float single = (float)value;
    uint16_t half = type == DATA_FLOAT16 ? float64_to_float16(value) : float32_to_bfloat16(single);

    if (type == DATA_FLOAT64)
        memcpy((char *)data + element * 8, &value, 8);
    else if (type == DATA_FLOAT32)
        memcpy((char *)data + element * 4, &single, 4);
    else
        memcpy((char *)data + element * 2, &half, 2);
}
