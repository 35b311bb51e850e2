/* engine/network/fusion.h: which nodes are computed together.
 *
 * A layer begins with one node and is extended by what follows it, one operation at a time: a constant bias, a tensor
 * that is added, an activation. What lies between must be seen by nobody else. A network that is built and one that
 * comes out of a plan file go the same way, so a file cannot hold a layer that could not have been built.
 */
#ifndef ENGINE_NETWORK_FUSION_H
#define ENGINE_NETWORK_FUSION_H

#include "base/container/bitset.h"
#include "engine/network/decisions.h"
#include "engine/network/network.h"

struct fusion {
    const struct model *model;
    struct bitset kept;   /* values: outputs of the network */
    struct bitset marked; /* values, some of those kept: outputs on request. The others are the model's own */
    struct bitset taken;  /* nodes that are part of a layer */
    uint32_t *first_use;  /* of each value, its position in `users`; one more at the end */
    uint32_t *users;      /* nodes, as often as they use the value */
    size_t prevented;     /* extensions that were possible but for an output on request */
    struct network_decisions *decisions; /* asked before layers are extended; NULL: all that is possible is done */
    const struct node_labels *labels;    /* with decisions */
};

/* The model's outputs are those to keep. `own_outputs` (values; NULL: all of these) are not on request. */
void fusion_init(struct fusion *fusion, const struct model *model, const struct bitset *own_outputs);
void fusion_release(struct fusion *fusion);

/* Begins a layer with a node, which is taken then. It has no name yet. */
void fusion_begin(struct fusion *fusion, uint32_t node, struct layer *ret);

/* Adds one operation to the layer, and its nodes. False when none can be added. Unless `any_order`, a tensor that is
 * added has to be made before the layer's last node: the other layer may want to add this one's result instead. */
bool fusion_extend(struct fusion *fusion, struct layer *layer, bool any_order);

#endif
