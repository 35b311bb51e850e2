/* onnx/edit/node.c: see node.h. */
#include "onnx/edit/node.h"

#include <stdlib.h>

#include "base/memory.h"
#include "onnx/model/captures.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/proto/wire.h"

/* ---- New nodes ---- */

/* Floats in a message are little-endian, like memory on all supported platforms. */
static void write_float_field(struct string_builder *out, uint32_t number, float value)
{
    wire_write_tag(out, number, WIRE_FIXED32);
    string_add_bytes(out, &value, sizeof(value));
}

static void write_tensor_attribute(struct string_builder *out, const struct tensor *tensor)
{
    SCOPED_STRING(message);

    tensor_proto_write(&message, TEXT(""), tensor);
    wire_write_bytes(out, ATTRIBUTE_TENSOR, message.data, message.size);
}

static void write_attribute_value(struct string_builder *out, const struct node_attribute *attribute)
{
    switch (attribute->kind) {
    case ATTRIBUTE_KIND_FLOAT:
        write_float_field(out, ATTRIBUTE_FLOAT, attribute->number);
        break;
    case ATTRIBUTE_KIND_INTEGER:
        wire_write_integer(out, ATTRIBUTE_INTEGER, attribute->integer);
        break;
    case ATTRIBUTE_KIND_STRING:
        wire_write_text(out, ATTRIBUTE_STRING, attribute->string);
        break;
    case ATTRIBUTE_KIND_TENSOR:
        write_tensor_attribute(out, attribute->tensor);
        break;
    case ATTRIBUTE_KIND_FLOATS:
        for (size_t i = 0; i < attribute->count; i++)
            write_float_field(out, ATTRIBUTE_FLOATS, attribute->numbers[i]);
        break;
    case ATTRIBUTE_KIND_INTEGERS:
        for (size_t i = 0; i < attribute->count; i++)
            wire_write_integer(out, ATTRIBUTE_INTEGERS, attribute->integers[i]);
        break;
    case ATTRIBUTE_KIND_STRINGS:
        for (size_t i = 0; i < attribute->count; i++)
            wire_write_text(out, ATTRIBUTE_STRINGS, attribute->strings[i]);
        break;
    }
}

static void write_node_attribute(struct string_builder *out, const struct node_attribute *attribute)
{
    SCOPED_STRING(message);

    wire_write_text(&message, ATTRIBUTE_NAME, attribute->name);
    write_attribute_value(&message, attribute);
    wire_write_integer(&message, ATTRIBUTE_KIND, attribute->kind);
    wire_write_bytes(out, NODE_ATTRIBUTE, message.data, message.size);
}

struct span node_build(struct arena *arena, const struct node_recipe *recipe)
{
    SCOPED_STRING(message);

    for (size_t i = 0; i < recipe->input_count; i++)
        wire_write_text(&message, NODE_INPUT, recipe->inputs[i]);
    for (size_t i = 0; i < recipe->output_count; i++)
        wire_write_text(&message, NODE_OUTPUT, recipe->outputs[i]);
    if (recipe->name.size > 0)
        wire_write_text(&message, NODE_NAME, recipe->name);
    wire_write_text(&message, NODE_OP_TYPE, recipe->op_type);
    for (size_t i = 0; i < recipe->attribute_count; i++)
        write_node_attribute(&message, &recipe->attributes[i]);
    if (recipe->domain.size > 0)
        wire_write_text(&message, NODE_DOMAIN, recipe->domain);
    return wire_make_field(arena, GRAPH_NODE, &message);
}

struct span cast_node_build(struct arena *arena, struct unused_names *names, struct text from, struct text to,
                            enum data_type type)
{
    struct node_attribute attribute = {.name = TEXT("to"), .kind = ATTRIBUTE_KIND_INTEGER, .integer = type};
    struct node_recipe cast = {.op_type = TEXT("Cast"),
                               .name = unused_names_make(names, to, "_cast"),
                               .inputs = &from,
                               .input_count = 1,
                               .outputs = &to,
                               .output_count = 1,
                               .attributes = &attribute,
                               .attribute_count = 1};

    return node_build(arena, &cast);
}

/* ---- Renaming ---- */

void rename_map_init(struct rename_map *map)
{
    *map = (struct rename_map){0};
    name_map_init(&map->index);
}

