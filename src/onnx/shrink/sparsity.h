/* onnx/shrink/sparsity.h: 2:4 structured sparsity, with which accelerators multiply at twice the speed: of every four
 * values of a weight along the reduction axis, two are zero.
 *
 * Candidates are weights of MatMul, Gemm and Conv, also through Cast, Transpose, QuantizeLinear and DequantizeLinear,
 * of type float32, float16 or bfloat16, with an axis length that is a multiple of four.
 */
#ifndef ONNX_SHRINK_SPARSITY_H
#define ONNX_SHRINK_SPARSITY_H

#include "onnx/model/model.h"
#include "tensor/values/tensor.h"

struct sparsity_candidate {
    uint32_t initializer;
    uint32_t axis; /* of the initializer itself, before any Transpose */
};

struct sparsity_candidates {
    struct sparsity_candidate *items;
    size_t count, capacity;
};

/* Lists the candidates in the order of the nodes that use them, each axis of a weight once. */
int sparsity_find(const struct model *model, struct sparsity_candidates *ret, struct error *err);

/* Whether the tensor has the pattern along `axis`. Type and axis must satisfy the conditions above. */
bool sparsity_holds(const struct tensor *tensor, size_t axis);

/* Applies the pattern: of every four values along `axis` the two with the smallest magnitudes become zero, the first
 * ones among equals. `data` belong to a tensor of this type and shape. */
void sparsity_prune(enum data_type type, const struct shape *shape, size_t axis, void *data);

#endif
