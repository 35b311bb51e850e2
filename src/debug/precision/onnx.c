/* debug/precision/onnx.c: see onnx.h. */
#include "debug/precision/onnx.h"

#include "onnx/edit/copy.h"
#include "onnx/half/mixed_precision.h"
#include "onnx/half/rounded_nodes.h"

static void add_nodes(const struct layer *layer, struct bitset *nodes)
{
    for (size_t i = 0; i < layer->nodes.count; i++)
        bitset_add(nodes, layer->nodes.items[i]);
}

/* Whether a layer moves only what float16 nodes have made: in float16 it changes nothing, and saves Casts. */
static bool goes_along(const struct network *network, const struct layer *layer, const struct bitset *nodes)
{
    const struct model *model = network->model;
    bool ret = false;

    if (!layer->moves_data)
        return false;
    for (size_t i = 0; i < layer->nodes.count; i++)
        if (!node_takes_float16(model, &model->nodes.items[layer->nodes.items[i]]))
            return false;
    for (size_t i = 0; i < layer->inputs.count; i++) {
        uint32_t value = layer->inputs.items[i];

        if (value == VALUE_NONE || network_type(network, value) != DATA_FLOAT32)
            continue;
        if (model->values.items[value].producer == NODE_NONE || !bitset_has(nodes, model->values.items[value].producer))
            return false;
        ret = true;
    }
    return ret;
}

int precision_onnx_make(const struct network *network, const struct bitset *half, struct log *log, struct model **ret,
                        struct error *err)
{
    struct model *model = model_copy(network->model);
    struct unused_names names;
    struct bitset nodes;

    bitset_init(&nodes, model->nodes.count);
    for (size_t i = 0; i < network->layers.count; i++) {
        const struct layer *layer = &network->layers.items[i];

        if (bitset_has(half, i) || goes_along(network, layer, &nodes))
            add_nodes(layer, &nodes);
    }
    unused_names_init(&names, model, &model->arena);
    int rc = mixed_precision_apply(model, &nodes, &names, log, err);
    unused_names_release(&names);
    bitset_release(&nodes);
    if (rc < 0)
        model_free(model);
    else
        *ret = model;
    return rc;
}

int precision_onnx_make_rounded(const struct network *network, const struct bitset *half, struct model **ret,
                                struct error *err)
{
    struct model *model = model_copy(network->model);
    struct unused_names names;
    struct bitset nodes;

    bitset_init(&nodes, model->nodes.count);
    for (size_t i = 0; i < network->layers.count; i++)
        if (bitset_has(half, i))
            add_nodes(&network->layers.items[i], &nodes);
    unused_names_init(&names, model, &model->arena);
    int rc = model_round_nodes(model, &nodes, &names, err);
    unused_names_release(&names);
    bitset_release(&nodes);
    if (rc < 0)
        model_free(model);
    else
        *ret = model;
    return rc;
}
