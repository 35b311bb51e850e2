/* tensor/values/data_type.c: names and sizes of element types, and conversions of the small floating types. */
#include "tensor/values/data_type.h"

#include <math.h>

#include "base/memory.h"
#include "tensor/values/float_bits.h"

enum kind { KIND_OTHER, KIND_FLOAT, KIND_SIGNED, KIND_UNSIGNED };

static const struct type_description {
    const char *name;
    unsigned char bits;
    unsigned char kind;
} descriptions[] = {
    [DATA_UNDEFINED] = {"undefined", 0, KIND_OTHER},
    [DATA_FLOAT32] = {"float32", 32, KIND_FLOAT},
    [DATA_UINT8] = {"uint8", 8, KIND_UNSIGNED},
    [DATA_INT8] = {"int8", 8, KIND_SIGNED},
    [DATA_UINT16] = {"uint16", 16, KIND_UNSIGNED},
    [DATA_INT16] = {"int16", 16, KIND_SIGNED},
    [DATA_INT32] = {"int32", 32, KIND_SIGNED},
    [DATA_INT64] = {"int64", 64, KIND_SIGNED},
    [DATA_STRING] = {"string", 0, KIND_OTHER},
    [DATA_BOOL] = {"bool", 8, KIND_OTHER},
    [DATA_FLOAT16] = {"float16", 16, KIND_FLOAT},
    [DATA_FLOAT64] = {"float64", 64, KIND_FLOAT},
    [DATA_UINT32] = {"uint32", 32, KIND_UNSIGNED},
    [DATA_UINT64] = {"uint64", 64, KIND_UNSIGNED},
    [DATA_COMPLEX64] = {"complex64", 64, KIND_OTHER},
    [DATA_COMPLEX128] = {"complex128", 128, KIND_OTHER},
    [DATA_BFLOAT16] = {"bfloat16", 16, KIND_FLOAT},
    [DATA_FLOAT8E4M3FN] = {"float8e4m3fn", 8, KIND_FLOAT},
    [DATA_FLOAT8E4M3FNUZ] = {"float8e4m3fnuz", 8, KIND_FLOAT},
    [DATA_FLOAT8E5M2] = {"float8e5m2", 8, KIND_FLOAT},
    [DATA_FLOAT8E5M2FNUZ] = {"float8e5m2fnuz", 8, KIND_FLOAT},
    [DATA_UINT4] = {"uint4", 4, KIND_UNSIGNED},
    [DATA_INT4] = {"int4", 4, KIND_SIGNED},
    [DATA_FLOAT4E2M1] = {"float4e2m1", 4, KIND_FLOAT},
};

/* `type` may be any number read from a file. */
static const struct type_description *find_type_description(enum data_type type)
{
    return &descriptions[(unsigned)type < ARRAY_LEN(descriptions) ? type : DATA_UNDEFINED];
}

const char *data_type_name(enum data_type type)
{
    return find_type_description(type)->name;
}

enum data_type data_type_parse(struct text name)
{
    for (unsigned type = DATA_UNDEFINED + 1; type < ARRAY_LEN(descriptions); type++) {
        struct text other = text_of(descriptions[type].name);
        if (name.size == other.size && text_contains_ignoring_case(name, other))
            return (enum data_type)type;
    }
    return DATA_UNDEFINED;
}

unsigned data_type_bits(enum data_type type)
{
    return find_type_description(type)->bits;
}

bool data_type_is_float(enum data_type type)
{
    return find_type_description(type)->kind == KIND_FLOAT;
}

bool data_type_is_integer(enum data_type type)
{
    return find_type_description(type)->kind == KIND_SIGNED || find_type_description(type)->kind == KIND_UNSIGNED;
}

bool data_type_is_signed(enum data_type type)
{
    return find_type_description(type)->kind == KIND_SIGNED;
}

double data_type_unit_roundoff(enum data_type type)
{
    switch (type) {
    case DATA_FLOAT64:
        return 0x1p-53;
    case DATA_FLOAT32:
        return 0x1p-24;
    case DATA_FLOAT16:
        return 0x1p-11;
    case DATA_BFLOAT16:
        return 0x1p-8;
    default:
        return 0;
    }
}

