/* backend/trtexec/layer_precisions.c: see layer_precisions.h. */
#include "backend/trtexec/layer_precisions.h"

#include <stdlib.h>
#include <string.h>

#include "base/container/name_map.h"
#include "base/memory.h"
#include "base/text/names.h"
#include "onnx/edit/node.h"
#include "onnx/edit/rebuild.h"

/* Bytes of names above which all nodes that are named get short ones: a word of a command line has 128 KiB at most. */
#define LONGEST_LIST 65536

/* ---- Which nodes ---- */

/* The nodes of each name: the last one, and before each another one. */
struct node_index {
    const char **names; /* of each node */
    uint32_t *before;   /* the one before it of the same name; NAME_MAP_NONE: none */
    struct name_map last;
};

static const char *find_layer_name(const struct model *model, const struct node *node, struct arena *arena)
{
    uint32_t output = node->outputs.count > 0 ? model_edge(model, node->outputs, 0) : VALUE_NONE;

    if (node->name.size > 0)
        return arena_text(arena, node->name);
    return output == VALUE_NONE
               ? ""
               : arena_printf(arena, "node_of_" TEXT_FORMAT, TEXT_ARGS(model->values.items[output].name));
}

static void index_nodes(struct node_index *index, const struct model *model, struct arena *arena)
{
    *index = (struct node_index){.names = arena_alloc_zero(arena, model->nodes.count, sizeof(*index->names)),
                                 .before = arena_alloc_zero(arena, model->nodes.count, sizeof(*index->before))};
    name_map_init(&index->last);
    for (uint32_t i = 0; i < model->nodes.count; i++) {
        index->names[i] = find_layer_name(model, &model->nodes.items[i], arena);
        index->before[i] = name_map_find(&index->last, text_of(index->names[i]));
        name_map_set(&index->last, text_of(index->names[i]), i);
    }
}

static int unknown_node(const struct node_index *index, size_t count, const char *name, struct error *err)
{
    struct close_names close;
    struct string_builder text;

    close_names_start(&close, text_of(name));
    for (size_t i = 0; i < count; i++)
        close_names_offer(&close, text_of(index->names[i]));
    string_init(&text);
    close_names_add_to(&close, &text);
    error_set(err, ERR_INVALID, "--layer-precisions: the model has no node '%s'%s", name,
              text.size > 0 ? text.data : "; TensorRT's layers are called as its nodes");
    string_release(&text);
    return ERR_INVALID;
}

/* ---- Names ---- */

struct found_layers {
    struct trtexec_layer *items;
    size_t count, capacity;
    uint32_t *nodes; /* of each; NAME_MAP_NONE: a pattern */
    size_t name_bytes;
};

static void add_precision(struct found_layers *found, uint32_t node, const struct tensorrt_named_type *asked,
                          const char *safe, bool may_be_missing)
{
    found->nodes = memory_resize(found->nodes, found->count + 1, sizeof(*found->nodes));
    found->nodes[found->count] = node;
    found->name_bytes += strlen(asked->name);
    *VECTOR_APPEND(found) = (struct trtexec_layer){asked->name, safe, asked->type, may_be_missing};
}

/* trtexec cuts lists at commas and values at colons, and knows neither quotes nor escapes. */
static bool can_be_passed(const char *name)
{
    return name[0] != '\0' && strpbrk(name, ",:'*\"\\") == NULL;
}

static int find_layer(const struct node_index *index, size_t count, const struct tensorrt_named_types *asked,
                      bool may_be_missing, struct found_layers *ret, struct error *err)
{
    for (size_t i = 0; i < asked->count; i++) {
        const char *name = asked->items[i].name;
        uint32_t last = name_map_find(&index->last, text_of(name));
        bool is_pattern = strchr(name, '*') != NULL && strpbrk(name, ",:'") == NULL;

        if (last == NAME_MAP_NONE && !is_pattern)
            return unknown_node(index, count, name, err);
        if (last == NAME_MAP_NONE)
            add_precision(ret, NAME_MAP_NONE, &asked->items[i], name, may_be_missing);
        for (uint32_t node = last; node != NAME_MAP_NONE; node = index->before[node])
            add_precision(ret, node, &asked->items[i], NULL, may_be_missing);
    }
    return 0;
}

