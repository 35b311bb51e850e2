/* onnx/half/mixed_precision.h: converts some nodes of a float32 model to float16 or bfloat16.
 *
 * A tensor that passes between converted and other nodes gets one Cast for each type. The model's inputs and outputs
 * keep their types. Constants are converted without a Cast while the model is written, so that they are never in
 * memory.
 */
#ifndef ONNX_HALF_MIXED_PRECISION_H
#define ONNX_HALF_MIXED_PRECISION_H

#include "base/container/bitset.h"
#include "base/log.h"
#include "onnx/model/unused_names.h"
#include "onnx/model/model.h"
#include "onnx/half/half_operators.h"

/* Values of a constant that the conversion changes. */
struct narrowing {
    size_t elements;
    size_t infinite; /* finite values that became infinite */
    size_t masks;    /* values of at least 1e30, which become the largest finite ones */
    size_t vanished; /* nonzero values that became 0 */
};

/* Converts the nodes in `low` to `half`, float16 or bfloat16; node_takes_half() must be true for each. Renumbers nodes.
 * `names` are the names of this model, or of the model that contains it as a body. Logs a warning for each constant
 * with values that become infinite, and a line for each with masks. */
int mixed_precision_apply(struct model *model, const struct bitset *low, enum data_type half,
                          struct unused_names *names, struct log *log, struct error *err);

/* ---- Costs: the Casts and bytes of a choice of low nodes, without building the model. */

/* Costs of the model that mixed_precision_apply() would build. Bytes count the float32 tensors of the original: each
 * node reads its inputs, constants included, and writes its outputs, in their new types. */
struct mixed_precision_costs {
    size_t casts;
    uint64_t cast_bytes; /* read and written by Casts */
    uint64_t node_bytes; /* read and written by other nodes, without bodies */
    size_t unknown;      /* tensors of unknown size: counted as empty */
};

/* Computes the element count of each value from static shapes; 0 if unknown. `ret` has model->values.count entries. */
void mixed_precision_elements(const struct model *model, uint64_t *ret);

/* Computes the costs with the nodes of `low` in float16 or bfloat16. `elements`: see mixed_precision_elements(). */
void mixed_precision_costs(const struct model *model, const struct bitset *low, const uint64_t *elements,
                           struct mixed_precision_costs *ret);

#endif
