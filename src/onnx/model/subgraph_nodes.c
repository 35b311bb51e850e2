/* onnx/model/subgraph_nodes.c: the part of a model that consists of given nodes. See subgraph.h. */
#include <stdlib.h>

#include "base/memory.h"
#include "onnx/model/subgraph.h"

/* What the nodes of a set read and make (`ret_made` may be NULL). */
static void collect_node_values(const struct model *model, const struct bitset *nodes, struct bitset *ret_read,
                                struct bitset *ret_made)
{
    for (size_t i = bitset_next(nodes, 0); i < nodes->size; i = bitset_next(nodes, i + 1)) {
        model_add_edges_to(model, model->nodes.items[i].inputs, ret_read);
        model_add_edges_to(model, model->nodes.items[i].captures, ret_read);
        if (ret_made != NULL)
            model_add_edges_to(model, model->nodes.items[i].outputs, ret_made);
    }
}

static bool value_is_frozen(const struct subgraph *subgraph, uint32_t value)
{
    for (size_t i = 0; i < subgraph->frozen.count; i++)
        if (subgraph->frozen.items[i].value == value)
            return true;
    return false;
}

/* Adds what stands in `range` and is neither made inside nor constant. `seen` is made inside or listed already. */
static void add_cut_inputs(struct subgraph *subgraph, struct edge_range range, struct bitset *seen)
{
    const struct model *model = subgraph->model;

    for (size_t i = 0; i < range.count; i++) {
        uint32_t value = model_edge(model, range, i);

        if (value == VALUE_NONE || bitset_has(seen, value))
            continue;
        bitset_add(seen, value);
        if (model->values.items[value].producer == NODE_NONE &&
            model->values.items[value].initializer != INITIALIZER_NONE)
            continue;
        if (!value_is_frozen(subgraph, value))
            *VECTOR_APPEND(&subgraph->inputs) = value;
    }
}

void subgraph_init_nodes(struct subgraph *subgraph, const struct subgraph *whole, const struct bitset *nodes)
{
    const struct model *model = whole->model;
    SCOPED_BITSET(read);
    SCOPED_BITSET(made);
    SCOPED_BITSET(read_in_whole);
    SCOPED_BITSET(is_output);
    struct value_list dead_ends = {0}; /* outputs, when there are no others */

    subgraph_init_copy(subgraph, whole);
    bitset_assign(&subgraph->nodes, nodes);
    subgraph->inputs.count = 0;
    subgraph->outputs.count = 0;
    bitset_init(&read, model->values.count);
    bitset_init(&made, model->values.count);
    bitset_init(&read_in_whole, model->values.count);
    bitset_init(&is_output, model->values.count);
    collect_node_values(model, nodes, &read, &made);
    collect_node_values(model, &whole->nodes, &read_in_whole, NULL);
    for (size_t i = 0; i < whole->outputs.count; i++)
        bitset_add(&is_output, whole->outputs.items[i]);
    for (size_t i = bitset_next(&made, 0); i < made.size; i = bitset_next(&made, i + 1))
        if (bitset_has(&is_output, i) || (bitset_has(&read_in_whole, i) && !bitset_has(&read, i)))
            *VECTOR_APPEND(&subgraph->outputs) = (uint32_t)i;
    for (size_t i = bitset_next(&made, 0); subgraph->outputs.count == 0 && i < made.size; i = bitset_next(&made, i + 1))
        if (!bitset_has(&read, i))
            *VECTOR_APPEND(&dead_ends) = (uint32_t)i;
    if (subgraph->outputs.count == 0)
        value_list_assign(&subgraph->outputs, &dead_ends);
    free(dead_ends.items);
    for (size_t i = bitset_next(nodes, 0); i < nodes->size; i = bitset_next(nodes, i + 1)) {
        add_cut_inputs(subgraph, model->nodes.items[i].inputs, &made);
        add_cut_inputs(subgraph, model->nodes.items[i].captures, &made);
    }
}

void node_cutter_init(struct node_cutter *cutter, const struct subgraph *whole)
{
    size_t values = whole->model->values.count;

    subgraph_init_copy(&cutter->part, whole);
    bitset_clear(&cutter->part.nodes);
    value_list_to_set(&whole->outputs, values, &cutter->wanted);
    collect_node_values(whole->model, &whole->nodes, &cutter->wanted, NULL);
    bitset_init(&cutter->touched, values);
}

static void unmark_edge_values(const struct model *model, struct edge_range range, struct bitset *ret)
{
    for (size_t i = 0; i < range.count; i++)
        if (model_edge(model, range, i) != VALUE_NONE)
            bitset_remove(ret, model_edge(model, range, i));
}

/* What the node makes and somebody wants, or all of it if nobody wants any; each once. */
static void add_cut_outputs(struct node_cutter *cutter, struct edge_range range)
{
    struct subgraph *part = &cutter->part;

    for (int all = 0; all < 2 && part->outputs.count == 0; all++)
        for (size_t i = 0; i < range.count; i++) {
            uint32_t value = model_edge(part->model, range, i);

            if (value == VALUE_NONE || bitset_has(&cutter->touched, value) ||
                (all == 0 && !bitset_has(&cutter->wanted, value)))
                continue;
            bitset_add(&cutter->touched, value);
            value_list_add(&part->outputs, value);
        }
}

const struct subgraph *node_cutter_cut(struct node_cutter *cutter, uint32_t node)
{
    struct subgraph *part = &cutter->part;
    const struct model *model = part->model;
    const struct node *n = &model->nodes.items[node];

    bitset_clear(&part->nodes);
    bitset_add(&part->nodes, node);
    part->inputs.count = 0;
    part->outputs.count = 0;
    add_cut_outputs(cutter, n->outputs);
    model_add_edges_to(model, n->outputs, &cutter->touched);
    add_cut_inputs(part, n->inputs, &cutter->touched);
    add_cut_inputs(part, n->captures, &cutter->touched);
    unmark_edge_values(model, n->outputs, &cutter->touched);
    unmark_edge_values(model, n->inputs, &cutter->touched);
    unmark_edge_values(model, n->captures, &cutter->touched);
    return part;
}

void node_cutter_release(struct node_cutter *cutter)
{
    subgraph_release(&cutter->part);
    bitset_release(&cutter->wanted);
    bitset_release(&cutter->touched);
}
