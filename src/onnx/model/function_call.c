/* onnx/model/function_call.c: see function_call.h. */
#include "onnx/model/function_call.h"

#include <stdlib.h>

#include "base/memory.h"
#include "onnx/model/graph_view.h"
#include "onnx/proto/attribute.h"
#include "onnx/proto/fields.h"

/* ---- Finding the function ---- */

bool function_call_find(const struct model *model, uint32_t node, struct span *ret)
{
    const struct node *n = &model->nodes.items[node];

    size_t place = 0;

    while (model_next_function(model, &place, ret))
        if (text_equal(wire_find_text(*ret, FUNCTION_NAME), n->op_type) &&
            text_equal(wire_find_text(*ret, FUNCTION_DOMAIN), n->domain))
            return true;
    return false;
}

/* ---- Writing its body as a graph ---- */

struct function_call {
    const struct model *model;
    const struct node *node;
    struct span function;
    struct name_map omitted; /* inputs of the function that the caller omits */
};

static void note_omitted_names(struct function_call *call)
{
    struct wire_reader reader = wire_reader_of(call->function);
    struct span name;

    name_map_init(&call->omitted);
    for (uint32_t i = 0; wire_next_bytes(&reader, FUNCTION_INPUT, &name); i++)
        if (node_input(call->model, call->node, i) == VALUE_NONE)
            name_map_add(&call->omitted, span_text(name), i);
}

static bool name_is_omitted(const struct function_call *call, struct text name)
{
    return name_map_find(&call->omitted, name) != NAME_MAP_NONE;
}

/* Finds an attribute in the fields `number` of a message. */
static bool find_call_attribute(struct span message, uint32_t number, struct text name, struct attribute *ret)
{
    struct wire_reader reader = wire_reader_of(message);
    struct span attribute;

    while (wire_next_bytes(&reader, number, &attribute)) {
        attribute_read(attribute, ret);
        if (text_equal(ret->name, name))
            return true;
    }
    return false;
}

/* Resolves a reference to an attribute of the function: the caller's value, else the function's default, else it is
 * removed. */
static void add_call_attribute(const struct function_call *call, const struct wire_field *from,
                               struct string_builder *ret_node)
{
    struct attribute attribute, given;
    SCOPED_STRING(resolved);

    attribute_read(from->bytes, &attribute);
    if (attribute.reference.size == 0) {
        string_add_bytes(ret_node, (const char *)from->whole.data, from->whole.size);
        return;
    }
    if (!find_call_attribute(call->node->message, NODE_ATTRIBUTE, attribute.reference, &given) &&
        !find_call_attribute(call->function, FUNCTION_DEFAULT, attribute.reference, &given))
        return;
    wire_write_text(&resolved, ATTRIBUTE_NAME, attribute.name);
    wire_copy_without(&resolved, given.message, ATTRIBUTE_NAME);
    wire_write_bytes(ret_node, NODE_ATTRIBUTE, resolved.data, resolved.size);
}

static void add_call_node(const struct function_call *call, struct span message, struct string_builder *graph)
{
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;
    SCOPED_STRING(node);

    while (wire_next(&reader, &field))
        if (field.number == NODE_ATTRIBUTE && field.type == WIRE_BYTES)
            add_call_attribute(call, &field, &node);
        else if (field.number == NODE_INPUT && field.type == WIRE_BYTES &&
                 name_is_omitted(call, span_text(field.bytes)))
            wire_write_text(&node, NODE_INPUT, TEXT(""));
        else
            string_add_bytes(&node, (const char *)field.whole.data, field.whole.size);
    wire_write_bytes(graph, GRAPH_NODE, node.data, node.size);
}

static void add_function_graph(struct span function, struct string_builder *model)
{
    struct wire_reader reader = wire_reader_of(function);
    struct wire_field field;
    SCOPED_STRING(graph);

    wire_write_text(&graph, GRAPH_NAME, wire_find_text(function, FUNCTION_NAME));
    while (wire_next(&reader, &field))
        graph_add_function_field(&graph, &field);
    wire_write_bytes(model, MODEL_GRAPH, graph.data, graph.size);
}

