/* onnx/model/captures.c: see captures.h. */
#include "onnx/model/captures.h"

#include "base/memory.h"
#include "onnx/model/scope.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/wire.h"

struct capture_walk {
    struct model *model;
    struct name_map captured;
    struct edge_range *range;
};

bool captures_attribute_has_graph(struct span attribute)
{
    struct wire_reader reader = wire_reader_of(attribute);
    struct wire_field field;

    while (wire_next(&reader, &field))
        if ((field.number == ATTRIBUTE_GRAPH || field.number == ATTRIBUTE_GRAPHS) && field.type == WIRE_BYTES)
            return true;
    return false;
}

static void use(struct capture_walk *walk, const struct scope *scope, struct text name)
{
    if (name.size == 0)
        return;
    if (scope_defines(scope, name))
        return;
    if (name_map_find(&walk->captured, name) != NAME_MAP_NONE)
        return;
    name_map_add(&walk->captured, name, 1);
    *VECTOR_APPEND(&walk->model->edges) = model_add_value(walk->model, name);
    walk->range->count++;
}

static int walk_body(struct capture_walk *walk, struct span body, const struct scope *outer, struct error *err);

static int walk_attribute(struct capture_walk *walk, struct span attribute, const struct scope *scope,
                          struct error *err)
{
    struct wire_reader reader = wire_reader_of(attribute);
    struct wire_field field;
    int rc = 0;

    while (rc == 0 && wire_next(&reader, &field))
        if ((field.number == ATTRIBUTE_GRAPH || field.number == ATTRIBUTE_GRAPHS) && field.type == WIRE_BYTES)
            rc = walk_body(walk, field.bytes, scope, err);
    if (rc == 0 && reader.damaged)
        return wire_damage(&reader, walk->model->file, "an attribute of a node with subgraphs", err);
    return rc;
}

/* `scope` is the body that holds the node; NULL for a node of the main graph, whose own inputs are listed anyway. */
static int walk_node(struct capture_walk *walk, struct span node, const struct scope *scope, struct error *err)
{
    struct wire_reader reader = wire_reader_of(node);
    struct wire_field field;
    int rc = 0;

    while (rc == 0 && wire_next(&reader, &field)) {
        if (field.type != WIRE_BYTES)
            continue;
        if (field.number == NODE_ATTRIBUTE)
            rc = walk_attribute(walk, field.bytes, scope, err);
        else if (field.number == NODE_INPUT && scope != NULL)
            use(walk, scope, span_text(field.bytes));
    }
    if (rc == 0 && reader.damaged)
        return wire_damage(&reader, walk->model->file, "a node with subgraphs", err);
    return rc;
}

/* A body's output may be an outer tensor: it needs no node. */
static void use_output(struct capture_walk *walk, const struct scope *scope, struct span value_info)
{
    struct wire_reader reader = wire_reader_of(value_info);
    struct wire_field field;

    while (wire_next(&reader, &field))
        if (field.number == VALUE_INFO_NAME && field.type == WIRE_BYTES)
            use(walk, scope, span_text(field.bytes));
}

static int walk_body(struct capture_walk *walk, struct span body, const struct scope *outer, struct error *err)
{
    struct scope scope;
    struct wire_reader reader = wire_reader_of(body);
    struct wire_field field;
    int rc = scope_enter(&scope, body, outer, err);

    if (rc < 0)
        return rc;
    while (rc == 0 && wire_next(&reader, &field)) {
        if (field.type != WIRE_BYTES)
            continue;
        if (field.number == GRAPH_NODE)
            rc = walk_node(walk, field.bytes, &scope, err);
        else if (field.number == GRAPH_OUTPUT)
            use_output(walk, &scope, field.bytes);
    }
    if (rc == 0 && reader.damaged)
        rc = wire_damage(&reader, walk->model->file, "a subgraph", err);
    scope_leave(&scope);
    return rc;
}

int captures_collect(struct model *model, struct span node, struct edge_range *ret, struct error *err)
{
    struct capture_walk walk = {.model = model, .range = ret};
    int rc;

    *ret = (struct edge_range){(uint32_t)model->edges.count, 0};
    name_map_init(&walk.captured);
    rc = walk_node(&walk, node, NULL, err);
    name_map_release(&walk.captured);
    return rc;
}
