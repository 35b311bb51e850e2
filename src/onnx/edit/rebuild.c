/* onnx/edit/rebuild.c: see rebuild.h. */
#include "onnx/edit/rebuild.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/text/string_builder.h"
#include "onnx/model/subgraph.h"

/* ---- Nodes ---- */

/* Edges of nodes are read again; those of annotations are copied to the new list. */
static void clear_edges(struct model *model)
{
    struct value_list old SCOPED_ITEMS = model->edges;

    model->edges = (struct value_list){0};
    for (size_t i = 0; i < model->annotations.count; i++) {
        struct edge_range *parameters = &model->annotations.items[i].parameters;
        uint32_t first = (uint32_t)model->edges.count;

        for (size_t k = 0; k < parameters->count; k++)
            *VECTOR_APPEND(&model->edges) = old.items[parameters->first + k];
        parameters->first = first;
    }
}

int model_set_nodes(struct model *model, const struct span_list *fields, struct error *err)
{
    clear_edges(model);
    model->nodes.count = 0;
    for (size_t i = 0; i < model->values.count; i++)
        model->values.items[i].producer = NODE_NONE;
    for (size_t i = 0; i < fields->count; i++) {
        int rc = model_add_node(model, fields->items[i], err);

        if (rc < 0)
            return error_context(err, "%s", model->display_name);
    }
    return 0;
}

int model_remove_unneeded_nodes(struct model *model, struct error *err)
{
    struct span_list kept SCOPED_ITEMS = {0};
    struct subgraph whole SCOPED(subgraph_release) = {0};
    int rc = 0;

    subgraph_init_whole(&whole, model);
    subgraph_clean(&whole, NULL, NULL, NULL);
    BITSET_EACH (i, &whole.nodes)
        *VECTOR_APPEND(&kept) = model->nodes.items[i].field;
    if (kept.count < model->nodes.count)
        rc = model_set_nodes(model, &kept, err);
    return rc;
}

/* ---- Sorting ---- */

/* Maximum number of nodes in a message about a cycle. */
#define SHOWN_NODES 8

/* A node on the path of the depth-first search, and its next read. */
struct step {
    uint32_t node;
    size_t next;
};

struct sort {
    const struct model *model;
    struct bitset on_path, done; /* nodes */
    VECTOR(struct step) path;
    struct value_list order; /* sorted nodes */
};

static void enter_sorted_node(struct sort *sort, uint32_t node)
{
    bitset_add(&sort->on_path, node);
    *VECTOR_APPEND(&sort->path) = (struct step){node, 0};
}

static void add_quoted_label(struct string_builder *out, const struct model *model, uint32_t node)
{
    string_add(out, "'");
    model_add_node_label(model, node, out);
    string_add(out, "'");
}

/* The path from `node` on is the cycle in reverse: each node reads an output of the next one. */
static int refuse_node_cycle(struct sort *sort, uint32_t node, struct error *err)
{
    SCOPED_STRING(text);
    size_t first = sort->path.count - 1, length;

    while (sort->path.items[first].node != node)
        first--;
    length = sort->path.count - first;
    add_quoted_label(&text, sort->model, node);
    for (size_t i = sort->path.count; i-- > first;) {
        if (length > SHOWN_NODES && i == first + SHOWN_NODES - 2)
            string_add(&text, " -> ...");
        if (length <= SHOWN_NODES || i == first || i > sort->path.count - SHOWN_NODES) {
            string_add(&text, " -> ");
            add_quoted_label(&text, sort->model, sort->path.items[i].node);
        }
    }
    return error_set(err, ERR_CORRUPT, "%s: nodes depend on each other in a cycle: %s", sort->model->display_name,
                     text.data);
}

/* The producer of the next read of the last node on the path; NODE_NONE if there is none. */
static uint32_t find_next_producer(struct sort *sort)
{
    const struct model *model = sort->model;
    struct step *step = &sort->path.items[sort->path.count - 1];
    const struct node *node = &model->nodes.items[step->node];

    while (step->next < node_read_count(node)) {
        uint32_t value = node_read(model, node, step->next++);

        if (value != VALUE_NONE && model->values.items[value].producer != NODE_NONE)
            return model->values.items[value].producer;
    }
    return NODE_NONE;
}

static int sort_from_node(struct sort *sort, uint32_t node, struct error *err)
{
    enter_sorted_node(sort, node);
    while (sort->path.count > 0) {
        uint32_t producer = find_next_producer(sort);

        if (producer == NODE_NONE) {
            uint32_t finished = sort->path.items[--sort->path.count].node;

            bitset_remove(&sort->on_path, finished);
            bitset_add(&sort->done, finished);
            *VECTOR_APPEND(&sort->order) = finished;
        } else if (bitset_has(&sort->on_path, producer)) {
            return refuse_node_cycle(sort, producer, err);
        } else if (!bitset_has(&sort->done, producer)) {
            enter_sorted_node(sort, producer);
        }
    }
    return 0;
}

/* Moves the nodes into their new order and updates the producers of values. */
static void reorder_nodes(struct model *model, const struct value_list *order)
{
    struct node *nodes = memory_alloc_zero(model->nodes.count + 1, sizeof(*nodes));

    for (size_t i = 0; i < order->count; i++) {
        nodes[i] = model->nodes.items[order->items[i]];
        for (size_t k = 0; k < nodes[i].outputs.count; k++) {
            uint32_t value = model_edge(model, nodes[i].outputs, k);

            if (value != VALUE_NONE && model->values.items[value].producer == order->items[i])
                model->values.items[value].producer = (uint32_t)i;
        }
    }
    free(model->nodes.items);
    model->nodes.items = nodes;
    model->nodes.capacity = model->nodes.count + 1;
}

int model_order_nodes(const struct model *model, struct value_list *ret, struct error *err)
{
    struct sort sort = {.model = model};
    int rc = 0;

    bitset_init(&sort.on_path, model->nodes.count);
    bitset_init(&sort.done, model->nodes.count);
    for (uint32_t i = 0; rc == 0 && i < model->nodes.count; i++)
        if (!bitset_has(&sort.done, i))
            rc = sort_from_node(&sort, i, err);
    bitset_release(&sort.on_path);
    bitset_release(&sort.done);
    free(sort.path.items);
    if (rc == 0)
        *ret = sort.order;
    else
        free(sort.order.items);
    return rc;
}

int model_sort_nodes(struct model *model, struct error *err)
{
    struct value_list order SCOPED_ITEMS = {0};
    int rc = model_order_nodes(model, &order, err);

    if (rc == 0)
        reorder_nodes(model, &order);
    return rc;
}
