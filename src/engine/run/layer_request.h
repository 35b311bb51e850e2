/* engine/run/layer_request.h: one layer as providers want to see it, with the values that its inputs have now. */
#ifndef ENGINE_RUN_LAYER_REQUEST_H
#define ENGINE_RUN_LAYER_REQUEST_H

#include "engine/run/layer_step.h"

struct layer_request {
    struct kernel_request kernel;
    struct kernel_input *inputs; /* what kernel.inputs points to */
    /* layer->inputs.count: borrowed from the values that come at run time; constants as this layer's precision has
     * them. */
    struct tensor *tensors;
    struct tensor *constants; /* layer->inputs.count: of the model; those that were rounded are in `tensors` */
};

/* What the layer reads at run time exists in `values` and outlives `ret`. */
int layer_request_make(const struct network *network, const struct layer *layer, enum precision precision, int threads,
                       const struct layer_values *values, struct layer_request *ret, struct error *err);
void layer_request_release(struct layer_request *request); /* harmless on a zeroed struct */

/* Whether the value is a constant of the model. */
bool layer_value_is_constant(const struct network *network, uint32_t value);

/* Whether a tensor of layout `a` can be read as one of layout `b`. */
bool layer_layouts_agree(const struct layout *a, const struct layout *b);

#endif
