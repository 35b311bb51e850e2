/* tensor/generate/data_generator.c: random tensors, with the same sequence as NumPy's RandomState. */
#include "tensor/generate/data_generator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text/number.h"

/* value = fraction * scale + shift */
struct float_range {
    double scale, shift;
};

static struct float_range float_range_of(double minimum, double maximum)
{
    if (isinf(maximum))
        return (struct float_range){maximum, 0};
    if (isinf(minimum))
        return (struct float_range){minimum, 0};
    return (struct float_range){maximum - minimum, minimum};
}

/* In two statements: in one, a compiler may fuse multiplication and addition with a single rounding. */
static double next_float(struct mersenne_twister *random, struct float_range range)
{
    double scaled = mersenne_twister_next_fraction(random) * range.scale;

    return scaled + range.shift;
}

static void store_floats(const double *values, size_t count, enum data_type type, size_t index, void *data)
{
    if (type == DATA_FLOAT64)
        memcpy((double *)data + index, values, count * sizeof(*values));
    for (size_t i = 0; type == DATA_FLOAT32 && i < count; i++)
        ((float *)data)[index + i] = (float)values[i];
    for (size_t i = 0; type == DATA_FLOAT16 && i < count; i++)
        ((uint16_t *)data)[index + i] = float64_to_float16(values[i]);
}

/* The same numbers as next_float(), in blocks. */
static void fill_floats(struct mersenne_twister *random, struct float_range range, struct tensor *tensor)
{
    double values[256];
    size_t count = tensor_elements(tensor), part;

    for (size_t done = 0; done < count; done += part) {
        part = count - done < ARRAY_LEN(values) ? count - done : ARRAY_LEN(values);
        mersenne_twister_fractions(random, values, part);
        for (size_t i = 0; i < part; i++) {
            double scaled = values[i] * range.scale;

            values[i] = scaled + range.shift;
        }
        store_floats(values, part, tensor->type, done, tensor_writable(tensor));
    }
}

static int generate_strings(struct mersenne_twister *random, struct float_range range, const struct shape *shape,
                            struct tensor *ret, struct error *err)
{
    size_t count = shape_elements(shape);
    struct text *texts = NULL;
    SCOPED_STRING(bytes);

    texts = count <= PTRDIFF_MAX / sizeof(*texts) ? malloc((count + 1) * sizeof(*texts)) : NULL;
    if (!texts)
        return error_set(err, ERR_MEMORY, "not enough memory for a string tensor of %zu elements", count);
    for (size_t i = 0; i < count; i++) {
        char number[NUMBER_TEXT_SIZE];
        string_add(&bytes, number_to_text(next_float(random, range), number));
        texts[i].size = bytes.size; /* end offset; becomes a pointer when `bytes` is complete */
    }
    for (size_t i = count; i-- > 0;) {
        size_t start = i > 0 ? texts[i - 1].size : 0;
        texts[i] = (struct text){bytes.data + start, texts[i].size - start};
    }
    int rc = tensor_set_strings(shape, texts, ret, err);
    free(texts);
    return rc;
}

/* Integers from `low` to `low` + `range`, in two's complement of the type's width. */
struct integer_range {
    uint64_t low, range;
};

/* For an integer type or bool. */
static int integer_range_of(enum data_type type, double minimum, double maximum, struct integer_range *ret,
                            struct error *err)
{
    bool has_sign = data_type_is_signed(type);
    double limit = ldexp(1, (int)data_type_bits(type) - has_sign); /* the first integer that is too large */
    double low = trunc(minimum), high = trunc(maximum);
    char text[2][NUMBER_TEXT_SIZE];

    if (type == DATA_BOOL) {
        *ret = (struct integer_range){minimum != 0 && maximum != 0, (minimum != 0) != (maximum != 0)};
        return 0;
    }
    /* Near 2^64, limit - 1 rounds to limit: doubles cannot represent the largest integers. */
    if (!(low >= (has_sign ? -limit : 0) && high <= limit - 1 && low <= high))
        return error_set(err, ERR_INVALID,
                         "the range [%s, %s] is not valid for %s values: specify one for this input with --val-range "
                         "<input>:[<min>,<max>]",
                         number_to_text(minimum, text[0]), number_to_text(maximum, text[1]), data_type_name(type));

