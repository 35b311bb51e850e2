/* onnx/simplify/symbolic_sizes.h: shapes and integer tensors of a model as sums of the sizes of its inputs.
 *
 * They hold for all sizes with which the model runs. A size of an input is a variable; sizes of the same name are one.
 */
#ifndef ONNX_SIMPLIFY_SYMBOLIC_SIZES_H
#define ONNX_SIMPLIFY_SYMBOLIC_SIZES_H

#include "onnx/inputs/facts.h"

struct symbolic_sizes {
    struct arena arena;
    struct dimension_system system;
    struct pass pass; /* its facts: for each value of the model */
};

/* Walks over the model's nodes, which must be in order. The model must outlive it. */
void symbolic_sizes_init(struct symbolic_sizes *sizes, const struct model *model);
void symbolic_sizes_release(struct symbolic_sizes *sizes);

/* Whether both have shapes of the same known sizes. */
bool symbolic_sizes_equal(const struct symbolic_sizes *sizes, const struct fact *a, const struct fact *b);

#endif
