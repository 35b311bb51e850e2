/* engine/run/memory_plan.h: plans one block of memory for many tensors; tensors with disjoint lifetimes share memory.
 *
 * Greedy by size: the largest tensor is placed first, each one in the lowest of the best-fitting gaps between tensors
 * with overlapping lifetimes (Y. Pisarchyk, J. Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020).
 */
#ifndef ENGINE_RUN_MEMORY_PLAN_H
#define ENGINE_RUN_MEMORY_PLAN_H

#include <stddef.h>

#define MEMORY_PLAN_ALIGNMENT 64 /* bytes, of every offset */

struct memory_block {
    size_t size;        /* bytes */
    size_t first, last; /* lifetime in steps, inclusive */
    size_t offset;      /* set by memory_plan() */
};

/* Places all blocks and returns the total size in bytes; SIZE_MAX on overflow. */
size_t memory_plan(struct memory_block *blocks, size_t count);

/* The total size without sharing, each block aligned; SIZE_MAX on overflow. */
size_t memory_plan_without_reuse(const struct memory_block *blocks, size_t count);

#endif
