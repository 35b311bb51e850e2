/* base/container/bitset.h: a fixed-size set of small integers. Sets can be copied, compared and hashed. */
#ifndef BASE_CONTAINER_BITSET_H
#define BASE_CONTAINER_BITSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

struct bitset {
    uint64_t *words;
    size_t size; /* members are 0 .. size-1; bits beyond are zero */
};

/* Declares a local set, released where its scope ends; call bitset_init() before use. */
#define SCOPED_BITSET(name) struct bitset name SCOPED(bitset_release) = {0}

void bitset_init(struct bitset *set, size_t size); /* empty */
void bitset_init_copy(struct bitset *set, const struct bitset *from);
void bitset_release(struct bitset *set);
void bitset_assign(struct bitset *set, const struct bitset *from); /* same size */
void bitset_clear(struct bitset *set);
void bitset_fill(struct bitset *set);
void bitset_intersect(struct bitset *set, const struct bitset *other);
void bitset_subtract(struct bitset *set, const struct bitset *other);
void bitset_unite(struct bitset *set, const struct bitset *other);
size_t bitset_count(const struct bitset *set);
size_t bitset_count_common(const struct bitset *a, const struct bitset *b); /* members of both; same size */

/* Like bitset_count_common(), but only members from .. end-1, where end <= size. */
size_t bitset_count_common_between(const struct bitset *a, const struct bitset *b, size_t from, size_t end);

bool bitset_equal(const struct bitset *a, const struct bitset *b);
size_t bitset_next_far(const struct bitset *set, size_t from); /* bitset_next() without its fast path */

/* Loops over the members of `set`, a pointer, in ascending order. The loop may add and remove members. */
#define BITSET_EACH(member, set)                                                                                       \
    for (size_t member = bitset_next(set, 0); member < (set)->size; member = bitset_next(set, member + 1))

/* The largest member < before; the nth largest member < before (nth >= 1). Both return `size` if there is no such
 * member. */
size_t bitset_previous(const struct bitset *set, size_t before);
size_t bitset_nth_previous(const struct bitset *set, size_t before, size_t nth);

/* Writes every step-th member, beginning with the smallest, to `ret`. Returns their number: (bitset_count() + step - 1)
 * / step. */
size_t bitset_sample(const struct bitset *set, size_t step, uint32_t *ret);

void bitset_remove_range(struct bitset *set, size_t from, size_t end); /* from .. end-1 */

static inline size_t bitset_words(const struct bitset *set)
{
    return (set->size + 63) / 64;
}

static inline bool bitset_has(const struct bitset *set, size_t member)
{
    return (set->words[member / 64] >> (member % 64)) & 1;
}

static inline void bitset_add(struct bitset *set, size_t member)
{
    set->words[member / 64] |= (uint64_t)1 << (member % 64);
}

static inline void bitset_remove(struct bitset *set, size_t member)
{
    set->words[member / 64] &= ~((uint64_t)1 << (member % 64));
}

/* The smallest member >= from, or `size` if there is none. Inline for the usual case: a member in the same word. */
static inline size_t bitset_next(const struct bitset *set, size_t from)
{
    if (from < set->size) {
        uint64_t rest = set->words[from / 64] >> (from % 64);

        if (rest != 0)
            return from + (size_t)__builtin_ctzll(rest);
    }
    return bitset_next_far(set, from);
}

#endif
