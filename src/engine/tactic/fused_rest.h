/* engine/tactic/fused_rest.h: the fused operations of a layer in plain loops, on the result of its first node: for a
 * kernel that computes this node and nothing else. */
#ifndef ENGINE_TACTIC_FUSED_REST_H
#define ENGINE_TACTIC_FUSED_REST_H

#include "engine/network/network.h"

/* What is added to the result: as many as the layer has additions, in their order. */
struct fused_operand {
    const float *data; /* row-major */
    struct shape shape;
};

/* Whether an operand of this shape can be added to a result of that shape. */
bool fused_rest_fits(const struct shape *operand, const struct shape *shape);

/* Applies them in order, in place, to row-major float32 values of this shape. Operands, which fit,
 * are broadcast to it as in numpy. */
void fused_rest_apply(const struct layer *layer, const struct fused_operand *operands, const struct shape *shape,
                      float *values);

#endif
