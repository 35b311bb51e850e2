/* comparator/data/cast.c: see cast.h. */
#include "comparator/data/cast.h"

#include <math.h>

#include "tensor/values/elements.h"
#include "tensor/values/float_bits.h"

/* The target type and its limits. */
struct target {
    enum data_type type;
    unsigned bits;

    /* Of the floating types of 8 and 4 bits: the value of each code, and the largest finite one. */
    bool is_small_float;
    float values[256];
    double largest;
};

static void target_init(struct target *target, enum data_type type)
{
    *target = (struct target){.type = type, .bits = data_type_bits(type)};
    target->is_small_float = data_type_is_float(type) && target->bits <= 8;
    for (size_t code = 0; target->is_small_float && code < (size_t)1 << target->bits; code++) {
        float value = target->bits == 4 ? float4_to_float32((uint8_t)code) : float8_to_float32(type, (uint8_t)code);

        target->values[code] = value;
        if (isfinite(value))
            target->largest = fmax(target->largest, (double)value);
    }
}

/* An integer of up to 64 bits: a magnitude with a sign, so that all of int64 and uint64 can be represented. */
struct integer {
    uint64_t magnitude;
    bool negative;
};

static struct integer integer_of_bits(uint64_t bits, bool is_signed)
{
    bool negative = is_signed && bits >> 63 == 1;

    return (struct integer){negative ? ~bits + 1 : bits, negative};
}

static struct integer integer_of_double(double value, bool *clipped)
{
    double magnitude = trunc(fabs(value));

    if (isnan(value) || magnitude >= 0x1p64) {
        *clipped = true;
        return (struct integer){isnan(value) ? 0 : UINT64_MAX, value < 0};
    }
    return (struct integer){(uint64_t)magnitude, value < 0};
}

/* The two's complement bits of `value` within the range of an integer type. */
static uint64_t fit_integer(struct integer value, const struct target *target, bool *clipped)
{
    uint64_t largest = UINT64_MAX >> (64 - target->bits);
    uint64_t least = 0; /* magnitude of the minimum */

    if (data_type_is_signed(target->type)) {
        largest >>= 1;
        least = largest + 1;
    }
    if (value.magnitude > (value.negative ? least : largest)) {
        *clipped = true;
        value.magnitude = value.negative ? least : largest;
    }
    return value.negative ? ~value.magnitude + 1 : value.magnitude;
}

/* The code of the finite value nearest to `value`; of two, the even one. */
static uint64_t fit_small_float(double value, const struct target *target, bool *clipped)
{
    double bounded = fmin(fmax(isnan(value) ? 0 : value, -target->largest), target->largest);
    double best = INFINITY;
    uint64_t ret = 0;

    *clipped = !(fabs(value) <= target->largest);
    for (size_t code = 0; code < (size_t)1 << target->bits; code++) {
        double candidate = (double)target->values[code], distance = fabs(candidate - bounded);
        bool is_better_tie = distance == best && code % 2 == 0 && signbit(candidate) == signbit(bounded);

        if (isfinite(candidate) && (distance < best || is_better_tie)) {
            best = distance;
            ret = code;
        }
    }
    return ret;
}

static uint64_t fit_float(double value, const struct target *target, bool *clipped)
{
    float single = (float)value;
    uint64_t bits64;

    if (target->is_small_float)
        return fit_small_float(value, target, clipped);
    switch (target->type) {
    case DATA_FLOAT16:
        bits64 = float64_to_float16(value);
        *clipped = isfinite(value) && (bits64 & 0x7c00) == 0x7c00;
        return bits64;
    case DATA_BFLOAT16:
        bits64 = float32_to_bfloat16(single);
        *clipped = isfinite(value) && (bits64 & 0x7f80) == 0x7f80;
        return bits64;
    case DATA_FLOAT32:
        *clipped = isfinite(value) && isinf(single);
        return float32_bits(single);
    default:
        return float64_bits(value);
    }
}

/* Stores an element of 4 to 64 bits, little-endian, of two 4-bit elements in a byte the first in the low half. */
static void store_element(uint8_t *data, size_t element, unsigned width, uint64_t bits)
{
    if (width < 8) {
        uint8_t half = (uint8_t)(bits & 15);

        data += element / 2;
        *data = (uint8_t)(element % 2 == 0 ? half : *data | half << 4);
        return;
    }
    for (size_t i = 0; i < width / 8; i++)
        data[element * (width / 8) + i] = (uint8_t)(bits >> (8 * i));
}

