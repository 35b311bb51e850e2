/* debug/passes/rewritten.c: see rewritten.h. */
#include "debug/passes/rewritten.h"

#include <stdlib.h>

#include "base/container/name_map.h"
#include "base/memory.h"
#include "base/text/string_builder.h"

/* Names are parted by what no name has. */
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

/* Nodes of `model` that `other` does not have. */
static void list_others(struct model *model, const struct model *other, struct arena *texts, struct rewritten_list *ret)
{
    struct string_builder signature;
    struct arena arena;
    struct name_map map;

    arena_init(&arena);
    name_map_init(&map);
    string_init(&signature);
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
    }
    string_release(&signature);
    name_map_release(&map);
    arena_release(&arena);
}

void rewritten_nodes_find(struct model *without, struct model *with, struct rewritten_nodes *ret)
{
    *ret = (struct rewritten_nodes){0};
    arena_init(&ret->arena);
    list_others(without, with, &ret->arena, &ret->before);
    list_others(with, without, &ret->arena, &ret->after);
}

void rewritten_nodes_release(struct rewritten_nodes *nodes)
{
    free(nodes->before.items);
    free(nodes->after.items);
    arena_release(&nodes->arena);
}
