/* onnx/half/rounded_nodes.h: nodes of a float32 model that read and make what float16 or bfloat16 can hold, and
 * compute in float32.
 *
 * Their inputs, constants and outputs pass a Cast to the type and one back. That is for runtimes without kernels for
 * it: given float16 nodes (see mixed_precision.h), they compute in float32 and leave the rounding out (ONNX Runtime on
 * a CPU, for one), and nodes in bfloat16 they refuse.
 */
#ifndef ONNX_HALF_ROUNDED_NODES_H
#define ONNX_HALF_ROUNDED_NODES_H

#include "base/container/bitset.h"
#include "onnx/model/unused_names.h"
#include "tensor/values/data_type.h"

/* Rounds to `half`, float16 or bfloat16, around the nodes in `rounded`, each of which node_takes_half(). Renumbers
 * nodes; names of tensors stay. */
int model_round_nodes(struct model *model, const struct bitset *rounded, enum data_type half,
                      struct unused_names *names, struct error *err);

#endif