/* Gives each found node a name that trtexec can be told, and that is its own. */
static int name_nodes(struct model *model, const struct node_index *index, struct found_layers *found,
                      struct arena *arena, bool *ret_changed, struct error *err)
{
    struct span_list fields = {0};
    struct unused_names names;
    bool short_names = found->name_bytes > LONGEST_LIST;
    int rc = 0;

    for (size_t i = 0; i < model->nodes.count; i++)
        *VECTOR_APPEND(&fields) = model->nodes.items[i].field;
    unused_names_init(&names, model, &model->arena);
    for (size_t i = 0; i < found->count; i++) {
        uint32_t node = found->nodes[i];
        const char *name = node == NAME_MAP_NONE ? NULL : index->names[node];
        struct text safe;

        if (name == NULL)
            continue;
        found->items[i].safe = name;
        if (!short_names && can_be_passed(name) && model->nodes.items[node].name.size > 0 &&
            index->before[node] == NAME_MAP_NONE && name_map_find(&index->last, text_of(name)) == node)
            continue;
        safe = unused_names_make(&names, text_of("n"), arena_printf(&model->arena, "%u", node));
        found->items[i].safe = arena_text(arena, safe);
        fields.items[node] = node_set_name(&model->arena, model->nodes.items[node].field, safe);
        *ret_changed = true;
    }
    unused_names_release(&names);
    if (*ret_changed)
        rc = model_set_nodes(model, &fields, err);
    free(fields.items);
    return rc;
}

int trtexec_layers_find(const struct tensorrt_settings *settings, struct model *model, struct arena *arena,
                        struct trtexec_layers *ret, bool *ret_changed, struct error *err)
{
    struct found_layers found = {0};
    struct node_index index;
    int rc;

    *ret_changed = false;
    if (settings->strongly_typed || settings->layer_precisions.count + settings->optional_precisions.count == 0)
        return 0;
    index_nodes(&index, model, arena);
    rc = find_layer(&index, model->nodes.count, &settings->layer_precisions, false, &found, err);
    if (rc == 0)
        rc = find_layer(&index, model->nodes.count, &settings->optional_precisions, true, &found, err);
    if (rc < 0)
        goto done;
    rc = name_nodes(model, &index, &found, arena, ret_changed, err);
    ret->items = arena_copy(arena, found.items, found.count * sizeof(*found.items));
    ret->count = found.count;
done:
    name_map_release(&index.last);
    free(found.items);
    free(found.nodes);
    return rc;
}

/* ---- What came of it ---- */

static bool was_set(const struct trtexec_report *report, const char *name)
{
    for (size_t i = 0; i < report->set_layers.count; i++)
        if (strcmp(report->set_layers.items[i], name) == 0 ||
            (strchr(name, '*') != NULL && text_matches_pattern(text_of(report->set_layers.items[i]), text_of(name))))
            return true;
    return false;
}

int trtexec_layers_check(const struct trtexec_layers *layers, const struct trtexec_report *report, struct error *err)
{
    struct string_builder missing;
    struct short_list list = {.text = &missing, .most = SIZE_MAX};
    size_t all = 0;
    int rc = 0;

    string_init(&missing);
    for (size_t i = 0; i < layers->count; i++) {
        if (layers->items[i].may_be_missing)
            continue;
        all++;
        if (!was_set(report, layers->items[i].safe))
            short_list_add(&list, layers->items[i].name);
    }
    if (list.count > 0)
        rc = error_set(err, ERR_INVALID,
                       "TensorRT has set the precision of %zu of %zu layers, and not that of %s: it has no layers of "
                       "these names, although the model has such nodes. What was built is not what was asked for",
                       all - list.count, all, missing.data);
    string_release(&missing);
    return rc;
}
