/* engine/run/layer_request.h: a layer with its current input values, as a request to providers. */
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
    /* layer->inputs.count: borrowed run-time values; constants in this layer's precision. */
    struct tensor *tensors;
};

/* Creates a request. `values` contains all values of the model (model->values.count) and must outlive `ret`.
 * ERR_BACKEND if a run-time input of the layer does not exist there. */
int layer_request_make(const struct engine *engine, const struct layer *layer, enum precision precision,
                       const struct layer_values *values, struct layer_request *ret, struct error *err);
void layer_request_release(struct layer_request *request); /* harmless on a zeroed struct */

/* Whether the value is a constant of the model. */
bool layer_value_is_constant(const struct network *network, uint32_t value);

/* Reads a constant of the model, with data aligned for its type. `ret` owns them, or they live as long as the model. */
int layer_constant_read(const struct network *network, uint32_t value, struct tensor *ret, struct error *err);

/* Allocates aligned memory for a tensor of `size` bytes, in any layout. ERR_MEMORY. */
int layer_tensor_allocate(enum data_type type, const struct shape *shape, size_t size, struct tensor *ret,
                          struct error *err);

/* Replaces `tensor` by an aligned copy, unless its data are aligned already. */
int layer_tensor_align(struct tensor *tensor, struct error *err);

#endif
