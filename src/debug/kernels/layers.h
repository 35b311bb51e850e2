/* debug/kernels/layers.h: the nodes that a runtime computes together, found by the tensors that it keeps.
 *
 * A layer of the runtime reads some tensors and makes others. The model's nodes between these are what it computes. Two
 * nodes and more are a fused layer; where a tensor has another name than in the model, or is none of the model's, the
 * nodes are not known.
 */
#ifndef DEBUG_KERNELS_LAYERS_H
#define DEBUG_KERNELS_LAYERS_H

#include "base/container/arena.h"
#include "onnx/model/model.h"

struct fused_layer {
    uint32_t *nodes; /* of the model, ascending */
    size_t count;    /* at least 2 */
};

struct fused_layers {
    struct fused_layer *items;
    size_t count, capacity;
    struct arena arena; /* of the nodes */
};

/* Adds the layer that reads and makes these values of `layers`, a model as the runtime has rewritten it, or its
 * network's; constants among `inputs` do not matter. Returns whether it is a fused one of `model`. */
bool fused_layers_add(struct fused_layers *list, const struct model *model, const struct model *layers,
                      struct value_list inputs, struct value_list outputs);

/* Adds those of all nodes of a rewritten model. */
void fused_layers_add_nodes(struct fused_layers *list, const struct model *model, const struct model *rewritten);

void fused_layers_init(struct fused_layers *list);
void fused_layers_release(struct fused_layers *list);

#endif
