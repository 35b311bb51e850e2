/* report/model.c: see model.h. */
#include "report/model.h"

#include "format/json/tensor.h"
#include "onnx/external/tensor.h"
#include "onnx/model/graph_view.h"
#include "onnx/model/subgraph.h"
#include "onnx/proto/attribute.h"
#include "onnx/proto/fields.h"
#include "tensor/statistics/statistics.h"

struct description {
    struct json_writer *json;
    const struct report_model_settings *settings;
};

static int write_graph(struct description *to, const struct graph_view *view, struct error *err);

/* ---- Tensors ---- */

static void write_values(struct description *to, const struct graph_view *view, const char *key,
                         const struct value_list *values)
{
    json_writer_begin_array_member(to->json, key);
    for (size_t i = 0; i < values->count; i++) {
        struct value_type type;

        graph_view_describe(view, values->items[i], &type);
        json_writer_begin_object(to->json);
        json_writer_add_text(to->json, "name", view->graph->values.items[values->items[i]].name);
        tensor_json_value_type(to->json, &type);
        json_writer_end_object(to->json);
    }
    json_writer_end_array(to->json);
}

/* Nothing for an empty tensor, and for types without arithmetic. */
static void write_statistics(struct description *to, const struct tensor *tensor)
{
    struct statistics statistics;

    if (tensor_elements(tensor) == 0 || statistics_compute(tensor, &statistics, NULL) < 0)
        return;
    json_writer_begin_object_member(to->json, "statistics");
    json_writer_add_number(to->json, "minimum", statistics.minimum);
    json_writer_add_number(to->json, "maximum", statistics.maximum);
    json_writer_add_number(to->json, "mean", statistics.mean);
    json_writer_add_number(to->json, "deviation", statistics.standard_deviation);
    json_writer_end_object(to->json);
}

/* Writes type, shape and, if requested, values or statistics of a TensorProto or SparseTensorProto. */
static int write_constant(struct description *to, const struct graph_view *view, const struct initializer *constant,
                          struct error *err)
{
    struct value_type type;
    struct tensor tensor;
    struct text file;
    int rc;

    graph_view_initializer_type(constant, &type);
    tensor_json_value_type(to->json, &type);
    if ((!to->settings->values && !to->settings->statistics) || constant->sparse ||
        (to->settings->ignore_external_data && external_tensor_location(constant->message, &file)))
        return 0;
    rc = external_tensor_read_constant(view->graph, constant, &tensor, err);
    if (rc < 0)
        return rc;
    if (to->settings->values)
        tensor_json_values(to->json, &tensor);
    if (to->settings->statistics)
        write_statistics(to, &tensor);
    tensor_release(&tensor);
    return 0;
}

static int write_initializers(struct description *to, const struct graph_view *view, struct error *err)
{
    const struct model *model = view->graph;
    int rc = 0;

    json_writer_begin_array_member(to->json, "initializers");
    for (size_t i = 0; i < model->initializers.count && rc == 0; i++) {
        const struct initializer *initializer = &model->initializers.items[i];

        json_writer_begin_object(to->json);
        json_writer_add_text(to->json, "name", model->values.items[initializer->value].name);
        rc = write_constant(to, view, initializer, err);
        json_writer_end_object(to->json);
    }
    json_writer_end_array(to->json);
    return rc;
}

/* ---- Attributes ---- */

static void write_number_list(struct description *to, const struct attribute *attribute)
{
    struct attribute_walk walk = attribute_walk(attribute);
    int64_t integer;
    float number;
    struct span bytes;

    json_writer_begin_array(to->json);
    while (attribute->type == ATTRIBUTE_MANY_FLOATS && attribute_next_float(&walk, &number))
        json_writer_number(to->json, (double)number);
    while (attribute->type == ATTRIBUTE_MANY_INTEGERS && attribute_next_integer(&walk, &integer))
        json_writer_integer(to->json, integer);
    while (attribute->type == ATTRIBUTE_MANY_STRINGS && attribute_next_bytes(&walk, &bytes))
        json_writer_text(to->json, span_text(bytes));
    json_writer_end_array(to->json);
}

