/* engine/network/layers.h: groups nodes into layers; shared by network_build() and network_restore(). */
#ifndef ENGINE_NETWORK_LAYERS_H
#define ENGINE_NETWORK_LAYERS_H

#include "engine/network/decisions.h"
#include "engine/network/fusion.h"
#include "engine/network/network.h"

/* Partitions the nodes: `ret` contains the part of each node. Nodes that exchange sequences, maps or optionals (values
 * in `not_tensors`, which may be shorter than the list of values) are in one part, with all nodes on paths between
 * them. `ret` is malloc'd; NULL if every node is a separate part. */
void node_parts(const struct model *model, const struct bitset *not_tensors, uint32_t **ret);

/* Creates a layer of several nodes (ascending) that run unfused, and marks them as taken. */
void layer_of_part(struct fusion *fusion, const uint32_t *nodes, size_t count, struct layer *ret);

/* "conv1 + relu1", made unique among `taken` (whose texts belong to layers) and added there. */
char *layer_name(const struct node_labels *labels, const struct layer *layer, struct name_map *taken);

/* Sorts layers for execution, close to the order of their last nodes. ERR_CORRUPT for a cycle, or if a layer reads a
 * value without a source. */
int layers_sort(struct network *network, struct error *err);

/* Checks that layers can run in this order and produce the network's outputs. ERR_CORRUPT. */
int layers_check(const struct network *network, struct error *err);

#endif
