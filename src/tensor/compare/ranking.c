/* tensor/compare/ranking.c: see ranking.h. */
#include "tensor/compare/ranking.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/text/names.h"
#include "tensor/statistics/order_key.h"
#include "tensor/values/elements.h"

/* ---- Positions of the largest values: a heap contains the best so far ---- */

struct ranked_element {
    uint64_t key; /* greater for greater values */
    size_t position;
};

static uint64_t read_key(const struct tensor *tensor, size_t element)
{
    uint64_t integer;
    double number;

    if (elements_arithmetic(tensor->type) == ARITHMETIC_INTEGER) {
        elements_to_integers(tensor, element, 1, &integer);
        return data_type_is_signed(tensor->type) ? integer ^ (uint64_t)1 << 63 : integer;
    }
    elements_to_float64(tensor, element, 1, &number);
    return isnan(number) ? 0 : order_key_of_float64(number + 0.0); /* -0 and 0 are equal */
}

static bool ranks_before(struct ranked_element a, struct ranked_element b)
{
    return a.key > b.key || (a.key == b.key && a.position < b.position);
}

/* Replaces the root of the heap, the lowest rank, by `candidate`. */
static void replace_last(struct ranked_element *heap, size_t count, struct ranked_element candidate)
{
    size_t hole = 0;

    for (;;) {
        size_t child = 2 * hole + 1;
        if (child + 1 < count && ranks_before(heap[child], heap[child + 1]))
            child++;
        if (child >= count || ranks_before(heap[child], candidate))
            break;
        heap[hole] = heap[child];
        hole = child;
    }
    heap[hole] = candidate;
}

/* Elements of a tensor along its axis. */
struct tensor_line {
    size_t first, stride, length;
};

/* Writes positions along the line to `ret`, with the same stride. */
static void find_largest(const struct tensor *tensor, struct tensor_line line, struct ranked_element *heap, size_t k,
                         int64_t *ret)
{
    /* Ranks after every element: its position is larger than any other. */
    for (size_t i = 0; i < k; i++)
        heap[i] = (struct ranked_element){0, SIZE_MAX};
    for (size_t i = 0; i < line.length; i++) {
        struct ranked_element candidate = {read_key(tensor, line.first + i * line.stride), i};
        if (ranks_before(candidate, heap[0]))
            replace_last(heap, k, candidate);
    }
    for (size_t left = k; left > 0; left--) {
        ret[(left - 1) * line.stride] = (int64_t)heap[0].position;
        replace_last(heap, left - 1, heap[left - 1]);
    }
}

int top_k(const struct tensor *tensor, int64_t k, int64_t axis, struct tensor *ret, struct error *err)
{
    int64_t rank = (int64_t)tensor->shape.rank;
    struct shape shape = tensor->shape;
    size_t outer = 1, inner = 1; /* lines before and elements within one step along the axis */

    if (elements_arithmetic(tensor->type) == ARITHMETIC_NONE)
        return error_set(err, ERR_UNSUPPORTED, "cannot rank values of type %s", data_type_name(tensor->type));
    if (k < 1)
        return error_set(err, ERR_INVALID, "top-%lld: the number of values to keep must be at least 1", (long long)k);
    if (axis < -rank || axis >= rank)
        return error_set(err, ERR_INVALID, "top-%lld: axis %lld is out of range for an output with %lld dimensions",
                         (long long)k, (long long)axis, (long long)rank);

    size_t along = (size_t)(axis < 0 ? axis + rank : axis);
    size_t length = (size_t)shape.dims[along];
    if ((uint64_t)k > length)
        k = (int64_t)length;
    shape.dims[along] = k;
    for (size_t i = 0; i < shape.rank; i++) {
        if (i < along)
            outer *= (size_t)shape.dims[i];
        else if (i > along)
            inner *= (size_t)shape.dims[i];
    }

    size_t kept = (size_t)k;
    struct ranked_element *heap SCOPED_FREE =
        kept < PTRDIFF_MAX / sizeof(*heap) ? malloc((kept + 1) * sizeof(*heap)) : NULL;
    if (!heap)
        return error_set(err, ERR_MEMORY, "not enough memory to find the %zu largest values", kept);
    int rc = tensor_allocate(DATA_INT64, &shape, ret, err);
    if (rc == 0 && ret->size > 0) {
        int64_t *positions = tensor_writable(ret);
        for (size_t i = 0; i < outer; i++) {
            for (size_t j = 0; j < inner; j++)
                find_largest(tensor, (struct tensor_line){i * length * inner + j, inner, length}, heap, kept,
                             positions + i * kept * inner + j);
        }
    }
    return rc;
}

int top_k_replace(struct tensor_list *tensors, const struct top_k_rule *rules, size_t count, struct error *err)
{
    VECTOR_EACH (struct named_tensor, item, *tensors) {
        const struct top_k_rule *rule = name_rule_find(rules, count, sizeof(*rules), item->name);
        struct tensor ranking;

        if (rule == NULL)
            continue;
        if (top_k(&item->tensor, rule->k, rule->axis, &ranking, err) < 0)
            return error_context(err, "output '%s'", item->name);
        tensor_release(&item->tensor);
        item->tensor = ranking;
    }
    return 0;
}

/* ---- Comparing rankings ---- */

/* Two integer types are compared exactly, unless only float64 can represent both; everything else is compared as
 * float64. */
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

/* Searches a row for `key`, from `position` outwards, up to `reach` positions away. */
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

/* Buffers for the pairs of rows that are compared. */
struct rows {
    const struct tensor *a, *b;
    size_t length, tolerance;
    uint64_t *left, *right; /* one row each */
};

static void compare_row(const struct rows *rows, size_t row, struct indices_result *result)
{
    bool integers = compares_integers(rows->a->type, rows->b->type);
    size_t length = rows->length, tolerance = rows->tolerance;
    size_t looked_at = length > tolerance ? length - tolerance : length;
    size_t place;

    read_row(rows->a, integers, row * length, length, rows->left);
    read_row(rows->b, integers, row * length, length, rows->right);
    for (size_t i = 0; i < looked_at; i++) {
        if (find_nearest(rows->right, length, rows->left[i], i, tolerance, &place))
            continue;
        result->passed = false;
        if (result->failures++ > 0)
            continue;
        result->row = row;
        result->position = i;
        result->found = find_nearest(rows->right, length, rows->left[i], i, length, &result->found_at);
        describe_value(rows->a, row * length + i, result->value);
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
            return error_set(err, ERR_UNSUPPORTED, "cannot compare outputs of type %s as indices",
                             data_type_name(type));
    }
    if (!shape_equal(&a->shape, &b->shape)) {
        *ret = (struct indices_result){.shape_mismatch = true};
        return 0;
    }
    if (elements > 0) {
        memory = length <= PTRDIFF_MAX / (2 * sizeof(*memory)) ? malloc(2 * length * sizeof(*memory)) : NULL;
        if (!memory)
            return error_set(err, ERR_MEMORY, "not enough memory for two rows of %zu indices", length);
        for (size_t row = 0; row < elements / length; row++)
            compare_row(&(struct rows){a, b, length, tolerance, memory, memory + length}, row, &result);
        free(memory);
    }
    *ret = result;
    return 0;
}
