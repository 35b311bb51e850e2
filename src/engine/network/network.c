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
    network_decisions_release(&network->decisions);
    model_free(network->model);
    free(network);
}

enum data_type network_type(const struct network *network, uint32_t value)
{
    return value_element(network->model, value);
}

/* The parts that the name consists of: "conv1 + bn1" of two. Nodes that are gone have left theirs there. */
static void add_name_parts(struct name_map *map, const char *name, uint32_t layer)
{
    struct text rest = text_of(name);

    while (rest.size > 0) {
        size_t end = 0, skipped;

        while (end < rest.size && !(rest.size - end >= 3 && text_equal((struct text){rest.data + end, 3}, TEXT(" + "))))
            end++;
        name_map_add(map, (struct text){rest.data, end}, layer);
        skipped = end + (rest.size - end >= 3 ? 3 : rest.size - end);
        rest = (struct text){rest.data + skipped, rest.size - skipped};
    }
}

void layer_names_init(struct layer_names *names, const struct network *network)
{
    const struct node *nodes = network->model->nodes.items;

    names->network = network;
    name_map_init(&names->layers);
    for (size_t i = 0; i < network->layers.count; i++)
        name_map_add(&names->layers, text_of(network->layers.items[i].name), (uint32_t)i);
    for (size_t i = 0; i < network->layers.count; i++)
        for (size_t k = 0; k < network->layers.items[i].nodes.count; k++)
            name_map_add(&names->layers, nodes[network->layers.items[i].nodes.items[k]].name, (uint32_t)i);
    for (size_t i = 0; i < network->layers.count; i++)
        add_name_parts(&names->layers, network->layers.items[i].name, (uint32_t)i);
}

void layer_names_release(struct layer_names *names)
{
    name_map_release(&names->layers);
}

const struct layer *layer_names_find(const struct layer_names *names, struct text name)
{
    uint32_t found = name.size > 0 ? name_map_find(&names->layers, name) : NAME_MAP_NONE;

    return found != NAME_MAP_NONE ? &names->network->layers.items[found] : NULL;
}
