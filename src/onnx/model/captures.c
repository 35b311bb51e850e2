/* onnx/model/captures.c: see captures.h. */
#include "onnx/model/captures.h"

#include "onnx/proto/fields.h"
#include "onnx/proto/wire.h"

/* Defines the names in the fields `number` of a message: of a node's outputs, a ValueInfoProto, a TensorProto. */
static void define_scope_names(struct scope *scope, struct span message, uint32_t number)
{
    struct wire_reader reader = wire_reader_of(message);
    struct span name;

    while (wire_next_bytes(&reader, number, &name))
        name_map_add(&scope->defined, span_text(name), 1);
}

static void define_sparse_name(struct scope *scope, struct span message)
{
    struct wire_reader reader = wire_reader_of(message);
    struct span values;

    while (wire_next_bytes(&reader, SPARSE_TENSOR_VALUES, &values))
        define_scope_names(scope, values, TENSOR_NAME);
}

int scope_enter(struct scope *scope, struct span body, const struct scope *outer, struct error *err)
{
    struct wire_reader reader = wire_reader_of(body);
    struct wire_field field;

    scope->outer = outer;
    scope->depth = outer != NULL ? outer->depth + 1 : 1;
    if (scope->depth > BODY_MAX_DEPTH)
        return error_set(err, ERR_CORRUPT, "subgraphs are nested more than %d deep", BODY_MAX_DEPTH);
    name_map_init(&scope->defined);
    while (wire_next(&reader, &field)) {
        if (field.type != WIRE_BYTES)
            continue;
        if (field.number == GRAPH_NODE)
            define_scope_names(scope, field.bytes, NODE_OUTPUT);
        else if (field.number == GRAPH_INPUT)
            define_scope_names(scope, field.bytes, VALUE_INFO_NAME);
        else if (field.number == GRAPH_INITIALIZER)
            define_scope_names(scope, field.bytes, TENSOR_NAME);
        else if (field.number == GRAPH_SPARSE_INITIALIZER)
            define_sparse_name(scope, field.bytes);
    }
    return 0;
}

void scope_leave(struct scope *scope)
{
    name_map_release(&scope->defined);
}

bool scope_defines(const struct scope *scope, struct text name)
{
    for (; scope != NULL; scope = scope->outer)
        if (name_map_find(&scope->defined, name) != NAME_MAP_NONE)
            return true;
    return false;
}

/* ---- Captures ---- */

struct capture_walk {
    struct span file;
    struct name_map captured;
    void (*use)(void *data, struct text name);
    void *data;
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

static void use_captured_name(struct capture_walk *walk, const struct scope *scope, struct text name)
{
    if (name.size == 0 || scope_defines(scope, name) || name_map_find(&walk->captured, name) != NAME_MAP_NONE)
        return;
    name_map_add(&walk->captured, name, 1);
    walk->use(walk->data, name);
}

static int walk_body_captures(struct capture_walk *walk, struct span body, const struct scope *outer,
                              struct error *err);

static int walk_attribute_graphs(struct capture_walk *walk, struct span attribute, const struct scope *scope,
                                 struct error *err)
{
    struct wire_reader reader = wire_reader_of(attribute);
    struct wire_field field;
    int rc = 0;

    while (rc == 0 && wire_next(&reader, &field))
        if ((field.number == ATTRIBUTE_GRAPH || field.number == ATTRIBUTE_GRAPHS) && field.type == WIRE_BYTES)
            rc = walk_body_captures(walk, field.bytes, scope, err);
    if (rc == 0 && reader.damaged)
        return wire_damage(&reader, walk->file, "an attribute of a node with subgraphs", err);
    return rc;
}

/* `scope` is the body that contains the node; NULL for a node of the main graph, whose inputs are not captures. */
static int walk_node_captures(struct capture_walk *walk, struct span node, const struct scope *scope, struct error *err)
{
    struct wire_reader reader = wire_reader_of(node);
    struct wire_field field;
    int rc = 0;

    while (rc == 0 && wire_next(&reader, &field)) {
        if (field.type != WIRE_BYTES)
            continue;
        if (field.number == NODE_ATTRIBUTE)
            rc = walk_attribute_graphs(walk, field.bytes, scope, err);
        else if (field.number == NODE_INPUT && scope != NULL)
            use_captured_name(walk, scope, span_text(field.bytes));
    }
    if (rc == 0 && reader.damaged)
        return wire_damage(&reader, walk->file, "a node with subgraphs", err);
    return rc;
}

/* A body's output may be a captured tensor, without a node. */
static void use_graph_output(struct capture_walk *walk, const struct scope *scope, struct span value_info)
{
    struct wire_reader reader = wire_reader_of(value_info);
    struct span name;

    while (wire_next_bytes(&reader, VALUE_INFO_NAME, &name))
        use_captured_name(walk, scope, span_text(name));
}

static int walk_body_captures(struct capture_walk *walk, struct span body, const struct scope *outer, struct error *err)
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
            rc = walk_node_captures(walk, field.bytes, &scope, err);
        else if (field.number == GRAPH_OUTPUT)
            use_graph_output(walk, &scope, field.bytes);
    }
    if (rc == 0 && reader.damaged)
        rc = wire_damage(&reader, walk->file, "a subgraph", err);
    scope_leave(&scope);
    return rc;
}

int captures_visit(struct span node, struct span file, void (*use)(void *data, struct text name), void *data,
                   struct error *err)
{
    struct capture_walk walk = {.file = file, .use = use, .data = data};
    int rc;

    name_map_init(&walk.captured);
    rc = walk_node_captures(&walk, node, NULL, err);
    name_map_release(&walk.captured);
    return rc;
}