void rename_map_release(struct rename_map *map)
{
    name_map_release(&map->index);
    free(map->names.items);
}

void rename_map_add(struct rename_map *map, struct text from, struct text to)
{
    name_map_set(&map->index, from, (uint32_t)map->names.count);
    *VECTOR_APPEND(&map->names) = to;
}

struct text rename_map_get(const struct rename_map *map, struct text name)
{
    uint32_t found = name_map_find(&map->index, name);

    return found != NAME_MAP_NONE ? map->names.items[found] : name;
}

/* State of copying one node. */
struct node_renaming {
    const struct rename_map *inputs, *outputs; /* may be NULL */
    bool changed;
};

/* Translates `name`, used inside `scope` (NULL: the main graph), by `map`. */
static int translate_name(struct node_renaming *renaming, const struct rename_map *map, const struct scope *scope,
                          struct text name, struct text *ret, struct error *err)
{
    uint32_t found = map != NULL && name.size > 0 ? name_map_find(&map->index, name) : NAME_MAP_NONE;

    *ret = name;
    if (found == NAME_MAP_NONE || scope_defines(scope, name))
        return 0;
    *ret = map->names.items[found];
    renaming->changed = true;
    if (scope_defines(scope, *ret))
        return error_set(err, ERR_INVALID,
                         "cannot rename '" TEXT_FORMAT "' to '" TEXT_FORMAT
                         "': a subgraph that uses it defines that name already",
                         TEXT_ARGS(name), TEXT_ARGS(*ret));
    return 0;
}

static int rename_field(struct node_renaming *renaming, const struct rename_map *map, const struct scope *scope,
                        const struct wire_field *field, struct string_builder *out, struct error *err)
{
    struct text name;
    int rc = translate_name(renaming, map, scope, span_text(field->bytes), &name, err);

    wire_write_text(out, field->number, name);
    return rc;
}

static void copy_body_field(struct string_builder *out, const struct wire_field *field)
{
    string_add_bytes(out, field->whole.data, field->whole.size);
}

static int rename_body(struct node_renaming *renaming, struct span body, const struct scope *outer,
                       struct string_builder *out, struct error *err);

/* Below, rename_...() copies a message, and add_...() appends it to the enclosing one. */
typedef int rename_message(struct node_renaming *renaming, struct span message, const struct scope *scope,
                           struct string_builder *out, struct error *err);

static int add_renamed_field(struct node_renaming *renaming, rename_message *rename, const struct wire_field *field,
                             const struct scope *scope, struct string_builder *out, struct error *err)
{
    SCOPED_STRING(message);
    int rc = rename(renaming, field->bytes, scope, &message, err);

    wire_write_bytes(out, field->number, message.data, message.size);
    return rc;
}

static int rename_attribute(struct node_renaming *renaming, struct span attribute, const struct scope *scope,
                            struct string_builder *out, struct error *err)
{
    struct wire_reader reader = wire_reader_of(attribute);
    struct wire_field field;
    int rc = 0;

    while (rc == 0 && wire_next(&reader, &field))
        if ((field.number == ATTRIBUTE_GRAPH || field.number == ATTRIBUTE_GRAPHS) && field.type == WIRE_BYTES)
            rc = add_renamed_field(renaming, rename_body, &field, scope, out, err);
        else
            copy_body_field(out, &field);
    return rc;
}

/* `scope` is the body that contains the node; NULL for the node of the main graph, the only one whose outputs are
 * renamed. */
static int rename_body_node(struct node_renaming *renaming, struct span node, const struct scope *scope,
                            struct string_builder *out, struct error *err)
{
    struct wire_reader reader = wire_reader_of(node);
    struct wire_field field;
    int rc = 0;

    while (rc == 0 && wire_next(&reader, &field))
        if (field.number == NODE_INPUT && field.type == WIRE_BYTES)
            rc = rename_field(renaming, renaming->inputs, scope, &field, out, err);
        else if (field.number == NODE_OUTPUT && field.type == WIRE_BYTES && scope == NULL)
            rc = rename_field(renaming, renaming->outputs, NULL, &field, out, err);
        else if (field.number == NODE_ATTRIBUTE && field.type == WIRE_BYTES &&
                 captures_attribute_has_graph(field.bytes))
            rc = add_renamed_field(renaming, rename_attribute, &field, scope, out, err);
        else
            copy_body_field(out, &field);
    return rc;
}

