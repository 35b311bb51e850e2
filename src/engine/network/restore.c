/* engine/network/restore.c: restores the network of a plan file. See compile.h. */
#include "engine/network/compile.h"

#include "base/memory.h"
#include "engine/network/layers.h"
#include "onnx/model/subgraph.h"
#include "onnx/proto/value_info.h"

struct restoration {
    struct network *network;
    struct fusion fusion;
    struct name_map names;
};

static int refuse_group(const struct restoration *restoration, size_t group, const char *why, struct error *err)
{
    return error_set(err, ERR_CORRUPT, "%s: layer %zu %s", restoration->network->model->display_name, group, why);
}

static int check_layer_group(struct restoration *restoration, const struct node_group *group, size_t number,
                             struct error *err)
{
    const struct model *model = restoration->network->model;

    if (group->name.size == 0 || name_map_find(&restoration->names, group->name) != NAME_MAP_NONE)
        return refuse_group(restoration, number, "has no name of its own", err);
    if (group->count == 0)
        return refuse_group(restoration, number, "has no nodes", err);
    for (size_t i = 0; i < group->count; i++) {
        if (group->nodes[i] >= model->nodes.count || (i > 0 && group->nodes[i] <= group->nodes[i - 1]))
            return refuse_group(restoration, number, "has nodes that do not exist or are out of order", err);
        if (bitset_has(&restoration->fusion.taken, group->nodes[i]))
            return refuse_group(restoration, number, "has nodes of another layer", err);
    }
    return 0;
}

static bool group_has_nodes(const struct layer *layer, const struct node_group *group)
{
    for (size_t i = 0; i < group->count; i++)
        if (layer->nodes.count != group->count || layer->nodes.items[i] != group->nodes[i])
            return false;
    return true;
}

/* Whether the nodes form a layer because they exchange non-tensor values. Values without a type description are
 * produced by operators of no layer kind. */
static bool name_is_part(const struct model *model, const struct layer *layer, const struct node_group *group)
{
    struct value_type type;

    for (size_t i = 0; i < group->count; i++) {
        const struct node *node = &model->nodes.items[group->nodes[i]];

        for (size_t k = 0; k < node->outputs.count; k++) {
            if (model_edge(model, node->outputs, k) == VALUE_NONE)
                continue;
            value_info_decode(model->values.items[model_edge(model, node->outputs, k)].info, &type);
            if (type.not_a_tensor != NULL)
                return group->count > 1;
        }
    }
    return group->count > 1 && layer->kind == LAYER_OTHER;
}

static int restore_layer(struct restoration *restoration, const struct node_group *group, size_t number,
                         struct error *err)
{
    struct network *network = restoration->network;
    struct layer *layer;
    int rc = check_layer_group(restoration, group, number, err);

    if (rc < 0)
        return rc;
    layer = VECTOR_APPEND(&network->layers);
    fusion_begin(&restoration->fusion, group->nodes[0], layer);
    layer->name = memory_copy(group->name.data, group->name.size);
    name_map_add(&restoration->names, group->name, 0);
    if (name_is_part(network->model, layer, group)) {
        char *name = layer->name;

        layer->name = NULL;
        layer_release(layer);
        layer_of_part(&restoration->fusion, group->nodes, group->count, layer);
        layer->name = name;
    }
    while (layer->nodes.count < group->count && fusion_extend(&restoration->fusion, layer, true))
        ;
    return group_has_nodes(layer, group) ? 0
                                         : refuse_group(restoration, number, "has nodes that do not form a layer", err);
}

int network_restore(struct model *model, const struct node_group *groups, size_t count, struct network **ret,
                    struct error *err)
{
    struct network *network = memory_alloc_zero(1, sizeof(*network));
    struct restoration restoration = {.network = network};
    int rc = 0;

    network->model = model;
    fusion_init(&restoration.fusion, model, NULL);
    name_map_init(&restoration.names);
    value_list_assign(&network->inputs, &model->inputs);
    value_list_assign(&network->outputs, &model->outputs);
    for (size_t i = 0; i < count; i++) {
        rc = restore_layer(&restoration, &groups[i], i, err);
        if (rc < 0)
            goto done;
    }
    if (bitset_count(&restoration.fusion.taken) < model->nodes.count)
        rc = error_set(err, ERR_CORRUPT, "%s: there are nodes that belong to no layer", model->display_name);
    else
        rc = layers_check(network, err);
done:
    fusion_release(&restoration.fusion);
    name_map_release(&restoration.names);
    if (rc == 0) {
        *ret = network;
        return 0;
    }
    network->model = NULL; /* owned by the caller */
    network_free(network);
    return rc;
}
