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

/* Converts elements of this type: `stored` is the type in memory, `value` the name of one element in `expression`.
 * memcpy() because of alignment; compilers turn it into a plain load and vectorise the loop. */
#define CONVERT_CASE(type, stored, expression)                                                                         \
    case type:                                                                                                         \
        for (size_t i = 0; i < count; i++) {                                                                           \
            stored value;                                                                                              \
            memcpy(&value, source + i * sizeof(value), sizeof(value));                                                 \
            ret[i] = (expression);                                                                                     \
        }                                                                                                              \
        break;

/* The same for elements of 4 bits. */
#define CONVERT_HALF_BYTES_CASE(type, expression)                                                                      \
    case type:                                                                                                         \
        for (size_t i = 0; i < count; i++) {                                                                           \
            uint8_t value = half_byte(tensor, first + i);                                                              \
            ret[i] = (expression);                                                                                     \
        }                                                                                                              \
        break;

/* All integers of less than 64 bits; `convert` is a macro that converts one of them. */
#define CONVERT_INTEGER_CASES(convert)                                                                                 \
    CONVERT_CASE(DATA_UINT8, uint8_t, convert(value))                                                                  \
    CONVERT_CASE(DATA_UINT16, uint16_t, convert(value))                                                                \
    CONVERT_CASE(DATA_UINT32, uint32_t, convert(value))                                                                \
    CONVERT_CASE(DATA_INT8, int8_t, convert(value))                                                                    \
    CONVERT_CASE(DATA_INT16, int16_t, convert(value))                                                                  \
    CONVERT_CASE(DATA_INT32, int32_t, convert(value))                                                                  \
    CONVERT_HALF_BYTES_CASE(DATA_UINT4, convert(value))                                                                \
    CONVERT_HALF_BYTES_CASE(DATA_INT4, convert((value ^ 8) - 8))

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

#define TO_INTEGER(value) (uint64_t)(int64_t)(value)
#define TO_FLOAT64(value) (double)(value)

void elements_to_integers(const struct tensor *tensor, size_t first, size_t count, uint64_t *ret)
{
    const uint8_t *source = element_address(tensor, first);

    switch (tensor->type) {
        CONVERT_CASE(DATA_BOOL, uint8_t, value != 0)
        CONVERT_INTEGER_CASES(TO_INTEGER)
    case DATA_UINT64:
    case DATA_INT64:
        memcpy(ret, source, count * sizeof(*ret));
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
        CONVERT_CASE(DATA_BOOL, uint8_t, value != 0 ? 1.0F : 0.0F)
        CONVERT_CASE(DATA_FLOAT16, uint16_t, float16_to_float32(value))
        CONVERT_CASE(DATA_BFLOAT16, uint16_t, bfloat16_to_float32(value))
        CONVERT_CASE(DATA_FLOAT8E4M3FN, uint8_t, float8_to_float32(DATA_FLOAT8E4M3FN, value))
        CONVERT_CASE(DATA_FLOAT8E4M3FNUZ, uint8_t, float8_to_float32(DATA_FLOAT8E4M3FNUZ, value))
        CONVERT_CASE(DATA_FLOAT8E5M2, uint8_t, float8_to_float32(DATA_FLOAT8E5M2, value))
        CONVERT_CASE(DATA_FLOAT8E5M2FNUZ, uint8_t, float8_to_float32(DATA_FLOAT8E5M2FNUZ, value))
        CONVERT_HALF_BYTES_CASE(DATA_FLOAT4E2M1, float4_to_float32(value))
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
        CONVERT_CASE(DATA_FLOAT32, float, (double)value)
        CONVERT_CASE(DATA_BOOL, uint8_t, value != 0 ? 1.0 : 0.0)
        CONVERT_INTEGER_CASES(TO_FLOAT64)
        CONVERT_CASE(DATA_UINT64, uint64_t, (double)value)
        CONVERT_CASE(DATA_INT64, int64_t, (double)value)
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