/* A body's output may be a captured tensor itself. */
static int rename_body_output(struct node_renaming *renaming, struct span value_info, const struct scope *scope,
                              struct string_builder *out, struct error *err)
{
    struct wire_reader reader = wire_reader_of(value_info);
    struct wire_field field;
    int rc = 0;

    while (rc == 0 && wire_next(&reader, &field))
        if (field.number == VALUE_INFO_NAME && field.type == WIRE_BYTES)
            rc = rename_field(renaming, renaming->inputs, scope, &field, out, err);
        else
            copy_body_field(out, &field);
    return rc;
}

static int rename_body(struct node_renaming *renaming, struct span body, const struct scope *outer,
                       struct string_builder *out, struct error *err)
{
    struct scope scope;
    struct wire_reader reader = wire_reader_of(body);
    struct wire_field field;
    int rc = scope_enter(&scope, body, outer, err);

    if (rc < 0)
        return rc;
    while (rc == 0 && wire_next(&reader, &field))
        if (field.number == GRAPH_NODE && field.type == WIRE_BYTES)
            rc = add_renamed_field(renaming, rename_body_node, &field, &scope, out, err);
        else if (field.number == GRAPH_OUTPUT && field.type == WIRE_BYTES)
            rc = add_renamed_field(renaming, rename_body_output, &field, &scope, out, err);
        else
            copy_body_field(out, &field);
    scope_leave(&scope);
    return rc;
}

int node_rename(struct arena *arena, struct span whole, const struct rename_map *inputs,
                const struct rename_map *outputs, struct span *ret, struct error *err)
{
    struct node_renaming renaming = {.inputs = inputs, .outputs = outputs};
    SCOPED_STRING(message);
    int rc = rename_body_node(&renaming, wire_content(whole), NULL, &message, err);

    if (rc == 0)
        *ret = renaming.changed ? wire_make_field(arena, GRAPH_NODE, &message) : whole;
    return rc;
}

struct span node_set_name(struct arena *arena, struct span whole, struct text name)
{
    SCOPED_STRING(message);

    wire_copy_without(&message, wire_content(whole), NODE_NAME);
    wire_write_text(&message, NODE_NAME, name);
    return wire_make_field(arena, GRAPH_NODE, &message);
}

/* ---- Editing bodies ---- */

int node_refuse_damage(const char *what, struct error *err)
{
    return error_set(err, ERR_CORRUPT, "%s inside a node or function is damaged", what);
}

static int edit_attribute_bodies(struct span attribute, body_editor *edit, void *data, struct string_builder *out,
                                 struct error *err)
{
    struct wire_reader reader = wire_reader_of(attribute);
    struct wire_field field;
    struct span body;

    while (wire_next(&reader, &field)) {
        if ((field.number != ATTRIBUTE_GRAPH && field.number != ATTRIBUTE_GRAPHS) || field.type != WIRE_BYTES) {
            copy_body_field(out, &field);
            continue;
        }
        int rc = edit(data, field.bytes, &body, err);

        if (rc < 0)
            return rc;
        wire_write_bytes(out, field.number, body.data, body.size);
    }
    return reader.damaged ? node_refuse_damage("an attribute", err) : 0;
}

int node_edit_bodies(struct arena *arena, struct span node, body_editor *edit, void *data, struct span *ret,
                     struct error *err)
{
    struct wire_reader reader = wire_reader_of(node);
    SCOPED_STRING(attribute);
    SCOPED_STRING(message);
    struct wire_field field;

    while (wire_next(&reader, &field)) {
        if (field.number != NODE_ATTRIBUTE || field.type != WIRE_BYTES || !captures_attribute_has_graph(field.bytes)) {
            copy_body_field(&message, &field);
            continue;
        }
        string_clear(&attribute);
        int rc = edit_attribute_bodies(field.bytes, edit, data, &attribute, err);

        if (rc < 0)
            return rc;
        wire_write_bytes(&message, NODE_ATTRIBUTE, attribute.data, attribute.size);
    }
    if (reader.damaged)
        return node_refuse_damage("a node", err);
    *ret = wire_make_field(arena, GRAPH_NODE, &message);
    return 0;
}
