/* debug/reduce/node_dag.c: see node_dag.h. */
#include "debug/reduce/node_dag.h"

#include <stdlib.h>

#include "base/memory.h"
#include "debug/reduce/node_scopes.h"

struct edge_list {
    struct dag_edge *items;
    size_t count, capacity;
};

static void add_edges(const struct model *model, struct edge_range range, uint32_t node, struct edge_list *ret)
{
    for (size_t i = 0; i < range.count; i++) {
        uint32_t value = model_edge(model, range, i);
        uint32_t producer = value != VALUE_NONE ? model->values.items[value].producer : NODE_NONE;

        if (producer != NODE_NONE && producer < node)
            *VECTOR_APPEND(ret) = (struct dag_edge){producer, node};
    }
}

void node_dag_init(struct dag *dag, const struct model *model)
{
    struct edge_list edges = {0};

    for (uint32_t i = 0; i < model->nodes.count; i++) {
        add_edges(model, model->nodes.items[i].inputs, i, &edges);
        add_edges(model, model->nodes.items[i].captures, i, &edges);
    }
    dag_init(dag, model->nodes.count, edges.items, edges.count);
    free(edges.items);
    dag->shared_scopes = node_scopes_shared(model);
}
