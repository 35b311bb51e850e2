/* engine/network/parts.c: groups nodes that exchange values other than tensors. See layers.h. */
#include <stdlib.h>

#include "base/memory.h"
#include "engine/network/layers.h"
#include "onnx/model/subgraph.h"

/* A disjoint-set forest of parts: each node points to another one of its part, or to itself. */
struct part_forest {
    const struct model *model;
    uint32_t *of;
    uint32_t *size; /* of the part, at its root */
};

static uint32_t find_part_root(struct part_forest *parts, uint32_t node)
{
    while (parts->of[node] != node)
        node = parts->of[node] = parts->of[parts->of[node]];
    return node;
}

static void join_part_nodes(struct part_forest *parts, uint32_t a, uint32_t b)
{
    a = find_part_root(parts, a);
    b = find_part_root(parts, b);
    if (a == b)
        return;
    parts->of[b] = a;
    parts->size[a] += parts->size[b];
}

static bool join_nodes_by_values(struct part_forest *parts, const struct bitset *not_tensors)
{
    const struct model *model = parts->model;
    bool any = false;

    for (uint32_t i = 0; i < model->nodes.count; i++) {
        const struct node *node = &model->nodes.items[i];

        for (size_t k = 0; k < (size_t)node->inputs.count + node->captures.count; k++) {
            uint32_t value = k < node->inputs.count ? model_edge(model, node->inputs, k)
                                                    : model_edge(model, node->captures, k - node->inputs.count);

            if (value == VALUE_NONE || model->values.items[value].producer == NODE_NONE || value >= not_tensors->size ||
                !bitset_has(not_tensors, value))
                continue;
            join_part_nodes(parts, model->values.items[value].producer, i);
            any = true;
        }
    }
    return any;
}

/* Propagates `reached` (roots) from producers to consumers, or backwards. */
static void spread_membership(struct part_forest *parts, bool forward, struct bitset *reached)
{
    const struct model *model = parts->model;
    bool changed = true;

    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < model->nodes.count; i++) {
            const struct node *node = &model->nodes.items[i];
            uint32_t reader = find_part_root(parts, i);

            for (size_t k = 0; k < (size_t)node->inputs.count + node->captures.count; k++) {
                uint32_t value = k < node->inputs.count ? model_edge(model, node->inputs, k)
                                                        : model_edge(model, node->captures, k - node->inputs.count);
                uint32_t producer = value != VALUE_NONE ? model->values.items[value].producer : NODE_NONE;
                uint32_t from, to;

                if (producer == NODE_NONE)
                    continue;
                from = forward ? find_part_root(parts, producer) : reader;
                to = forward ? reader : find_part_root(parts, producer);
                if (from != to && bitset_has(reached, from) && !bitset_has(reached, to)) {
                    bitset_add(reached, to);
                    changed = true;
                }
            }
        }
    }
}

/* Joins all nodes on paths between two nodes of the part of `root` to it. */
static bool close_node_part(struct part_forest *parts, uint32_t root)
{
    size_t count = parts->model->nodes.count;
    SCOPED_BITSET(after);
    SCOPED_BITSET(before);
    bool changed = false;

    bitset_init(&after, count);
    bitset_init(&before, count);
    bitset_add(&after, root);
    bitset_add(&before, root);
    spread_membership(parts, true, &after);
    spread_membership(parts, false, &before);
    for (uint32_t i = 0; i < count; i++)
        if (bitset_has(&after, find_part_root(parts, i)) && bitset_has(&before, find_part_root(parts, i)) &&
            find_part_root(parts, i) != find_part_root(parts, root)) {
            join_part_nodes(parts, root, i);
            changed = true;
        }
    return changed;
}

void node_parts(const struct model *model, const struct bitset *not_tensors, uint32_t **ret)
{
    struct part_forest parts = {.model = model};
    bool changed;

    parts.of = memory_alloc_zero(model->nodes.count + 1, sizeof(*parts.of));
    parts.size = memory_alloc_zero(model->nodes.count + 1, sizeof(*parts.size));
    for (uint32_t i = 0; i < model->nodes.count; i++) {
        parts.of[i] = i;
        parts.size[i] = 1;
    }
    changed = join_nodes_by_values(&parts, not_tensors);
    *ret = NULL;
    if (changed)
        *ret = parts.of;
    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < model->nodes.count; i++)
            if (find_part_root(&parts, i) == i && parts.size[i] > 1)
                changed |= close_node_part(&parts, i);
    }
    for (uint32_t i = 0; *ret != NULL && i < model->nodes.count; i++)
        parts.of[i] = find_part_root(&parts, i);
    if (*ret == NULL)
        free(parts.of);
    free(parts.size);
}

static void add_value_once(struct value_list *list, struct bitset *seen, uint32_t value)
{
    if (value == VALUE_NONE || bitset_has(seen, value))
        return;
    bitset_add(seen, value);
    value_list_add(list, value);
}

static bool is_used_outside(const struct fusion *fusion, const struct bitset *inside, uint32_t value)
{
    if (bitset_has(&fusion->kept, value))
        return true;
    for (uint32_t i = fusion->first_use[value]; i < fusion->first_use[value + 1]; i++)
        if (!bitset_has(inside, fusion->users[i]))
            return true;
    return false;
}

void layer_of_part(struct fusion *fusion, const uint32_t *nodes, size_t count, struct layer *ret)
{
    const struct model *model = fusion->model;
    SCOPED_BITSET(inside);
    SCOPED_BITSET(made);

    *ret = (struct layer){.kind = LAYER_OTHER};
    bitset_init(&inside, model->nodes.count);
    bitset_init(&made, model->values.count);
    for (size_t i = 0; i < count; i++) {
        bitset_add(&inside, nodes[i]);
        bitset_add(&fusion->taken, nodes[i]);
        *VECTOR_APPEND(&ret->nodes) = nodes[i];
    }
    for (size_t i = 0; i < count; i++) {
        const struct node *node = &model->nodes.items[nodes[i]];

        for (size_t k = 0; k < node->inputs.count; k++)
            add_value_once(&ret->inputs, &made, model_edge(model, node->inputs, k));
        for (size_t k = 0; k < node->captures.count; k++)
            add_value_once(&ret->inputs, &made, model_edge(model, node->captures, k));
        for (size_t k = 0; k < node->outputs.count; k++) {
            uint32_t value = model_edge(model, node->outputs, k);

            if (value != VALUE_NONE && is_used_outside(fusion, &inside, value) && !bitset_has(&made, value))
                value_list_add(&ret->outputs, value);
            if (value != VALUE_NONE)
                bitset_add(&made, value);
        }
    }
}
