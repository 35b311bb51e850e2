/* base/bitset.c: a fixed-size set of small integers. */
#include "base/bitset.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void bitset_init(struct bitset *set, size_t size)
{
    set->size = size;
    set->words = memory_alloc_zero(bitset_words(set), sizeof(*set->words));
}

void bitset_init_copy(struct bitset *set, const struct bitset *from)
{
    bitset_init(set, from->size);
    bitset_assign(set, from);
}

void bitset_release(struct bitset *set)
{
    free(set->words);
    *set = (struct bitset){0};
}

void bitset_assign(struct bitset *set, const struct bitset *from)
{
    memmove(set->words, from->words, bitset_words(set) * sizeof(*set->words));
}

void bitset_clear(struct bitset *set)
{
    memset(set->words, 0, bitset_words(set) * sizeof(*set->words));
}

void bitset_fill(struct bitset *set)
{
    memset(set->words, 0xFF, bitset_words(set) * sizeof(*set->words));
    if (set->size % 64 != 0)
        set->words[set->size / 64] = ((uint64_t)1 << (set->size % 64)) - 1;
}

void bitset_intersect(struct bitset *set, const struct bitset *other)
{
    for (size_t i = 0; i < bitset_words(set); i++)
        set->words[i] &= other->words[i];
}

void bitset_subtract(struct bitset *set, const struct bitset *other)
{
    for (size_t i = 0; i < bitset_words(set); i++)
        set->words[i] &= ~other->words[i];
}

void bitset_unite(struct bitset *set, const struct bitset *other)
{
    for (size_t i = 0; i < bitset_words(set); i++)
        set->words[i] |= other->words[i];
}

size_t bitset_count(const struct bitset *set)
{
    size_t ret = 0;

    for (size_t i = 0; i < bitset_words(set); i++)
        ret += (size_t)__builtin_popcountll(set->words[i]);
    return ret;
}

size_t bitset_count_common(const struct bitset *a, const struct bitset *b)
{
    size_t ret = 0;

    for (size_t i = 0; i < bitset_words(a); i++)
        ret += (size_t)__builtin_popcountll(a->words[i] & b->words[i]);
    return ret;
}

bool bitset_equal(const struct bitset *a, const struct bitset *b)
{
    return a->size == b->size && memcmp(a->words, b->words, bitset_words(a) * sizeof(*a->words)) == 0;
}

size_t bitset_next(const struct bitset *set, size_t from)
{
    if (from >= set->size)
        return set->size;

    size_t i = from / 64;
    uint64_t word = set->words[i] >> (from % 64) << (from % 64);
    while (word == 0) {
        if (++i == bitset_words(set))
            return set->size;
        word = set->words[i];
    }
    return i * 64 + (size_t)__builtin_ctzll(word);
}