    uint64_t largest = has_sign ? INT64_MAX : UINT64_MAX;
    ret->low = low >= limit ? largest : low < 0 ? (uint64_t)(int64_t)low : (uint64_t)low;
    ret->range = (high >= limit ? largest : high < 0 ? (uint64_t)(int64_t)high : (uint64_t)high) - ret->low;
    return 0;
}

/* Produces random integers of `bits` bits. Narrow ones share an output of the generator, lowest bits first. */
struct bit_source {
    struct mersenne_twister *random;
    unsigned bits; /* 1, 8, 16, 32 or 64 */
    uint64_t buffer;
    unsigned left; /* integers in the buffer */
};

static uint64_t next_bits(struct bit_source *source)
{
    if (source->bits == 64) {
        uint64_t high = mersenne_twister_next(source->random);
        return high << 32 | mersenne_twister_next(source->random);
    }
    if (source->left == 0) {
        source->buffer = mersenne_twister_next(source->random);
        source->left = 32 / source->bits;
    }
    uint64_t ret = source->buffer & (((uint64_t)1 << source->bits) - 1);
    source->buffer >>= source->bits;
    source->left--;
    return ret;
}

/* The first of two 4-bit integers is in the lower half of their byte. */
static void store_generated_integer(uint64_t value, size_t bits, size_t index, uint8_t *data)
{
    if (bits >= 8)
        memcpy(data + index * (bits / 8), &value, bits / 8);
    else if (index % 2 == 0)
        data[index / 2] = value & 0xF;
    else
        data[index / 2] |= (uint8_t)((value & 0xF) << 4);
}

/* 4-bit integers are generated like 8-bit ones: NumPy has no such type. */
static void fill_integers(struct mersenne_twister *random, struct integer_range range, struct tensor *tensor)
{
    uint8_t *data = tensor_writable(tensor);
    size_t bits = data_type_bits(tensor->type);
    size_t count = tensor_elements(tensor);
    struct bit_source source = {.random = random,
                                .bits = tensor->type == DATA_BOOL ? 1
                                        : bits < 8                ? 8
                                                                  : (unsigned)bits};
    uint64_t mask = range.range > 0 ? UINT64_MAX >> __builtin_clzll(range.range) : 0;

    if (source.bits == 64 && range.range <= UINT32_MAX)
        source.bits = 32;
    for (size_t i = 0; i < count; i++) {
        uint64_t value = 0;
        if (range.range > 0) {
            do
                value = next_bits(&source) & mask;
            while (value > range.range);
        }
        value += range.low;
        store_generated_integer(value, bits, i, data);
    }
}

int tensor_generate(struct mersenne_twister *random, enum data_type type, const struct shape *shape,
                    struct number_range range, struct tensor *ret, struct error *err)
{
    bool is_float = type == DATA_FLOAT64 || type == DATA_FLOAT32 || type == DATA_FLOAT16;
    bool is_integer = data_type_is_integer(type) || type == DATA_BOOL;
    struct integer_range integers = {0};

    if (type == DATA_STRING)
        return generate_strings(random, float_range_of(range.minimum, range.maximum), shape, ret, err);
    if (!is_float && !is_integer)
        return error_set(err, ERR_UNSUPPORTED,
                         "cannot generate random data of type %s: supply inputs with --load-inputs",
                         data_type_name(type));

    int rc = is_integer ? integer_range_of(type, range.minimum, range.maximum, &integers, err) : 0;
    if (rc == 0)
        rc = tensor_allocate(type, shape, ret, err);
    if (rc < 0)
        return rc;
    if (is_float)
        fill_floats(random, float_range_of(range.minimum, range.maximum), ret);
    else
        fill_integers(random, integers, ret);
    return 0;
}
