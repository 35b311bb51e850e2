/* engine/build/layer_walk.h: the values of a network while its layers are run one by one, for the builder.
 *
 *   layer_walk_init(&walk, network);
 *   layer_walk_feed(&walk, &feed, err);
 *   for (each layer) {
 *       run it on walk.values;
 *       layer_walk_leave(&walk, layer);
 *   }
 *   layer_walk_release(&walk);
 */
#ifndef ENGINE_BUILD_LAYER_WALK_H
#define ENGINE_BUILD_LAYER_WALK_H

#include "engine/run/layer_step.h"

struct layer_walk {
    const struct network *network;
    struct layer_values *values; /* model->values.count */
    size_t *last_reader;         /* of each value: the last layer that reads it, or its producer */
};

void layer_walk_init(struct layer_walk *walk, const struct network *network);
void layer_walk_release(struct layer_walk *walk);

/* Restarts with these inputs, in the network's order. The feed must outlive the walk; unaligned data in it are replaced
 * by aligned copies. */
int layer_walk_feed(struct layer_walk *walk, struct tensor_list *feed, struct error *err);

/* Releases values that no later layer reads. */
void layer_walk_leave(struct layer_walk *walk, size_t layer);

#endif
