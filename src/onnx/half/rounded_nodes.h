/* onnx/half/rounded_nodes.h: rounds inputs and outputs of float32 nodes to float16 or bfloat16, while the nodes compute
 * in float32.
 *
 * Their inputs, constants and outputs pass a Cast to the type and a Cast back. This is for runtimes without kernels for
 * the type: they compute float16 nodes (see mixed_precision.h) in float32 without rounding (for example ONNX Runtime on
 * CPUs), and refuse bfloat16 nodes.
 */
#ifndef ONNX_HALF_ROUNDED_NODES_H
#define ONNX_HALF_ROUNDED_NODES_H

#include "base/container/bitset.h"
#include "onnx/model/unused_names.h"
#include "tensor/values/data_type.h"

/* Rounds inputs and outputs of the nodes in `rounded` to `half`, float16 or bfloat16; node_takes_half() must be true
 * for each. Renumbers nodes; tensors keep their names. */
int model_round_nodes(struct model *model, const struct bitset *rounded, enum data_type half,
                      struct unused_names *names, struct error *err);

#endif
