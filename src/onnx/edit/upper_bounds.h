/* onnx/edit/upper_bounds.h: bounds for sizes that a model computes from its data (see onnx/edit/unbounded_shapes.h). */
#ifndef ONNX_EDIT_UPPER_BOUNDS_H
#define ONNX_EDIT_UPPER_BOUNDS_H

#include "onnx/model/model.h"

struct upper_bound {
    uint32_t value; /* an integer tensor that a node makes; each once */
    int64_t bound;
};

/* Puts a `Min` right behind the node that makes each value. All who read the value read the bounded one, under the old
 * name. ERR_UNSUPPORTED when the model's operator set has no Min of integers (below 12). */
int upper_bounds_set(struct model *model, const struct upper_bound *bounds, size_t count, struct error *err);

#endif