static int write_body(struct description *to, const struct graph_view *view, struct span body, struct error *err)
{
    struct graph_view inner;
    int rc = graph_view_open_body(view, body, &inner, err);

    if (rc < 0)
        return rc;
    json_writer_begin_object(to->json);
    rc = write_graph(to, &inner, err);
    json_writer_end_object(to->json);
    graph_view_close(&inner);
    return rc;
}

static int write_bodies(struct description *to, const struct graph_view *view, const struct attribute *attribute,
                        struct error *err)
{
    struct attribute_walk walk = attribute_walk(attribute);
    struct span body;
    int rc = 0;

    json_writer_begin_array(to->json);
    while (rc == 0 && attribute_next_bytes(&walk, &body))
        rc = write_body(to, view, body, err);
    json_writer_end_array(to->json);
    return rc;
}

static int write_attribute_value(struct description *to, const struct graph_view *view,
                                 const struct attribute *attribute, struct error *err)
{
    const struct initializer constant = {.message = attribute->bytes};
    int rc = 0;

    switch (attribute->type) {
    case ATTRIBUTE_ONE_FLOAT:
        json_writer_number(to->json, (double)attribute->number);
        break;
    case ATTRIBUTE_ONE_INTEGER:
        json_writer_integer(to->json, attribute->integer);
        break;
    case ATTRIBUTE_ONE_STRING:
        json_writer_text(to->json, span_text(attribute->bytes));
        break;
    case ATTRIBUTE_ONE_TENSOR:
        json_writer_begin_object(to->json);
        rc = write_constant(to, view, &constant, err);
        json_writer_end_object(to->json);
        break;
    case ATTRIBUTE_ONE_GRAPH:
        return write_body(to, view, attribute->bytes, err);
    case ATTRIBUTE_MANY_GRAPHS:
        return write_bodies(to, view, attribute, err);
    case ATTRIBUTE_MANY_FLOATS:
    case ATTRIBUTE_MANY_INTEGERS:
    case ATTRIBUTE_MANY_STRINGS:
        write_number_list(to, attribute);
        break;
    case ATTRIBUTE_UNDEFINED:
    case ATTRIBUTE_MANY_TENSORS:
    case ATTRIBUTE_ONE_SPARSE_TENSOR:
    case ATTRIBUTE_MANY_SPARSE_TENSORS:
    case ATTRIBUTE_ONE_TYPE:
    case ATTRIBUTE_MANY_TYPES:
        json_writer_null(to->json);
        break;
    }
    return rc;
}

static int write_attribute(struct description *to, const struct graph_view *view, struct span message,
                           struct error *err)
{
    struct attribute attribute;

    attribute_read(message, &attribute);
    json_writer_key_text(to->json, attribute.name);
    if (attribute.reference.size == 0)
        return write_attribute_value(to, view, &attribute, err);
    json_writer_begin_object(to->json);
    json_writer_add_text(to->json, "reference", attribute.reference);
    json_writer_end_object(to->json);
    return 0;
}

/* ---- Nodes and graphs ---- */

/* Names; null for omitted ones. */
static void write_edges(struct description *to, const struct model *model, const char *key, struct edge_range edges)
{
    json_writer_begin_array_member(to->json, key);
    for (size_t i = 0; i < edges.count; i++) {
        uint32_t value = model_edge(model, edges, i);

        if (value == VALUE_NONE)
            json_writer_null(to->json);
        else
            json_writer_text(to->json, model->values.items[value].name);
    }
    json_writer_end_array(to->json);
}

