/* engine/network/layers.h: from nodes to layers; shared by the two ways to make a network. */
#ifndef ENGINE_NETWORK_LAYERS_H
#define ENGINE_NETWORK_LAYERS_H

#include "engine/network/decisions.h"
#include "engine/network/fusion.h"
#include "engine/network/network.h"

/* A part of the nodes, for each node the number of its part: nodes that exchange sequences, maps or optionals (values
 * in `not_tensors`, which may end before newer values) are in one part, and so is everything on a way from one of them
 * to another. `ret` is malloc'd; NULL when every node is a part of its own. */
void node_parts(const struct model *model, const struct bitset *not_tensors, uint32_t **ret);

/* A layer of several nodes (ascending) that are run as they are. Nodes are taken. */
void layer_of_part(struct fusion *fusion, const uint32_t *nodes, size_t count, struct layer *ret);

/* "conv1 + relu1", made unique among those in `taken` (texts of layers that live as long) and added there. */
char *layer_name(const struct node_labels *labels, const struct layer *layer, struct name_map *taken);

/* Puts layers into an order in which they can run, close to that of their last nodes. ERR_CORRUPT when there is none,
 * or when a layer reads what nothing makes. */
int layers_sort(struct network *network, struct error *err);

/* Checks that layers can run in their order, and make what the network's outputs are. ERR_CORRUPT. */
int layers_check(const struct network *network, struct error *err);

#endif
