/* tensor/compare/top_k.c: positions of the largest values, found with a heap that holds the best ones so far. */
#include "tensor/compare/top_k.h"

#include <math.h>
#include <stdlib.h>

#include "base/text/names.h"
#include "tensor/statistics/order_key.h"
#include "tensor/values/elements.h"

struct candidate {
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

static bool ranks_before(struct candidate a, struct candidate b)
{
    return a.key > b.key || (a.key == b.key && a.position < b.position);
}

/* Puts `candidate` into the heap in place of its root, the last in rank. */
static void replace_last(struct candidate *heap, size_t count, struct candidate candidate)
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

/* One line: `length` elements from `first` on, `stride` apart. Positions go to `ret`, as far apart. */
static void find_largest(const struct tensor *tensor, size_t first, size_t stride, size_t length,
                         struct candidate *heap, size_t k, int64_t *ret)
{
    /* Ranks after everything, with any key: no position is as large. */
    for (size_t i = 0; i < k; i++)
        heap[i] = (struct candidate){0, SIZE_MAX};
    for (size_t i = 0; i < length; i++) {
        struct candidate candidate = {read_key(tensor, first + i * stride), i};
        if (ranks_before(candidate, heap[0]))
            replace_last(heap, k, candidate);
    }
    for (size_t left = k; left > 0; left--) {
        ret[(left - 1) * stride] = (int64_t)heap[0].position;
        replace_last(heap, left - 1, heap[left - 1]);
    }
}

int top_k(const struct tensor *tensor, int64_t k, int64_t axis, struct tensor *ret, struct error *err)
{
    int64_t rank = (int64_t)tensor->shape.rank;
    struct shape shape = tensor->shape;
    size_t outer = 1, inner = 1; /* lines before and elements within one step along the axis */

    if (elements_arithmetic(tensor->type) == ARITHMETIC_NONE)
        return error_set(err, ERR_UNSUPPORTED, "the largest values of type %s cannot be found",
                         data_type_name(tensor->type));
    if (k < 1)
        return error_set(err, ERR_INVALID, "top-%lld: the number of values to keep has to be at least 1", (long long)k);
    if (axis < -rank || axis >= rank)
        return error_set(err, ERR_INVALID, "top-%lld: there is no axis %lld in an output with %lld dimensions",
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
    struct candidate *heap = kept < PTRDIFF_MAX / sizeof(*heap) ? malloc((kept + 1) * sizeof(*heap)) : NULL;
    if (!heap)
        return error_set(err, ERR_MEMORY, "there is not enough memory to find the %zu largest values", kept);
    int rc = tensor_allocate(DATA_INT64, &shape, ret, err);
    if (rc == 0 && ret->size > 0) {
        int64_t *positions = tensor_writable(ret);
        for (size_t i = 0; i < outer; i++) {
            for (size_t j = 0; j < inner; j++)
                find_largest(tensor, i * length * inner + j, inner, length, heap, kept,
                             positions + i * kept * inner + j);
        }
    }
    free(heap);
    return rc;
}

int top_k_replace(struct tensor_list *tensors, const struct top_k_rule *rules, size_t count, struct error *err)
{
    for (size_t i = 0; i < tensors->count; i++) {
        struct named_tensor *item = &tensors->items[i];
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