static int write_node(struct description *to, const struct graph_view *view, const struct node *node, struct error *err)
{
    struct wire_reader reader = wire_reader_of(node->message);
    struct wire_field field;
    int rc = 0;

    json_writer_begin_object(to->json);
    json_writer_add_text(to->json, "name", node->name);
    json_writer_add_text(to->json, "op", node->op_type);
    json_writer_add_text(to->json, "domain", node->domain);
    write_edges(to, view->graph, "inputs", node->inputs);
    write_edges(to, view->graph, "outputs", node->outputs);
    json_writer_begin_object_member(to->json, "attributes");
    while (rc == 0 && wire_next(&reader, &field))
        if (field.number == NODE_ATTRIBUTE && field.type == WIRE_BYTES)
            rc = write_attribute(to, view, field.bytes, err);
    json_writer_end_object(to->json);
    json_writer_end_object(to->json);
    return rc;
}

/* The tensors of nodes whose types are known. */
static void write_inner_types(struct description *to, const struct graph_view *view)
{
    struct value_list known SCOPED_ITEMS = {0};

    for (uint32_t i = 0; i < view->graph->values.count; i++)
        if (view->graph->values.items[i].producer != NODE_NONE && view->graph->values.items[i].info.size > 0)
            value_list_add(&known, i);
    write_values(to, view, "tensors", &known);
}

/* Writes the members of a graph into the current object. */
static int write_graph(struct description *to, const struct graph_view *view, struct error *err)
{
    const struct model *model = view->graph;
    int rc;

    json_writer_add_text(to->json, "name", model->graph_name);
    write_values(to, view, "inputs", &model->inputs);
    write_values(to, view, "outputs", &model->outputs);
    rc = write_initializers(to, view, err);
    if (to->settings->types)
        write_inner_types(to, view);
    json_writer_begin_array_member(to->json, "nodes");
    for (size_t i = 0; i < model->nodes.count && rc == 0; i++)
        rc = write_node(to, view, &model->nodes.items[i], err);
    json_writer_end_array(to->json);
    return rc;
}

static int write_functions_among(struct description *to, const struct graph_view *main, const struct span_list *fields,
                                 struct error *err)
{
    int rc = 0;

    for (size_t i = 0; i < fields->count && rc == 0; i++) {
        struct wire_reader reader = wire_reader_of(fields->items[i]);
        struct wire_field field;
        struct function_view function;

        if (!wire_next(&reader, &field) || field.number != MODEL_FUNCTIONS || field.type != WIRE_BYTES)
            continue;
        rc = graph_view_open_function(main, field.bytes, &function, err);
        if (rc < 0)
            break;
        function.view.graph->graph_name = function.name;
        json_writer_begin_object(to->json);
        json_writer_add_text(to->json, "domain", function.domain);
        rc = write_graph(to, &function.view, err);
        json_writer_end_object(to->json);
        graph_view_close(&function.view);
    }
    return rc;
}

int report_model_write(struct model *model, const struct report_model_settings *settings, struct json_writer *json,
                       struct error *err)
{
    struct description to = {.json = json, .settings = settings};
    struct graph_view view = graph_view_of(model);
    int rc;

    json_writer_begin_object(json);
    if (settings->path != NULL)
        json_writer_add_string(json, "path", settings->path);
    json_writer_add_integer(json, "ir_version", model->ir_version);
    json_writer_begin_object_member(json, "opsets");
    for (size_t i = 0; i < model->opsets.count; i++) {
        json_writer_key_text(json, model->opsets.items[i].domain);
        json_writer_integer(json, model->opsets.items[i].version);
    }
    json_writer_end_object(json);
    rc = write_graph(&to, &view, err);
    json_writer_begin_array_member(json, "functions");
    if (rc == 0)
        rc = write_functions_among(&to, &view, &model->fields_before_graph, err);
    if (rc == 0)
        rc = write_functions_among(&to, &view, &model->fields_after_graph, err);
    json_writer_end_array(json);
    if (settings->unbounded != NULL) {
        json_writer_begin_array_member(json, "unbounded_dds");
        for (size_t i = 0; i < settings->unbounded->count; i++)
            json_writer_text(json, model->values.items[settings->unbounded->items[i]].name);
        json_writer_end_array(json);
    }
    json_writer_end_object(json);
    return rc;
}
