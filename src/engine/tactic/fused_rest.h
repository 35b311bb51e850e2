/* engine/tactic/fused_rest.h: applies the fused operations of a layer to the result of its first node, for kernels that
 * compute only this node. */
#ifndef ENGINE_TACTIC_FUSED_REST_H
#define ENGINE_TACTIC_FUSED_REST_H

#include "engine/network/network.h"

/* The addends of the layer's fused additions, in order. */
struct fused_operand {
    const float *data; /* row-major */
    struct shape shape;
};

/* Whether an operand of this shape can be added to a result of that shape. */
bool fused_rest_fits(const struct shape *operand, const struct shape *shape);

/* Applies them in order, in place, to row-major float32 values of this shape. Operands must fit and are broadcast as in
 * numpy. */
void fused_rest_apply(const struct layer *layer, const struct fused_operand *operands, const struct shape *shape,
                      float *values);

#endif
