/* onnx/simplify/reshapes.h: nodes in a row that only change a tensor's shape become one. */
#ifndef ONNX_SIMPLIFY_RESHAPES_H
#define ONNX_SIMPLIFY_RESHAPES_H

#include "onnx/simplify/symbolic_sizes.h"

#define RESHAPES_IN_A_ROW 16 /* at most; what is before them is not looked at */

/* Whether a node has the elements of its first input, in their order, in another shape. */
bool node_is_reshape(const struct symbolic_sizes *sizes, const struct node *node);

/* A node in place of a row of reshapes: Reshape, or Unsqueeze, with constant numbers. */
struct reshape_plan {
    uint32_t input;  /* value: what it reads */
    bool unsqueezes; /* the numbers are axes; else they are a shape */
    size_t count;    /* of numbers */
    int64_t numbers[TENSOR_MAX_RANK];
};

/* Finds a node that does what `node` does, and needs fewer others. `same_as` has for each value an equal one before it,
 * or itself. False if there is none. */
bool reshape_plan_find(const struct symbolic_sizes *sizes, const struct node *node, const uint32_t *same_as,
                       struct reshape_plan *ret);

#endif
