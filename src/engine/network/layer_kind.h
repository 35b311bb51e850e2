/* engine/network/layer_kind.h: what a node is to the engine. */
#ifndef ENGINE_NETWORK_LAYER_KIND_H
#define ENGINE_NETWORK_LAYER_KIND_H

#include "engine/network/network.h"

/* Sets kind, activation, alpha, beta and moves_data of a layer by its first node. A node that has the name of a kind
 * but a form that the kind does not cover (a Clip whose bounds are computed, a BatchNormalization that trains, a Max
 * of three) is LAYER_OTHER. */
void layer_classify(const struct model *model, const struct node *node, struct layer *ret);

/* Reads a constant of one float32 element, whatever its rank. False when `value` is none. */
bool constant_scalar(const struct model *model, uint32_t value, float *ret, struct shape *ret_shape);

#endif
