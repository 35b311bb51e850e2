/* A plug-in for 1x1 convolutions that is right about the node alone, and wrong where a Relu is fused behind it: there
 * it forgets that negative numbers become 0. This is what the hunt for a fusion is to find.
 *
 * With FORGETFUL_ALONE in the environment the node alone has a second kernel, which comes first and is right: "right",
 * or "wrong" where the first one is off by one there. So the fusion brings another kernel with it. */
#include "polygraphy/tactic_plugin.h"

#include <stdlib.h>
#include <string.h>

struct product {
    int64_t batch, in_channels, out_channels, pixels;
    const float *weights, *bias;
    float error;
};

static int is_pointwise(const struct polygraphy_layer *layer)
{
    const struct polygraphy_input *x = &layer->inputs[0], *w = &layer->inputs[1];

    for (uint32_t i = 0; i < layer->attribute_count; i++) /* strides and the like */
        if (strcmp(layer->attributes[i].name, "kernel_shape") != 0)
            return 0;
    return strcmp(layer->op_type, "Conv") == 0 && layer->input_count >= 2 && x->rank == 4 && w->rank == 4 &&
           w->constant && w->dims[2] == 1 && w->dims[3] == 1 && w->dims[1] == x->dims[1] &&
           (layer->input_count < 3 || !layer->inputs[2].present || layer->inputs[2].constant) &&
           (layer->fused_count == 0 || (layer->fused_count == 1 && layer->fused[0].kind == POLYGRAPHY_FUSED_RELU));
}

static const char *tactic_name(void *context, const struct polygraphy_layer *layer, uint32_t index)
{
    static const char *const names[] = {"mindful", "forgetful"};

    (void)context;
    index += layer->fused_count > 0 || getenv("FORGETFUL_ALONE") == NULL;
    return index < 2 && is_pointwise(layer) ? names[index] : NULL;
}

static float error_of(const struct polygraphy_layer *layer, const char *tactic)
{
    const char *alone = getenv("FORGETFUL_ALONE");

    return alone != NULL && strcmp(alone, "wrong") == 0 && layer->fused_count == 0 && strcmp(tactic, "forgetful") == 0;
}

static void *create(void *context, const struct polygraphy_layer *layer, const char *tactic,
                    struct polygraphy_output *outputs, const char **message)
{
    const struct polygraphy_input *x = &layer->inputs[0];
    struct product *product = NULL;

    (void)context;
    if (is_pointwise(layer))
        product = malloc(sizeof(*product));
    if (!product) {
        *message = "it is no 1x1 convolution";
        return NULL;
    }
    *product = (struct product){.batch = x->dims[0],
                                .in_channels = x->dims[1],
                                .out_channels = layer->inputs[1].dims[0],
                                .pixels = x->dims[2] * x->dims[3],
                                .weights = layer->inputs[1].constant,
                                .error = error_of(layer, tactic)};
    if (layer->input_count > 2)
        product->bias = layer->inputs[2].constant;
    outputs[0] = (struct polygraphy_output){
        .data_type = POLYGRAPHY_FLOAT32,
        .rank = 4,
        .dims = {x->dims[0], product->out_channels, x->dims[2], x->dims[3]},
    };
    return product;
}

static int32_t run(void *kernel, const void *const *inputs, void *const *outputs, const char **message)
{
    const struct product *p = kernel;
    float *y = outputs[0];

    (void)message;
    for (int64_t n = 0; n < p->batch; n++)
        for (int64_t o = 0; o < p->out_channels; o++, y += p->pixels) {
            const float *x = (const float *)inputs[0] + n * p->in_channels * p->pixels;

            for (int64_t i = 0; i < p->pixels; i++)
                y[i] = (p->bias ? p->bias[o] : 0) + p->error;
            for (int64_t c = 0; c < p->in_channels; c++)
                for (int64_t i = 0; i < p->pixels; i++)
                    y[i] += p->weights[o * p->in_channels + c] * x[c * p->pixels + i];
        }
    return 0;
}

static const struct polygraphy_plugin plugin = {
    .struct_size = sizeof(struct polygraphy_plugin),
    .version = POLYGRAPHY_PLUGIN_VERSION,
    .name = "forgetful",
    .plugin_version = "1.0",
    .tactic_name = tactic_name,
    .create = create,
    .run = run,
    .free_kernel = free,
    .takes_fused = 1,
};

const struct polygraphy_plugin *polygraphy_tactic_plugin(uint32_t host_version)
{
    (void)host_version;
    return &plugin;
}
