/* pointwise_blocks.c: a plug-in for 1x1 convolutions, right for a convolution alone, and wrong with a Relu fused behind
 * it: that is applied to each block of sixteen channels that has been added up, not to the whole sum. */
#include "polygraphy/tactic_plugin.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK 16

struct product {
    int64_t batch, in_channels, out_channels, pixels;
    const float *weights;
    int has_relu;
};

/* Of one group, without bias, strides and paddings; also with the Relu behind it, when the program has fused it. */
static int is_pointwise(const struct polygraphy_layer *layer)
{
    const struct polygraphy_input *x = &layer->inputs[0], *w = &layer->inputs[1];

    if (strcmp(layer->op_type, "Conv") != 0 || layer->input_count != 2 || x->rank != 4 || w->rank != 4)
        return 0;
    if (layer->fused_count > 1 || (layer->fused_count == 1 && layer->fused[0].kind != POLYGRAPHY_FUSED_RELU))
        return 0;
    for (uint32_t i = 0; i < layer->attribute_count; i++)
        if (strcmp(layer->attributes[i].name, "kernel_shape") != 0)
            return 0;
    return x->data_type == POLYGRAPHY_FLOAT32 && w->constant && w->dims[2] == 1 && w->dims[3] == 1 &&
           w->dims[1] == x->dims[1];
}

static const char *tactic_name(void *context, const struct polygraphy_layer *layer, uint32_t index)
{
    (void)context;
    return index == 0 && is_pointwise(layer) ? "blocks" : NULL;
}

static void *create(void *context, const struct polygraphy_layer *layer, const char *tactic,
                    struct polygraphy_output *outputs, const char **message)
{
    const struct polygraphy_input *x = &layer->inputs[0];
    struct product *product = NULL;

    (void)context, (void)tactic;
    if (is_pointwise(layer))
        product = malloc(sizeof(*product));
    if (!product) {
        *message = "it is no 1x1 convolution, or there is no memory";
        return NULL;
    }
    *product = (struct product){.batch = x->dims[0],
                                .in_channels = x->dims[1],
                                .out_channels = layer->inputs[1].dims[0],
                                .pixels = x->dims[2] * x->dims[3],
                                .weights = layer->inputs[1].constant,
                                .has_relu = layer->fused_count == 1};
    outputs[0] = (struct polygraphy_output){
        .data_type = POLYGRAPHY_FLOAT32,
        .rank = 4,
        .dims = {x->dims[0], product->out_channels, x->dims[2], x->dims[3]},
    };
    return product;
}

/* One channel of one image. */
static void compute_channel(const struct product *p, const float *x, const float *weights, float *y)
{
    memset(y, 0, (size_t)p->pixels * sizeof(*y));
    for (int64_t c = 0; c < p->in_channels; c++) {
        int ends_block = (c + 1) % BLOCK == 0 || c + 1 == p->in_channels;

        for (int64_t i = 0; i < p->pixels; i++) {
            y[i] += weights[c] * x[c * p->pixels + i];
            if (p->has_relu && ends_block && y[i] < 0) /* the fault: only the last block may do so */
                y[i] = 0;
        }
    }
}

static int32_t run(void *kernel, const void *const *inputs, void *const *outputs, const char **message)
{
    const struct product *p = kernel;
    const float *x = inputs[0];
    float *y = outputs[0];

    (void)message; /* nothing can fail here */
    for (int64_t n = 0; n < p->batch; n++, x += p->in_channels * p->pixels)
        for (int64_t o = 0; o < p->out_channels; o++, y += p->pixels)
            compute_channel(p, x, p->weights + o * p->in_channels, y);
    return 0;
}

static const struct polygraphy_plugin plugin = {
    .struct_size = sizeof(plugin),
    .version = POLYGRAPHY_PLUGIN_VERSION,
    .name = "pointwise_blocks",
    .plugin_version = "1.0",
    .tactic_name = tactic_name,
    .create = create,
    .run = run,
    .free_kernel = free,
    .takes_fused = 1,
};

const struct polygraphy_plugin *polygraphy_tactic_plugin(uint32_t host_version)
{
    return host_version >= POLYGRAPHY_PLUGIN_VERSION ? &plugin : NULL;
}
