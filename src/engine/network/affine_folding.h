/* engine/network/affine_folding.h: what scales and shifts the channels of a result by constants is arithmetic on
 * constants.
 *
 *   conv(x, W) * a + s = conv(x, W * a) + s, with one a and one s for each channel
 *
 * Batch normalizations, Mul and Add with such constants do so. They are folded into the Conv, ConvTranspose, Gemm or
 * BatchNormalization before them.
 */
#ifndef ENGINE_NETWORK_AFFINE_FOLDING_H
#define ENGINE_NETWORK_AFFINE_FOLDING_H

#include "base/container/bitset.h"
#include "engine/network/decisions.h"

/* Folds what can be folded into new constants, computed in double. The nodes that did it are gone then, and nodes are
 * numbered anew; `labels` follow: "conv1 + bn1". `decisions` are asked about each of them. Outputs of the model stay.
 * `ret_prevented` is increased for each place where an output that is not among `own_outputs` (values) stands in the
 * way. After an error the model can only be freed. */
int affine_nodes_fold(struct model *model, const struct bitset *own_outputs, struct node_labels *labels,
                      struct network_decisions *decisions, size_t *ret_prevented, struct error *err);

#endif
