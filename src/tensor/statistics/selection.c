/* tensor/statistics/selection.c: order statistics by counting bits of order keys. */
#include "tensor/statistics/selection.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tensor/statistics/order_key.h"
#include "tensor/values/elements.h"

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

/* Counters of the elements whose keys begin with `prefix`; ranks in the same group share them. */
struct key_group {
    uint64_t prefix;
    size_t counts[DIGITS];
};

/* A wanted rank: its group, and the number of smaller elements in that group. */
struct rank_place {
    struct key_group *group;
    size_t before;
};

struct rank_search {
    const struct tensor *tensor;
    size_t elements;
    unsigned key_bits; /* 32 or 64 */
    struct key_group *groups;
    size_t group_count;
    bool wanted[DIGITS]; /* by the first digit: whether any group begins with it */
};

static unsigned key_bits(enum data_type type)
{
    if (elements_arithmetic(type) == ARITHMETIC_INTEGER)
        return data_type_bits(type) == 64 ? 64 : 32;
    return type == DATA_FLOAT64 ? 64 : 32;
}

static void read_keys(const struct rank_search *search, size_t first, size_t count, uint64_t *ret)
{
    const struct tensor *tensor = search->tensor;
    union {
        float narrow[ELEMENTS_RUN];
        double wide[ELEMENTS_RUN];
    } values;

    switch (elements_arithmetic(tensor->type)) {
    case ARITHMETIC_INTEGER:
        elements_to_integers(tensor, first, count, ret);
        if (data_type_is_signed(tensor->type)) {
            for (size_t i = 0; i < count; i++)
                ret[i] += (uint64_t)1 << (search->key_bits - 1);
        }
        break;
    case ARITHMETIC_FLOAT32:
        elements_to_float32(tensor, first, count, values.narrow);
        for (size_t i = 0; i < count; i++)
            ret[i] = order_key_of_float32(values.narrow[i]);
        break;
    default:
        elements_to_float64(tensor, first, count, values.wide);
        for (size_t i = 0; i < count; i++)
            ret[i] = order_key_of_float64(values.wide[i]);
        break;
    }
}

static double value_of_key(const struct rank_search *search, uint64_t key)
{
    enum data_type type = search->tensor->type;

    if (elements_arithmetic(type) == ARITHMETIC_FLOAT32)
        return (double)order_key_to_float32((uint32_t)key);
    if (type == DATA_FLOAT64)
        return order_key_to_float64(key);
    if (data_type_is_signed(type))
        return (double)(int64_t)(key - ((uint64_t)1 << (search->key_bits - 1)));
    return (double)key;
}

/* Counts one key by its digit of `width` bits that ends at bit `shift`, if it belongs to a group. */
static void count_key(struct rank_search *search, uint64_t key, unsigned shift, unsigned width)
{
    ARRAY_EACH (struct key_group, group, search->groups, search->group_count) {
        if (key >> shift >> width == group->prefix) {
            group->counts[key >> shift & (((uint64_t)1 << width) - 1)]++;
            return;
        }
    }
}

static void count_digits(struct rank_search *search, unsigned shift, unsigned width)
{
    unsigned first_shift = search->key_bits - DIGIT_BITS;
    uint64_t keys[ELEMENTS_RUN];

    for (size_t i = 0; i < search->group_count; i++)
        memset(search->groups[i].counts, 0, sizeof(search->groups[i].counts));
    for (size_t first = 0; first < search->elements; first += ELEMENTS_RUN) {
        size_t count = elements_in_run(search->elements, first);
        read_keys(search, first, count, keys);
        if (shift == first_shift) {
            for (size_t i = 0; i < count; i++)
                search->groups[0].counts[keys[i] >> shift]++;
            continue;
        }
        for (size_t i = 0; i < count; i++) {
            if (search->wanted[keys[i] >> first_shift]) /* fast path: most keys belong to no group */
                count_key(search, keys[i], shift, width);
        }
    }
}

/* The group with this prefix, created if necessary. */
static struct key_group *group_of(struct key_group *groups, size_t *count, uint64_t prefix)
{
    for (size_t i = 0; i < *count; i++) {
        if (groups[i].prefix == prefix)
            return &groups[i];
    }
    groups[*count].prefix = prefix;
    return &groups[(*count)++];
}

/* Extends the prefix of each rank by its next digit. */
static void narrow_rank_places(struct rank_search *search, struct rank_place *places, size_t count, unsigned width)
{
    uint64_t prefixes[SELECTION_MAX_RANKS];

    for (size_t i = 0; i < count; i++) {
        const struct key_group *group = places[i].group;
        uint64_t digit = 0;
        while (places[i].before >= group->counts[digit])
            places[i].before -= group->counts[digit++];
        prefixes[i] = group->prefix << width | digit;
    }
    search->group_count = 0;
    for (size_t i = 0; i < count; i++)
        places[i].group = group_of(search->groups, &search->group_count, prefixes[i]);
}

void selection_find(const struct tensor *tensor, const size_t *ranks, size_t count, double *ret)
{
    struct rank_search search = {
        .tensor = tensor,
        .elements = tensor_elements(tensor),
        .key_bits = key_bits(tensor->type),
        .groups = memory_alloc(SELECTION_MAX_RANKS * sizeof(struct key_group)),
        .group_count = 1,
    };
    struct rank_place places[SELECTION_MAX_RANKS];
    unsigned shift = search.key_bits;

    search.groups[0].prefix = 0;
    for (size_t i = 0; i < count; i++)
        places[i] = (struct rank_place){search.groups, ranks[i]};
    while (shift > 0) {
        unsigned width = shift < DIGIT_BITS ? shift : DIGIT_BITS;
        shift -= width;
        count_digits(&search, shift, width);
        narrow_rank_places(&search, places, count, width);
        if (shift == search.key_bits - DIGIT_BITS) {
            for (size_t i = 0; i < search.group_count; i++)
                search.wanted[search.groups[i].prefix] = true;
        }
    }
    for (size_t i = 0; i < count; i++)
        ret[i] = value_of_key(&search, places[i].group->prefix);
    free(search.groups);
}
