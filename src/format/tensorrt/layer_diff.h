/* format/tensorrt/layer_diff.h: two engines of one model, layer by layer: what was fused, typed, stored and implemented
 * differently.
 *
 * Layers are matched by the ONNX nodes that they are made of. Layers of both engines that share nodes, directly or
 * through others, belong together; among them, layers of the very same nodes are pairs, in their order, and what is
 * left was fused differently. Layers without nodes, such as reformats, are matched by their names.
 */
#ifndef FORMAT_TENSORRT_LAYER_DIFF_H
#define FORMAT_TENSORRT_LAYER_DIFF_H

#include "format/tensorrt/layer_info.h"

struct layer_indices {
    size_t *items;
    size_t count, capacity;
};

struct layer_pair {
    size_t a, b;      /* indices of layers */
    bool compared;    /* both engines tell more of the layer than its name; else the rest is false */
    bool typed;       /* another precision, or other types of inputs or outputs */
    bool stored;      /* the same types in other memory layouts */
    bool implemented; /* another kernel or type of layer */
};

/* Layers that share nodes, of which the two engines make other layers. One side may be empty. */
struct layer_fusion {
    struct layer_indices a, b;
};

struct layer_diff {
    struct {
        struct layer_pair *items; /* in the order of the first engine */
        size_t count, capacity;
    } pairs;
    VECTOR(struct layer_fusion) fusions;
    struct layer_indices only_in_a, only_in_b;   /* layers that share no node with the other engine */
    size_t compared, typed, stored, implemented; /* pairs */
};

void layer_diff_make(const struct layer_info *a, const struct layer_info *b, struct layer_diff *ret);
void layer_diff_release(struct layer_diff *diff);

/* Whether nothing differs that was looked at. */
bool layer_diff_is_empty(const struct layer_diff *diff);

#endif
