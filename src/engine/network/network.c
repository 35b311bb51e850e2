/* engine/network/network.c: see network.h. */
#include "engine/network/network.h"

#include <stdlib.h>

#include "onnx/half/mixed_precision.h"

const char *layer_kind_name(enum layer_kind kind)
{
    static const char *const names[] = {
        [LAYER_OTHER] = "other",
        [LAYER_CONVOLUTION] = "convolution",
        [LAYER_DECONVOLUTION] = "deconvolution",
        [LAYER_MATMUL] = "matmul",
        [LAYER_POOLING] = "pooling",
        [LAYER_ACTIVATION] = "activation",
        [LAYER_BINARY] = "binary",
        [LAYER_CONCATENATION] = "concatenation",
        [LAYER_SOFTMAX] = "softmax",
        [LAYER_BATCH_NORMALIZATION] = "batch_normalization",
        [LAYER_LAYER_NORMALIZATION] = "layer_normalization",
        [LAYER_LRN] = "lrn",
        [LAYER_REDUCTION] = "reduction",
        [LAYER_RESIZE] = "resize",
    };

    return kind < LAYER_KIND_COUNT ? names[kind] : "unknown";
}

void layer_release(struct layer *layer)
{
    free(layer->name);
    free(layer->nodes.items);
    free(layer->inputs.items);
    free(layer->outputs.items);
    free(layer->fused.items);
    *layer = (struct layer){0};
}

void network_free(struct network *network)
{
    if (network == NULL)
        return;
    for (size_t i = 0; i < network->layers.count; i++)
        layer_release(&network->layers.items[i]);
    free(network->layers.items);
    free(network->inputs.items);
    free(network->outputs.items);
    model_free(network->model);
    free(network);
}

enum data_type network_type(const struct network *network, uint32_t value)
{
    return value_element(network->model, value);
}

/* Whether `part` is one of those that `name` consists of: "conv1 + bn1". */
static bool name_has_part(const char *name, struct text part)
{
    struct text rest = text_of(name);

    while (rest.size > 0) {
        size_t end = 0;

        while (end < rest.size && !(rest.size - end >= 3 && text_equal((struct text){rest.data + end, 3}, TEXT(" + "))))
            end++;
        if (text_equal((struct text){rest.data, end}, part))
            return true;
        end += rest.size - end >= 3 ? 3 : rest.size - end;
        rest = (struct text){rest.data + end, rest.size - end};
    }
    return false;
}

static bool layer_has_node(const struct network *network, const struct layer *layer, struct text name)
{
    for (size_t i = 0; i < layer->nodes.count; i++)
        if (text_equal(network->model->nodes.items[layer->nodes.items[i]].name, name))
            return true;
    return name_has_part(layer->name, name);
}

const struct layer *network_find_layer(const struct network *network, struct text name)
{
    if (name.size == 0)
        return NULL;
    for (size_t i = 0; i < network->layers.count; i++)
        if (text_equal(text_of(network->layers.items[i].name), name))
            return &network->layers.items[i];
    for (size_t i = 0; i < network->layers.count; i++)
        if (layer_has_node(network, &network->layers.items[i], name))
            return &network->layers.items[i];
    return NULL;
}
