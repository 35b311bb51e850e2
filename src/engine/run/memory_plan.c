/* engine/run/memory_plan.c: see memory_plan.h. */
#include "engine/run/memory_plan.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* SIZE_MAX on overflow. */
static size_t align_block_size(size_t size)
{
    size_t rounded;

    if (__builtin_add_overflow(size, MEMORY_PLAN_ALIGNMENT - 1, &rounded))
        return SIZE_MAX;
    return rounded / MEMORY_PLAN_ALIGNMENT * MEMORY_PLAN_ALIGNMENT;
}

size_t memory_plan_without_reuse(const struct memory_block *blocks, size_t count)
{
    size_t total = 0;

    for (size_t i = 0; i < count; i++) {
        size_t size = align_block_size(blocks[i].size);

        if (size == SIZE_MAX || __builtin_add_overflow(total, size, &total))
            return SIZE_MAX;
    }
    return total;
}

/* Sorts by descending size, then by time, so that the plan is deterministic. */
static int compare_block_sizes(const void *a, const void *b)
{
    const struct memory_block *left = *(struct memory_block *const *)a, *right = *(struct memory_block *const *)b;

    if (left->size != right->size)
        return left->size > right->size ? -1 : 1;
    if (left->first != right->first)
        return left->first < right->first ? -1 : 1;
    return left < right ? -1 : left > right;
}

static bool blocks_live_together(const struct memory_block *a, const struct memory_block *b)
{
    return a->first <= b->last && b->first <= a->last;
}

/* The offset of the smallest gap that is large enough, else the end. `placed` must be sorted by offset. */
static size_t find_memory_gap(const struct memory_block *block, struct memory_block *const *placed, size_t count)
{
    size_t size = align_block_size(block->size), end = 0, best = SIZE_MAX, best_size = SIZE_MAX;

    for (size_t i = 0; i < count; i++) {
        size_t next = placed[i]->offset + align_block_size(placed[i]->size);

        if (!blocks_live_together(block, placed[i]))
            continue;
        if (placed[i]->offset > end && placed[i]->offset - end >= size && placed[i]->offset - end < best_size) {
            best = end;
            best_size = placed[i]->offset - end;
        }
        if (next > end)
            end = next;
    }
    return best != SIZE_MAX ? best : end;
}

size_t memory_plan(struct memory_block *blocks, size_t count)
{
    struct memory_block **order SCOPED_FREE = NULL, **placed SCOPED_FREE = NULL;
    size_t total = 0, placed_count = 0;

    if (memory_plan_without_reuse(blocks, count) == SIZE_MAX)
        return SIZE_MAX;
    order = memory_alloc_zero(count, sizeof(struct memory_block *));
    placed = memory_alloc_zero(count, sizeof(struct memory_block *));
    for (size_t i = 0; i < count; i++)
        order[i] = &blocks[i];
    if (count > 0)
        qsort(order, count, sizeof(struct memory_block *), compare_block_sizes);
    for (size_t i = 0; i < count; i++) {
        struct memory_block *block = order[i];
        size_t at = placed_count, end;

        block->offset = 0;
        if (block->size == 0) /* empty: any offset */
            continue;
        block->offset = find_memory_gap(block, placed, placed_count);
        end = block->offset + align_block_size(block->size);
        total = end > total ? end : total;
        while (at > 0 && placed[at - 1]->offset > block->offset)
            at--;
        memmove(&placed[at + 1], &placed[at], (placed_count - at) * sizeof(struct memory_block *));
        placed[at] = block;
        placed_count++;
    }
    return total;
}
