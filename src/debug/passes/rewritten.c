/* debug/passes/rewritten.c: see rewritten.h. */
#include "debug/passes/rewritten.h"

#include <stdlib.h>

#include "base/container/name_map.h"
#include "base/memory.h"
#include "base/text/string_builder.h"

/* Names are separated by a character that no name contains. */
static void add_names(const struct model *model, struct edge_range values, struct string_builder *ret)
{
    for (size_t i = 0; i < values.count; i++) {
        uint32_t value = model_edge(model, values, i);
        struct text name = value != VALUE_NONE ? model->values.items[value].name : TEXT("");

        string_add_bytes(ret, name.data, name.size);
        string_add_bytes(ret, "\0", 1);
    }
    string_add_bytes(ret, "\0", 1);
}

static void add_signature(const struct model *model, uint32_t index, struct string_builder *ret)
{
    const struct node *node = &model->nodes.items[index];

    string_add_bytes(ret, node->domain.data, node->domain.size);
    string_add_bytes(ret, "\0", 1);
    string_add_bytes(ret, node->op_type.data, node->op_type.size);
    string_add_bytes(ret, "\0", 1);
    add_names(model, node->inputs, ret);
    add_names(model, node->outputs, ret);
}

/* Lists nodes of `model` that `other` does not have; `indices` are their numbers in the model. */
static void list_others(struct model *model, const struct model *other, struct arena *texts, struct rewritten_list *ret,
                        struct value_list *indices)
{
    SCOPED_STRING(signature);
    SCOPED_ARENA(arena);
    SCOPED_NAME_MAP(map);

    for (uint32_t i = 0; i < other->nodes.count; i++) {
        string_clear(&signature);
        add_signature(other, i, &signature);
        name_map_add(&map, (struct text){arena_copy(&arena, signature.data, signature.size), signature.size}, i);
    }
    for (uint32_t i = 0; i < model->nodes.count; i++) {
        string_clear(&signature);
        add_signature(model, i, &signature);
        if (name_map_find(&map, (struct text){signature.data, signature.size}) != NAME_MAP_NONE)
            continue;
        VECTOR_APPEND(ret);
        ret->items[ret->count - 1].name = arena_strdup(texts, model_node_label(model, i));
        ret->items[ret->count - 1].op_type = arena_text(texts, model->nodes.items[i].op_type);
        *VECTOR_APPEND(indices) = i;
    }
}

/* ---- Regions ---- */

/* A union-find forest over both lists, nodes before first. */
struct regions {
    uint32_t *parents;
    size_t count;
};

static uint32_t root_of(struct regions *regions, uint32_t node)
{
    while (regions->parents[node] != node) {
        regions->parents[node] = regions->parents[regions->parents[node]];
        node = regions->parents[node];
    }
    return node;
}

/* Joins each node with producers of its inputs in the same list, and stores producers of tensors in `makers`. With
 * `others`, also with nodes of the other model that produce the same tensors. */
static void join_names(struct regions *regions, const struct model *model, const struct value_list *indices,
                       uint32_t first, const struct name_map *others, struct name_map *makers)
{
    for (uint32_t i = 0; i < indices->count; i++) {
        const struct node *node = &model->nodes.items[indices->items[i]];

        for (size_t k = 0; k < node->outputs.count; k++) {
            uint32_t value = model_edge(model, node->outputs, k);
            uint32_t other = NAME_MAP_NONE;

            if (value == VALUE_NONE)
                continue;
            name_map_add(makers, model->values.items[value].name, first + i);
            if (others != NULL)
                other = name_map_find(others, model->values.items[value].name);
            if (other != NAME_MAP_NONE)
                regions->parents[root_of(regions, first + i)] = root_of(regions, other);
        }
    }
    for (uint32_t i = 0; i < indices->count; i++) {
        const struct node *node = &model->nodes.items[indices->items[i]];

        for (size_t k = 0; k < node->inputs.count; k++) {
            uint32_t value = model_edge(model, node->inputs, k);
            uint32_t maker =
                value != VALUE_NONE ? name_map_find(makers, model->values.items[value].name) : NAME_MAP_NONE;

            if (maker != NAME_MAP_NONE)
                regions->parents[root_of(regions, first + i)] = root_of(regions, maker);
        }
    }
}

/* Numbers the regions in the order of their first nodes. */
static void number_regions(struct regions *regions, struct rewritten_nodes *ret)
{
    uint32_t *numbers SCOPED_FREE = memory_alloc_zero(regions->count, sizeof(*numbers));

    for (uint32_t i = 0; i < regions->count; i++)
        numbers[i] = UINT32_MAX;
    for (uint32_t i = 0; i < regions->count; i++) {
        uint32_t *number = &numbers[root_of(regions, i)];

        if (*number == UINT32_MAX)
            *number = ret->regions++;
        if (i < ret->before.count)
            ret->before.items[i].region = *number;
        else
            ret->after.items[i - ret->before.count].region = *number;
    }
}

void rewritten_nodes_find(struct model *without, struct model *with, struct rewritten_nodes *ret)
{
    struct value_list before SCOPED_ITEMS = {0}, after SCOPED_ITEMS = {0};
    SCOPED_NAME_MAP(makers_before);
    SCOPED_NAME_MAP(makers_after);
    struct regions regions;

    *ret = (struct rewritten_nodes){0};
    arena_init(&ret->arena);
    list_others(without, with, &ret->arena, &ret->before, &before);
    list_others(with, without, &ret->arena, &ret->after, &after);
    regions.count = before.count + after.count;
    regions.parents = memory_alloc_zero(regions.count, sizeof(*regions.parents));
    for (uint32_t i = 0; i < regions.count; i++)
        regions.parents[i] = i;
    join_names(&regions, without, &before, 0, NULL, &makers_before);
    join_names(&regions, with, &after, (uint32_t)before.count, &makers_before, &makers_after);
    number_regions(&regions, ret);
    free(regions.parents);
}

void rewritten_nodes_release(struct rewritten_nodes *nodes)
{
    free(nodes->before.items);
    free(nodes->after.items);
    arena_release(&nodes->arena);
}
