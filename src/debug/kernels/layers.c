/* debug/kernels/layers.c: see layers.h. */
#include "debug/kernels/layers.h"

#include <stdlib.h>

#include "base/container/bitset.h"
#include "base/memory.h"

void fused_layers_init(struct fused_layers *list)
{
    *list = (struct fused_layers){0};
    arena_init(&list->arena);
}

void fused_layers_release(struct fused_layers *list)
{
    free(list->items);
    arena_release(&list->arena);
}

/* The tensor of `model` with the name of this one; VALUE_NONE: there is none. */
static uint32_t find_namesake(const struct model *model, const struct model *layers, uint32_t value)
{
    return value != VALUE_NONE ? model_find_value(model, layers->values.items[value].name) : VALUE_NONE;
}

/* Adds the producer of `value` to `ret`, and what that reads to `reads`. False: the way back ends at an input of the
 * model that the layer does not read. */
static bool add_producer(const struct model *model, uint32_t value, struct bitset *ret, struct value_list *reads)
{
    uint32_t producer = model->values.items[value].producer;
    const struct node *node = producer != NODE_NONE ? &model->nodes.items[producer] : NULL;

    if (node == NULL)
        return model->values.items[value].initializer != INITIALIZER_NONE;
    if (bitset_has(ret, producer))
        return true;
    bitset_add(ret, producer);
    for (size_t i = 0; i < node_read_count(node); i++)
        if (node_read(model, node, i) != VALUE_NONE)
            *VECTOR_APPEND(reads) = node_read(model, node, i);
    return true;
}

/* The nodes from `read`, tensors of the model, to the outputs. */
static bool collect_nodes(const struct model *model, const struct model *layers, const struct bitset *read,
                          struct value_list outputs, struct bitset *ret)
{
    struct value_list wanted SCOPED_ITEMS = {0};

    for (size_t i = 0; i < outputs.count; i++) {
        uint32_t value = find_namesake(model, layers, outputs.items[i]);

        if (outputs.items[i] != VALUE_NONE && (value == VALUE_NONE || model_producer(model, value) == NULL))
            return false;
        if (value != VALUE_NONE)
            *VECTOR_APPEND(&wanted) = value;
    }
    while (wanted.count > 0) {
        uint32_t value = wanted.items[--wanted.count];

        if (!bitset_has(read, value) && !add_producer(model, value, ret, &wanted))
            return false;
    }
    return true;
}

bool fused_layers_add(struct fused_layers *list, const struct model *model, const struct model *layers,
                      struct value_list inputs, struct value_list outputs)
{
    SCOPED_BITSET(read);
    SCOPED_BITSET(nodes);
    struct fused_layer layer = {0};

    bitset_init(&read, model->values.count);
    bitset_init(&nodes, model->nodes.count);
    for (size_t i = 0; i < inputs.count; i++) {
        uint32_t value = find_namesake(model, layers, inputs.items[i]);

        if (value != VALUE_NONE)
            bitset_add(&read, value);
    }
    if (!collect_nodes(model, layers, &read, outputs, &nodes) || bitset_count(&nodes) < 2)
        return false;
    layer.nodes = arena_alloc_zero(&list->arena, bitset_count(&nodes), sizeof(*layer.nodes));
    BITSET_EACH (i, &nodes)
        layer.nodes[layer.count++] = (uint32_t)i;
    *VECTOR_APPEND(list) = layer;
    return true;
}

void fused_layers_add_nodes(struct fused_layers *list, const struct model *model, const struct model *rewritten)
{
    for (size_t i = 0; i < rewritten->nodes.count; i++) {
        const struct node *node = &rewritten->nodes.items[i];
        uint32_t *edges = rewritten->edges.items;
        struct value_list inputs = {.items = edges + node->inputs.first, .count = node->inputs.count};
        struct value_list outputs = {.items = edges + node->outputs.first, .count = node->outputs.count};

        fused_layers_add(list, model, rewritten, inputs, outputs);
    }
}
