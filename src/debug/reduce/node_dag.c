/* debug/reduce/node_dag.c: see node_dag.h. */
#include "debug/reduce/node_dag.h"

#include <stdlib.h>

#include "base/memory.h"

/* ---- Scopes ---- */

static bool is_separator(char c)
{
    return c == '/' || c == '.';
}

/* Length of the prefix of `text` that consists of separators, or of other characters. */
static size_t length_of(struct text text, bool separators)
{
    size_t ret = 0;

    while (ret < text.size && is_separator(text.data[ret]) == separators)
        ret++;
    return ret;
}

static struct text scopes_without(struct text text, size_t size)
{
    return (struct text){text.data + size, text.size - size};
}

/* Removes the first scope from a name and returns it. Empty if none is left: the last part of a name is that of the
 * node. */
static struct text take_scope(struct text *name)
{
    struct text begin = scopes_without(*name, length_of(*name, true));
    struct text ret = {begin.data, length_of(begin, false)};
    struct text rest = scopes_without(begin, ret.size);

    rest = scopes_without(rest, length_of(rest, true));
    *name = rest;
    return rest.size > 0 ? ret : (struct text){ret.data, 0};
}

static uint32_t count_shared(struct text a, struct text b)
{
    uint32_t ret = 0;

    for (;;) {
        struct text scope = take_scope(&a), other = take_scope(&b);

        if (scope.size == 0 || !text_equal(scope, other))
            return ret;
        ret++;
    }
}

uint32_t *node_dag_shared_scopes(const struct model *model)
{
    uint32_t *ret = memory_alloc_zero(model->nodes.count, sizeof(*ret));
    struct text before = {"", 0};
    bool has_scopes = false;

    for (size_t i = 0; i < model->nodes.count; i++) {
        struct text name = model->nodes.items[i].name, first;

        if (name.size == 0)
            name = before;
        ret[i] = count_shared(before, name);
        before = name;
        first = name;
        has_scopes |= take_scope(&first).size > 0;
    }
    if (has_scopes)
        return ret;
    free(ret);
    return NULL;
}

/* ---- The graph ---- */

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
    struct edge_list edges SCOPED_ITEMS = {0};

    for (uint32_t i = 0; i < model->nodes.count; i++) {
        add_edges(model, model->nodes.items[i].inputs, i, &edges);
        add_edges(model, model->nodes.items[i].captures, i, &edges);
    }
    dag_init(dag, model->nodes.count, edges.items, edges.count);
    dag->shared_scopes = node_dag_shared_scopes(model);
}
