/* onnx/half/mixed_precision.h: some nodes of a float32 model compute in float16.
 *
 * Where a tensor goes from one kind of node to the other it passes a Cast, one for each tensor and type. The model's
 * inputs and outputs keep their types. Constants are converted, not cast: when the model is written, so that they are
 * never in memory.
 */
#ifndef ONNX_HALF_MIXED_PRECISION_H
#define ONNX_HALF_MIXED_PRECISION_H

#include "base/container/bitset.h"
#include "base/log.h"
#include "onnx/model/unused_names.h"
#include "onnx/model/model.h"
#include "tensor/values/data_type.h"

/* Before this operator set a Cast is told its type in words, and runtimes do not have it any more: nothing is
 * converted. */
#define MIXED_PRECISION_OPSET 6

/* Whether the operator of the node takes float16 for each of its float32 tensors: ONNX's own ones with that in all
 * operator sets, without a body, whose types are known. What the types of the model's values are has to be inferred
 * before. */
bool node_takes_float16(const struct model *model, const struct node *node);

/* How a constant fared. */
struct narrowing {
    size_t elements;
    size_t infinite; /* finite values that became infinite */
    size_t vanished; /* values other than 0 that became 0 */
};

/* Lets the nodes in `half` compute in float16; each of them takes it. Renumbers nodes. `names` are those of this model,
 * or of the one that it is a body of. A constant whose values become infinite is a warning, one by one. */
int mixed_precision_apply(struct model *model, const struct bitset *half, struct unused_names *names, struct log *log,
                          struct error *err);

/* The element type of a value, from its description or, for a constant, from its data; UNDEFINED: not a dense tensor,
 * or not known. */
enum data_type value_element(const struct model *model, uint32_t value);

#endif
