/* onnx/half/mixed_precision.h: some nodes of a float32 model compute in float16 or bfloat16.
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
#include "onnx/half/half_operators.h"

/* How a constant fared. */
struct narrowing {
    size_t elements;
    size_t infinite; /* finite values that became infinite */
    size_t vanished; /* values other than 0 that became 0 */
};

/* Lets the nodes in `low` compute in `half`, float16 or bfloat16; node_takes_half() each of them. Renumbers nodes.
 * `names` are those of this model, or of the one that it is a body of. A constant whose values become infinite is a
 * warning, one by one. */
int mixed_precision_apply(struct model *model, const struct bitset *low, enum data_type half,
                          struct unused_names *names, struct log *log, struct error *err);

/* ---- Costs: what a choice of low nodes costs, in Casts and in bytes, without making the model. */

/* Of a model as mixed_precision_apply() makes it. Bytes are those of float32 tensors of the original: each node reads
 * its inputs, constants included, and writes its outputs, in the types that they have then. */
struct mixed_precision_costs {
    size_t casts;
    uint64_t cast_bytes; /* read and written by Casts */
    uint64_t node_bytes; /* read and written by other nodes, bodies left out */
    size_t unknown;      /* tensors whose size nobody knows: they count as empty */
};

/* How many elements each value of the model has, as far as its descriptions say; 0: they do not. `ret` has
 * model->values.count. */
void mixed_precision_elements(const struct model *model, uint64_t *ret);

/* The costs with the nodes of `low` in float16 or bfloat16. `elements`: of each value; 0 where it is not known. */
void mixed_precision_costs(const struct model *model, const struct bitset *low, const uint64_t *elements,
                           struct mixed_precision_costs *ret);

#endif
