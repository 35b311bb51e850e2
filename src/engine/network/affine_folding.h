/* engine/network/affine_folding.h: folds constant scales and shifts of channels into the preceding weights.
 *
 *   conv(x, W) * a + s = conv(x, W * a) + s, with a and s for each channel
 *
 * Batch normalizations, and Mul and Add with such constants, are folded into the preceding Conv, ConvTranspose, Gemm or
 * BatchNormalization.
 */
#ifndef ENGINE_NETWORK_AFFINE_FOLDING_H
#define ENGINE_NETWORK_AFFINE_FOLDING_H

#include "base/container/bitset.h"
#include "engine/network/decisions.h"

/* Folds all such nodes into new constants, computed in double. Folded nodes are removed, nodes are renumbered, and
 * `labels` are updated: "conv1 + bn1". `decisions` may disable single foldings. Outputs of the model are kept.
 * `ret_prevented` is increased for each folding prevented by an output that is not in `own_outputs` (values). After an
 * error the model can only be freed. */
int affine_nodes_fold(struct model *model, const struct bitset *own_outputs, struct node_labels *labels,
                      struct network_decisions *decisions, size_t *ret_prevented, struct error *err);

#endif
