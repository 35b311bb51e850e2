/* onnx/half/costs.h: what a choice of low nodes costs, in Casts and in bytes, without making the model. */
#ifndef ONNX_HALF_COSTS_H
#define ONNX_HALF_COSTS_H

#include "base/container/bitset.h"
#include "onnx/model/model.h"

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
