/* tensor/compare/indices.c: comparing rankings. */
#include "tensor/compare/indices.h"

#include <stdio.h>
#include <stdlib.h>

#include "tensor/statistics/order_key.h"
#include "tensor/values/elements.h"

/* Two integer types keep their exact values, unless only float64 has room for both; everything else is float64. */
static bool compares_integers(enum data_type a, enum data_type b)
{
    bool integers = elements_arithmetic(a) == ARITHMETIC_INTEGER && elements_arithmetic(b) == ARITHMETIC_INTEGER;
    bool too_wide = (a == DATA_UINT64 && data_type_is_signed(b)) || (b == DATA_UINT64 && data_type_is_signed(a));

    return integers && !too_wide;
}

/* Reads values as keys that are equal when the values are. */
static void read_row(const struct tensor *tensor, bool integers, size_t first, size_t count, uint64_t *ret)
{
    double run[ELEMENTS_RUN];

    if (integers) {
        elements_to_integers(tensor, first, count, ret);
        return;
    }
    for (size_t start = 0; start < count; start += ELEMENTS_RUN) {
        size_t length = elements_in_run(count, start);
        elements_to_float64(tensor, first + start, length, run);
        for (size_t i = 0; i < length; i++)
            ret[start + i] = order_key_of_float64(run[i] + 0.0); /* -0 becomes 0 */
    }
}

/* Looks for `key` in a row, from `position` outwards, up to `reach` places away. */
static bool find_nearest(const uint64_t *row, size_t length, uint64_t key, size_t position, size_t reach, size_t *ret)
{
    for (size_t distance = 0; distance < length && distance <= reach; distance++) {
        if (distance <= position && row[position - distance] == key) {
            *ret = position - distance;
            return true;
        }
        if (distance < length - position && row[position + distance] == key) {
            *ret = position + distance;
            return true;
        }
    }
    return false;
}

static void describe_value(const struct tensor *tensor, size_t element, char ret[NUMBER_TEXT_SIZE])
{
    uint64_t integer;
    double number;

    if (elements_arithmetic(tensor->type) != ARITHMETIC_INTEGER) {
        elements_to_float64(tensor, element, 1, &number);
        number_to_text(number, ret);
        return;
    }
    elements_to_integers(tensor, element, 1, &integer);
    if (data_type_is_signed(tensor->type))
        snprintf(ret, NUMBER_TEXT_SIZE, "%lld", (long long)integer);
    else
        snprintf(ret, NUMBER_TEXT_SIZE, "%llu", (unsigned long long)integer);
}

/* `memory` has room for two rows. */
static void compare_row(const struct tensor *a, const struct tensor *b, size_t row, size_t length, size_t tolerance,
                        uint64_t *memory, struct indices_result *result)
{
    bool integers = compares_integers(a->type, b->type);
    uint64_t *left = memory, *right = memory + length;
    size_t looked_at = length > tolerance ? length - tolerance : length;
    size_t place;

    read_row(a, integers, row * length, length, left);
    read_row(b, integers, row * length, length, right);
    for (size_t i = 0; i < looked_at; i++) {
        if (find_nearest(right, length, left[i], i, tolerance, &place))
            continue;
        result->passed = false;
        if (result->failures++ > 0)
            continue;
        result->row = row;
        result->position = i;
        result->found = find_nearest(right, length, left[i], i, length, &result->found_at);
        describe_value(a, row * length + i, result->value);
    }
}

int compare_indices(const struct tensor *a, const struct tensor *b, size_t tolerance, struct indices_result *ret,
                    struct error *err)
{
    size_t elements = tensor_elements(a);
    size_t length = a->shape.rank > 0 ? (size_t)a->shape.dims[a->shape.rank - 1] : 1;
    struct indices_result result = {.passed = true};
    uint64_t *memory;

    for (int i = 0; i < 2; i++) {
        enum data_type type = (i == 0 ? a : b)->type;
        if (elements_arithmetic(type) == ARITHMETIC_NONE)
            return error_set(err, ERR_UNSUPPORTED, "outputs of type %s hold no indices", data_type_name(type));
    }
    if (!shape_equal(&a->shape, &b->shape)) {
        *ret = (struct indices_result){.shape_mismatch = true};
        return 0;
    }
    if (elements > 0) {
        memory = length <= PTRDIFF_MAX / (2 * sizeof(*memory)) ? malloc(2 * length * sizeof(*memory)) : NULL;
        if (!memory)
            return error_set(err, ERR_MEMORY, "there is not enough memory for two rows of %zu indices", length);
        for (size_t row = 0; row < elements / length; row++)
            compare_row(a, b, row, length, tolerance, memory, &result);
        free(memory);
    }
    *ret = result;
    return 0;
}
