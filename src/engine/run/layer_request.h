/* engine/run/layer_request.h: one layer as providers want to see it, with the values that its inputs have now. */
#ifndef ENGINE_RUN_LAYER_REQUEST_H
#define ENGINE_RUN_LAYER_REQUEST_H

#include "engine/plan/engine.h"

#define LAYER_ALIGNMENT 64 /* bytes: a cache line, and the widest vector */

struct layer_values {     /* of a tensor while layers run */
    struct tensor tensor; /* physical: size is that of its layout */
    struct layout layout;
    bool exists;
};

struct layer_request {
    struct kernel_request kernel;
    struct kernel_input *inputs; /* what kernel.inputs points to */
    /* layer->inputs.count: borrowed from the values that come at run time; constants as this layer's precision has
     * them. */
    struct tensor *tensors;
};

/* `values`: of every value of the model (model->values.count). ERR_BACKEND when one that the layer reads at run time
 * does not exist there; those outlive `ret`. */
int layer_request_make(const struct engine *engine, const struct layer *layer, enum precision precision,
                       const struct layer_values *values, struct layer_request *ret, struct error *err);
void layer_request_release(struct layer_request *request); /* harmless on a zeroed struct */

/* Whether the value is a constant of the model. */
bool layer_value_is_constant(const struct network *network, uint32_t value);

/* A constant of the model, with data that are aligned for its type. `ret` owns them, or they live as long as the
 * model. */
int layer_constant_read(const struct network *network, uint32_t value, struct tensor *ret, struct error *err);

/* A tensor's memory in any layout, aligned. ERR_MEMORY. */
int layer_tensor_allocate(enum data_type type, const struct shape *shape, size_t size, struct tensor *ret,
                          struct error *err);

/* Makes `tensor` a copy of itself with data that are aligned for its type, unless they are already. */
int layer_tensor_align(struct tensor *tensor, struct error *err);

#endif
