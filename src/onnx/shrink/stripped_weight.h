/* onnx/shrink/stripped_weight.h: weights without their values, for models that are passed on without what they have
 * learnt.
 *
 * A stripped weight is a TensorProto with the name, type and shape that it had and without data. Its doc_string is
 * "TRT_WEIGHTLESS/", or "TRT_WEIGHTLESS/SPARSE_2_4" when the weight had the 2:4 pattern (onnx/shrink/sparsity.h); the
 * doc_string of the model ends with "TRT_WEIGHTLESS". These are Polygraphy's marks
 * (docs/coming-from-polygraphy.md, "Emptied weights"). Everything that reads no data works
 * on such a model; to run it, proxies are put in place of the weights.
 */
#ifndef ONNX_SHRINK_STRIPPED_WEIGHT_H
#define ONNX_SHRINK_STRIPPED_WEIGHT_H

#include "base/container/bitset.h"
#include "onnx/model/model.h"
#include "onnx/proto/tensor_proto.h"

/* ---- Which ---- */

/* Gather, Slice and plug-ins often read small tensors whose values matter: theirs count from this size on. */
#define STRIPPED_TABLE_SMALLEST 1024 /* elements */

/* Adds (to a set with room for all initializers) what Polygraphy takes for weights: what Conv, ConvTranspose, Gemm and
 * MatMul read, directly or through QuantizeLinear, DequantizeLinear and Transpose; what Gather and plug-ins (operators
 * that ONNX does not have) read, and the data of a Slice, from the size above on. uint8 and strings are none. */
int stripped_weight_find(const struct model *model, struct bitset *ret, struct error *err);

/* ---- What stands in the model ---- */

struct stripped_weight {
    enum data_type type;
    struct shape shape;
    bool sparse;          /* it had the pattern along the axes that its users sum over */
    uint32_t sparse_axes; /* axes along which a mark of older versions says so: a bit set */
};

/* The TensorProto of a weight without its values, made in `arena`; older marks are not written. */
struct span stripped_weight_make(struct arena *arena, struct text name, const struct stripped_weight *weight);

/* Reads a TensorProto: 1 when it is a stripped weight, 0 when it is none, which is also what a weight is that has a
 * mark and values. ERR_INVALID when it has a mark that nobody here knows, or of a weight that cannot be. Also read is
 * the mark that older versions of this program wrote: "polygraphy:stripped", with " 2:4:<axis>" for each axis that had
 * the pattern. */
int stripped_weight_read(struct span message, struct stripped_weight *ret, struct error *err);

/* Writes the mark into the model's doc_string, or takes it out. */
void stripped_model_mark(struct model *model);
void stripped_model_unmark(struct model *model);

/* ---- Proxies ---- */

/* Fills `data` (of the weight's type and shape) with proxy values. They depend on name, type, shape and pattern alone;
 * the pattern is that of `sparse_axes`.
 *
 * Floating types: of rank 2 and above, evenly spread with the variance 1 / n, n being the elements that one output sums
 * over (the product of all dimensions but the first), so that deep models neither explode nor fade out; of lower rank,
 * evenly spread over [0.5, 1.5), which is fit for a scale and a variance, too. 8-bit floats: any finite value below 2.
 * Integers of 8 bits and less: any value. Wider ones: 0 and -1 (unsigned: 1), since they may be indices, and these are
 * the first and the last of any axis. */
void stripped_weight_fill(const struct stripped_weight *weight, struct text name, void *data);

#endif