static size_t cast_floats(const struct tensor *from, size_t first, size_t count, const struct target *target,
                          uint8_t *data)
{
    double values[ELEMENTS_RUN];
    size_t clips = 0;

    elements_to_float64(from, first, count, values);
    for (size_t i = 0; i < count; i++) {
        bool clipped = false;
        uint64_t bits;

        if (target->type == DATA_BOOL)
            bits = values[i] != 0;
        else if (data_type_is_float(target->type))
            bits = fit_float(values[i], target, &clipped);
        else
            bits = fit_integer(integer_of_double(values[i], &clipped), target, &clipped);
        store_element(data, first + i, target->bits, bits);
        clips += clipped;
    }
    return clips;
}

static size_t cast_integers(const struct tensor *from, size_t first, size_t count, const struct target *target,
                            uint8_t *data)
{
    uint64_t values[ELEMENTS_RUN];
    bool is_signed = data_type_is_integer(from->type) && data_type_is_signed(from->type);
    size_t clips = 0;

    elements_to_integers(from, first, count, values);
    for (size_t i = 0; i < count; i++) {
        bool clipped = false;
        uint64_t bits;

        if (target->type == DATA_BOOL)
            bits = values[i] != 0;
        else
            bits = fit_integer(integer_of_bits(values[i], is_signed), target, &clipped);
        store_element(data, first + i, target->bits, bits);
        clips += clipped;
    }
    return clips;
}

int tensor_cast(const struct tensor *from, enum data_type type, struct tensor *ret, size_t *ret_clipped,
                struct error *err)
{
    size_t count = tensor_elements(from), clips = 0;
    bool exact = elements_arithmetic(from->type) == ARITHMETIC_INTEGER && !data_type_is_float(type);
    struct target target;
    int rc;

    if (elements_arithmetic(from->type) == ARITHMETIC_NONE || elements_arithmetic(type) == ARITHMETIC_NONE)
        return error_set(err, ERR_UNSUPPORTED, "%s cannot be converted to %s", data_type_name(from->type),
                         data_type_name(type));
    rc = tensor_allocate(type, &from->shape, ret, err);
    if (rc < 0)
        return rc;
    target_init(&target, type);
    for (size_t first = 0; first < count; first += ELEMENTS_RUN) {
        size_t run = count - first < ELEMENTS_RUN ? count - first : ELEMENTS_RUN;

        clips += (exact ? cast_integers : cast_floats)(from, first, run, &target, tensor_writable(ret));
    }
    *ret_clipped = clips;
    return 0;
}

/* The first element that is clipped to the type's range. */
static size_t find_clipped(const struct tensor *from, enum data_type type)
{
    size_t count = tensor_elements(from), size = data_type_bits(from->type) / 8;

    for (size_t i = 0; i < count; i++) {
        struct tensor one, converted;
        size_t clipped = 0;

        tensor_borrow(from->type, &(struct shape){0}, (const uint8_t *)from->data + i * size, size, &one);
        if (tensor_cast(&one, type, &converted, &clipped, NULL) == 0)
            tensor_release(&converted);
        if (clipped > 0)
            return i;
    }
    return count;
}

/* The first of `count` elements whose value changes: a fraction, or a bool other than 0 and 1. */
static size_t find_changed(const struct tensor *from, const struct tensor *to, size_t count)
{
    double before[ELEMENTS_RUN], after[ELEMENTS_RUN];

    for (size_t first = 0; first < count; first += ELEMENTS_RUN) {
        size_t run = elements_in_run(count, first);

        elements_to_float64(from, first, run, before);
        elements_to_float64(to, first, run, after);
        for (size_t i = 0; i < run; i++)
            if (before[i] != after[i])
                return first + i;
    }
    return count;
}

int tensor_cast_numbers(const struct tensor *from, enum data_type type, struct tensor *ret, size_t *ret_bad,
                        struct error *err)
{
    size_t clipped, bad = tensor_elements(from);
    int rc = tensor_cast(from, type, ret, &clipped, err);

    if (rc < 0)
        return rc;
    if (clipped > 0)
        bad = find_clipped(from, type);
    *ret_bad = data_type_is_float(type) ? bad : find_changed(from, ret, bad);
    return 0;
}