/* Never inlined: GCC 12 removes such a pair of casts when it vectorises several of them. */
__attribute__((noinline)) double float64_round_to_float32(double value)
{
    return (double)(float)value;
}

float float16_to_float32(uint16_t bits)
{
    uint32_t sign = (uint32_t)(bits & 0x8000) << 16;
    uint32_t exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;

    if (exponent == 0x1f) /* infinity or NaN; the payload is kept */
        return float32_of_bits(sign | 0x7f800000 | fraction << 13);
    if (exponent == 0) { /* zero or subnormal: a multiple of 2^-24 */
        float value = (float)fraction * 0x1p-24F;
        return sign ? -value : value;
    }
    return float32_of_bits(sign | (exponent + 127 - 15) << 23 | fraction << 13);
}

uint16_t float32_to_float16(float value)
{
    uint32_t bits = float32_bits(value);
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    uint32_t magnitude = bits & 0x7fffffff;

    if (magnitude > 0x7f800000) /* NaN stays NaN, quiet, with the upper part of its payload */
        return (uint16_t)(sign | 0x7e00 | (magnitude >> 13 & 0x3ff));
    if (magnitude >= float32_bits(65520.0F)) /* halfway between the largest float16 and the next power of two */
        return sign | 0x7c00;
    if (magnitude < float32_bits(0x1p-14F)) { /* subnormal: the addition rounds to a multiple of 2^-24 */
        float shifted = float32_of_bits(magnitude) + 0x1p-1F;
        return (uint16_t)(sign | (float32_bits(shifted) - float32_bits(0x1p-1F)));
    }
    uint32_t odd = magnitude >> 13 & 1;
    return (uint16_t)(sign | (magnitude - ((127 - 15) << 23) + 0xfff + odd) >> 13);
}

uint16_t float64_to_float16(double value)
{
    float nearest = (float)value;

    /* Rounding twice may break a tie wrongly. The intermediate rounding is therefore to odd: lost bits set the last
     * remaining bit. */
    if (isfinite(nearest) && (double)nearest != value) {
        uint32_t bits = float32_bits(nearest);
        if (fabs((double)nearest) > fabs(value))
            bits--;
        nearest = float32_of_bits(bits | 1);
    }
    return float32_to_float16(nearest);
}

float bfloat16_to_float32(uint16_t bits)
{
    return float32_of_bits((uint32_t)bits << 16);
}

uint16_t float32_to_bfloat16(float value)
{
    uint32_t bits = float32_bits(value);

    if ((bits & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float float8_to_float32(enum data_type type, uint8_t bits)
{
    bool four_exponent_bits = type == DATA_FLOAT8E4M3FN || type == DATA_FLOAT8E4M3FNUZ;
    bool unsigned_zero = type == DATA_FLOAT8E4M3FNUZ || type == DATA_FLOAT8E5M2FNUZ;
    int fraction_bits = four_exponent_bits ? 3 : 2;
    int bias = (four_exponent_bits ? 7 : 15) + (unsigned_zero ? 1 : 0);
    int magnitude = bits & 0x7f;
    int exponent = magnitude >> fraction_bits;
    int fraction = magnitude & ((1 << fraction_bits) - 1);
    float value;

    if (unsigned_zero ? bits == 0x80 : magnitude == 0x7f)
        return NAN;
    if (type == DATA_FLOAT8E5M2 && exponent == 0x1f)
        value = fraction ? NAN : INFINITY;
    else if (exponent == 0)
        value = ldexpf((float)fraction, 1 - bias - fraction_bits);
    else
        value = ldexpf((float)(fraction + (1 << fraction_bits)), exponent - bias - fraction_bits);
    return bits & 0x80 ? -value : value;
}

float float4_to_float32(uint8_t bits)
{
    static const float values[] = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6};
    float value = values[bits & 7];

    return bits & 8 ? -value : value;
}
