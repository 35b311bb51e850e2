/* engine/network/fusion.h: fuses nodes into layers.
 *
 * A layer starts with one node and is extended by its consumers, one operation at a time: a constant bias, an added
 * tensor, an activation. Intermediate tensors must have no other consumers. Compiled networks and those in plan files
 * use the same rules, so a file cannot contain a layer that could not have been built.
 */
#ifndef ENGINE_NETWORK_FUSION_H
#define ENGINE_NETWORK_FUSION_H

#include "base/container/bitset.h"
#include "engine/network/decisions.h"
#include "engine/network/network.h"

struct fusion {
    const struct model *model;
    struct bitset kept;                  /* values: outputs of the network */
    struct bitset marked;                /* values in `kept` that are outputs on request, not of the model */
    struct bitset taken;                 /* nodes that are part of a layer */
    uint32_t *first_use;                 /* position of each value in `users`; with an additional last element */
    uint32_t *users;                     /* consumers; repeated for repeated uses */
    size_t prevented;                    /* extensions prevented by an output on request */
    struct network_decisions *decisions; /* queried before each extension; NULL: all are allowed */
    const struct node_labels *labels;    /* required with decisions */
};

/* Keeps the model's outputs. `own_outputs` (values; NULL: all) are those that are not on request. */
void fusion_init(struct fusion *fusion, const struct model *model, const struct bitset *own_outputs);
void fusion_release(struct fusion *fusion);

/* Starts a layer with a node and marks the node as taken. The layer has no name yet. */
void fusion_begin(struct fusion *fusion, uint32_t node, struct layer *ret);

/* Adds one operation and its nodes to the layer. False if none can be added. Unless `any_order`, an added tensor must
 * be produced before the layer's last node: the other layer may add this one's result instead. */
bool fusion_extend(struct fusion *fusion, struct layer *layer, bool any_order);

#endif
