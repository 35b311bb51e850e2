/* onnx/stripped_weight.h: weights without their values, for models that are passed on without what they have learnt.
 *
 * A stripped weight is a TensorProto with the name, type and shape that it had and without data. Its doc_string is
 * "polygraphy:stripped", followed by " 2:4:<axis>" for each axis along which the weight had the 2:4 pattern
 * (onnx/sparsity.h). Everything that reads no data works on such a model; to run it, proxies are put in place of the
 * weights.
 */
#ifndef ONNX_STRIPPED_WEIGHT_H
#define ONNX_STRIPPED_WEIGHT_H

#include "base/arena.h"
#include "onnx/tensor_proto.h"

/* Smaller tensors are seldom weights, and there is nothing to gain. */
#define STRIPPED_WEIGHT_SMALLEST 1024 /* bytes */

/* Whether a tensor is worth stripping, and of a type that can be made up: floating types, 8-bit and 4-bit integers.
 * Others are shapes and indices, whose values matter. */
bool stripped_weight_applies(const struct tensor_header *header);

struct stripped_weight {
    enum data_type type;
    struct shape shape;
    uint32_t sparse_axes; /* bit set; ONNX tensors here have at most 32 axes */
};

/* The TensorProto of a weight without its values, made in `arena`. */
struct span stripped_weight_make(struct arena *arena, struct text name, const struct stripped_weight *weight);

/* Reads a TensorProto. False when it is no stripped weight. */
bool stripped_weight_read(struct span message, struct stripped_weight *ret);

/* Fills `data` (of the weight's type and shape) with proxy values. They depend on name, type, shape and pattern alone.
 *
 * Floating types: of rank 2 and above, evenly spread with the variance 1 / n, n being the elements that one output sums
 * over (the product of all dimensions but the first), so that deep models neither explode nor fade out; of lower rank,
 * evenly spread over [0.5, 1.5), which is fit for a scale and a variance, too. 8-bit floats: any finite value below 2.
 * Integers: any value. */
void stripped_weight_fill(const struct stripped_weight *weight, struct text name, void *data);

#endif
