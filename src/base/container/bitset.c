/* base/container/bitset.c: a fixed-size set of small integers. */
#include "base/container/bitset.h"

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

/* Nearly all x86-64 processors have POPCNT, but the baseline instruction set does not. */
#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("popcnt"))) static size_t count_common_quickly(const uint64_t *a, const uint64_t *b, size_t words)
{
    size_t ret = 0;

    for (size_t i = 0; i < words; i++)
        ret += (size_t)__builtin_popcountll(a[i] & b[i]);
    return ret;
}

static bool counts_quickly(void)
{
    return __builtin_cpu_supports("popcnt");
}
#else
#define count_common_quickly count_common
static bool counts_quickly(void)
{
    return false;
}
#endif

static size_t count_common(const uint64_t *a, const uint64_t *b, size_t words)
{
    size_t ret = 0;

    for (size_t i = 0; i < words; i++)
        ret += (size_t)__builtin_popcountll(a[i] & b[i]);
    return ret;
}

size_t bitset_count(const struct bitset *set)
{
    return bitset_count_common(set, set);
}

size_t bitset_count_common(const struct bitset *a, const struct bitset *b)
{
    return bitset_count_common_between(a, b, 0, a->size);
}

size_t bitset_count_common_between(const struct bitset *a, const struct bitset *b, size_t from, size_t end)
{
    size_t first = from / 64, last = end / 64, ret;

    if (from >= end)
        return 0;
    ret = (counts_quickly() ? count_common_quickly : count_common)(a->words + first, b->words + first, last - first);
    if (end % 64 != 0)
        ret += (size_t)__builtin_popcountll(a->words[last] & b->words[last] & (((uint64_t)1 << end % 64) - 1));
    if (from % 64 != 0)
        ret -= (size_t)__builtin_popcountll(a->words[first] & b->words[first] & (((uint64_t)1 << from % 64) - 1));
    return ret;
}

bool bitset_equal(const struct bitset *a, const struct bitset *b)
{
    return a->size == b->size && memcmp(a->words, b->words, bitset_words(a) * sizeof(*a->words)) == 0;
}

size_t bitset_next_far(const struct bitset *set, size_t from)
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

/* Fast path: most words are empty or full. */
static inline size_t count_word(uint64_t word)
{
    if (word == 0 || word == UINT64_MAX)
        return word == 0 ? 0 : 64;
    return (size_t)__builtin_popcountll(word);
}

size_t bitset_nth_previous(const struct bitset *set, size_t before, size_t nth)
{
    size_t left = nth;

    if (before > set->size)
        before = set->size;
    for (size_t i = (before + 63) / 64; i-- > 0;) {
        uint64_t word = set->words[i];
        size_t members;

        if (before - i * 64 < 64)
            word &= ((uint64_t)1 << (before - i * 64)) - 1;
        members = count_word(word);
        if (members < left) {
            left -= members;
            continue;
        }
        for (; members > left; members--)
            word &= word - 1;
        return i * 64 + (size_t)__builtin_ctzll(word);
    }
    return set->size;
}

size_t bitset_previous(const struct bitset *set, size_t before)
{
    return bitset_nth_previous(set, before, 1);
}

/* The position of the set bit with `rank` set bits below it; it must exist. */
static size_t nth_bit(uint64_t word, size_t rank)
{
    size_t ret = 0;

    for (size_t width = 32; width >= 8; width /= 2) {
        size_t below = count_word(word & (((uint64_t)1 << width) - 1));

        if (rank < below)
            continue;
        rank -= below;
        word >>= width;
        ret += width;
    }
    for (; rank > 0; rank--)
        word &= word - 1;
    return ret + (size_t)__builtin_ctzll(word);
}

size_t bitset_sample(const struct bitset *set, size_t step, uint32_t *ret)
{
    size_t count = 0, rank = 0; /* of the next sampled member, counted from this word */

    for (size_t i = 0; i < bitset_words(set); i++) {
        size_t members = count_word(set->words[i]);

        for (; rank < members; rank += step)
            ret[count++] = (uint32_t)(i * 64 + nth_bit(set->words[i], rank));
        rank -= members;
    }
    return count;
}

void bitset_remove_range(struct bitset *set, size_t from, size_t end)
{
    for (size_t i = from / 64; i * 64 < end; i++) {
        uint64_t removed = UINT64_MAX;

        if (i == from / 64)
            removed <<= from % 64;
        if (end - i * 64 < 64)
            removed &= ((uint64_t)1 << (end - i * 64)) - 1;
        set->words[i] &= ~removed;
    }
}