static void add_call_graph(const struct function_call *call, struct string_builder *model)
{
    struct wire_reader reader = wire_reader_of(call->function);
    struct wire_field field;
    SCOPED_STRING(graph);

    wire_write_text(&graph, GRAPH_NAME, call->node->op_type);
    while (wire_next(&reader, &field)) {
        if (field.type != WIRE_BYTES)
            continue;
        if (field.number == FUNCTION_NODE)
            add_call_node(call, field.bytes, &graph);
        else if (field.number != FUNCTION_INPUT || !name_is_omitted(call, span_text(field.bytes)))
            graph_add_function_field(&graph, &field);
    }
    wire_write_bytes(model, MODEL_GRAPH, graph.data, graph.size);
}

static void add_other_node_fields(const struct span_list *fields, struct string_builder *model)
{
    for (size_t i = 0; i < fields->count; i++) {
        struct wire_reader reader = wire_reader_of(fields->items[i]);
        struct wire_field field;

        if (wire_next(&reader, &field) && field.number != MODEL_OPSET_IMPORT)
            string_add_bytes(model, (const char *)field.whole.data, field.whole.size);
    }
}

/* Everything but the graph: the function's operator sets, the model's other fields. */
static void add_function_header(const struct model *model, struct span function, struct string_builder *ret)
{
    struct wire_reader reader = wire_reader_of(function);
    struct span bytes;

    add_other_node_fields(&model->fields_before_graph, ret);
    add_other_node_fields(&model->fields_after_graph, ret);
    while (wire_next_bytes(&reader, FUNCTION_OPSET_IMPORT, &bytes))
        wire_write_bytes(ret, MODEL_OPSET_IMPORT, bytes.data, bytes.size);
}

static int parse_function_model(const struct model *model, struct span bytes, struct model **ret, struct error *err)
{
    int rc = model_parse(bytes, model->display_name, ret, err);

    if (rc < 0)
        return rc;
    free((*ret)->folder);
    (*ret)->folder = memory_strdup(model->folder);
    return 0;
}

/* ---- Types ---- */

static void describe_call_inputs(struct model *model, const struct node *caller, struct span function,
                                 struct model *body)
{
    struct graph_view view = graph_view_of(model);
    struct wire_reader reader = wire_reader_of(function);
    struct wire_field field;
    uint32_t i = 0;

    while (wire_next(&reader, &field)) {
        struct value_type type;
        uint32_t from, to;

        if (field.number != FUNCTION_INPUT || field.type != WIRE_BYTES)
            continue;
        from = node_input(model, caller, i);
        to = model_find_value(body, span_text(field.bytes));
        i++;
        if (from == VALUE_NONE || to == VALUE_NONE)
            continue;
        graph_view_describe(&view, from, &type);
        model_set_type(body, to, &type);
    }
}

int function_call_open(struct model *model, uint32_t node, struct model **ret, struct error *err)
{
    struct function_call call = {.model = model, .node = &model->nodes.items[node]};
    SCOPED_STRING(bytes);
    int rc;

    if (!function_call_find(model, node, &call.function))
        return error_set(err, ERR_INVALID, "node '%s' calls no function of the model", model_node_label(model, node));
    note_omitted_names(&call);
    add_function_header(model, call.function, &bytes);
    add_call_graph(&call, &bytes);
    name_map_release(&call.omitted);
    rc = parse_function_model(model, wire_keep(&model->arena, &bytes), ret, err);
    if (rc == 0)
        describe_call_inputs(model, call.node, call.function, *ret);
    return rc;
}

int function_open(const struct model *model, struct span function, struct string_builder *bytes, struct model **ret,
                  struct error *err)
{
    add_function_header(model, function, bytes);
    add_function_graph(function, bytes);
    return parse_function_model(model, (struct span){(const uint8_t *)bytes->data, bytes->size}, ret, err);
}
