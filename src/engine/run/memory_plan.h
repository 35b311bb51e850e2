/* engine/run/memory_plan.h: one piece of memory for many tensors: those that are never needed at the same time share
 * it.
 *
 * Greedy by size: the largest tensor is placed first, each one at the lowest of the best-fitting gaps between those
 * that live at the same time (Y. Pisarchyk, J. Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020).
 */
#ifndef ENGINE_RUN_MEMORY_PLAN_H
#define ENGINE_RUN_MEMORY_PLAN_H

#include <stddef.h>

#define MEMORY_PLAN_ALIGNMENT 64 /* bytes, of every offset */

struct memory_block {
    size_t size;        /* bytes */
    size_t first, last; /* steps during which it is needed, both included */
    size_t offset;      /* set by memory_plan() */
};

/* Places all blocks and returns how many bytes hold them; SIZE_MAX when that does not fit into a size_t. */
size_t memory_plan(struct memory_block *blocks, size_t count);

/* What they would take side by side, each aligned; SIZE_MAX likewise. */
size_t memory_plan_without_reuse(const struct memory_block *blocks, size_t count);

#endif
