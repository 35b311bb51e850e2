/* onnx/shrink/stripped_weight.h: weights without their values, for sharing models without trained weights.
 *
 * A stripped weight is a TensorProto with the name, type and shape that it had and without data. Its doc_string is
 * "TRT_WEIGHTLESS/", or "TRT_WEIGHTLESS/SPARSE_2_4" when the weight had the 2:4 pattern (onnx/shrink/sparsity.h); the
 * doc_string of the model ends with "TRT_WEIGHTLESS". These are Polygraphy's marks (docs/coming-from-polygraphy.md,
 * "Emptied weights"). Tools that read no weights work on such a model; to run it, weights are replaced by proxies.
 */
#ifndef ONNX_SHRINK_STRIPPED_WEIGHT_H
#define ONNX_SHRINK_STRIPPED_WEIGHT_H

#include "base/container/bitset.h"
#include "onnx/model/model.h"
#include "onnx/proto/tensor_proto.h"

/* ---- Selection ---- */

/* Gather, Slice and plug-ins often read small tensors whose values matter: only larger ones are weights. */
#define STRIPPED_TABLE_SMALLEST 1024 /* elements */

/* Adds (to a set of initializers) those that Polygraphy treats as weights: inputs of Conv, ConvTranspose, Gemm and
 * MatMul, directly or through QuantizeLinear, DequantizeLinear and Transpose; inputs of Gather and plug-ins (operators
 * outside ONNX), and the data of a Slice, from the size above on. uint8 and strings are never weights. */
int stripped_weight_find(const struct model *model, struct bitset *ret, struct error *err);

/* ---- The marks in the model ---- */

struct stripped_weight {
    enum data_type type;
    struct shape shape;
    bool sparse;          /* it had the pattern along the reduction axes of its consumers */
    uint32_t sparse_axes; /* axes with the pattern, from a mark of older versions: a bit set */
};

/* Encodes a weight without its values as a TensorProto, allocated in `arena`; older marks are not written. */
struct span stripped_weight_make(struct arena *arena, struct text name, const struct stripped_weight *weight);

/* Reads a TensorProto: 1 if it is a stripped weight, 0 if not, also for a weight with a mark and values. ERR_INVALID
 * for an unknown mark, or one that is impossible for this weight. Also accepts the mark of older versions of this
 * program: "polygraphy:stripped", with " 2:4:<axis>" for each axis that had the pattern. */
int stripped_weight_read(struct span message, struct stripped_weight *ret, struct error *err);

/* Adds the mark to the model's doc_string, unless it is there. */
void stripped_model_mark(struct model *model);

/* ---- Proxies ---- */

/* Fills `data` (of the weight's type and shape) with proxy values. They depend only on name, type, shape and pattern
 * (`sparse_axes`).
 *
 * Floating types: of rank 2 and above, uniformly distributed with variance 1 / n, n being the fan-in of an output (the
 * product of all dimensions except the first), so that activations of deep models neither overflow nor vanish; of lower
 * rank, uniformly distributed over [0.5, 1.5), which is also valid for a scale or a variance. 8-bit floats: any finite
 * value below 2. Integers of 8 bits and less: any value. Wider ones: 0 and -1 (unsigned: 1), since they may be indices,
 * and these are valid for any axis. */
void stripped_weight_fill(const struct stripped_weight *weight, struct text name, void *data);

#endif
