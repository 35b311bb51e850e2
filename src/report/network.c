/* report/network.c: nodes, tensors and what is known of them. */
#include "report/network.h"

#include <stdlib.h>

#include "base/memory.h"
#include "onnx/model/graph_view.h"

struct report_network {
    bool present;
    struct json_writer members; /* of the main graph: begun object */
    struct {
        char **items;
        size_t count, capacity;
    } culprits; /* labels of nodes */
};

struct report_network *report_network_new(void)
{
    struct report_network *network = memory_alloc_zero(1, sizeof(*network));

    json_writer_init(&network->members);
    network->members.compact = true;
    return network;
}

void report_network_free(struct report_network *network)
{
    json_writer_release(&network->members);
    for (size_t i = 0; i < network->culprits.count; i++)
        free(network->culprits.items[i]);
    free(network->culprits.items);
    free(network);
}

static void add_text(struct json_writer *writer, const char *key, struct text text)
{
    char *copy = memory_copy(text.data, text.size);

    json_writer_key(writer, key);
    json_writer_string(writer, copy);
    free(copy);
}

/* Numbers of tensors; null where an optional one is left out. */
static void add_values(struct json_writer *writer, const char *key, const uint32_t *values, size_t count)
{
    json_writer_key(writer, key);
    json_writer_begin_array(writer);
    for (size_t i = 0; i < count; i++)
        if (values[i] == VALUE_NONE)
            json_writer_null(writer);
        else
            json_writer_integer(writer, values[i]);
    json_writer_end_array(writer);
}

static void add_tensor(struct json_writer *writer, const struct graph_view *view, uint32_t value)
{
    struct string_builder shape;
    struct value_type type;
    bool constant = graph_view_describe(view, value, &type);

    json_writer_begin_object(writer);
    add_text(writer, "name", view->graph->values.items[value].name);
    if (type.not_a_tensor != NULL)
        add_text(writer, "type", text_of(type.not_a_tensor));
    else if (type.element != DATA_UNDEFINED)
        add_text(writer, "type", text_of(data_type_name(type.element)));
    if (type.not_a_tensor == NULL && type.has_shape) {
        string_init(&shape);
        shape_to_text(&type.shape, &shape);
        add_text(writer, "shape", (struct text){shape.data, shape.size});
        string_release(&shape);
    }
    if (constant) {
        json_writer_key(writer, "constant");
        json_writer_boolean(writer, true);
    }
    json_writer_end_object(writer);
}

static void add_node(struct json_writer *writer, struct model *model, uint32_t number)
{
    const struct node *node = &model->nodes.items[number];
    const uint32_t *edges = model->edges.items;

    json_writer_begin_object(writer);
    add_text(writer, "name", text_of(model_node_label(model, number)));
    add_text(writer, "operator", node->op_type);
    if (node->domain.size > 0)
        add_text(writer, "domain", node->domain);
    add_values(writer, "inputs", edges + node->inputs.first, node->inputs.count);
    if (node->captures.count > 0)
        add_values(writer, "captures", edges + node->captures.first, node->captures.count);
    add_values(writer, "outputs", edges + node->outputs.first, node->outputs.count);
    json_writer_end_object(writer);
}

void report_network_set(struct report_network *network, struct model *model)
{
    struct json_writer *writer = &network->members;
    struct graph_view view = graph_view_of(model);

    json_writer_begin_object(writer);
    json_writer_key(writer, "tensors");
    json_writer_begin_array(writer);
    for (uint32_t i = 0; i < model->values.count; i++)
        add_tensor(writer, &view, i);
    json_writer_end_array(writer);
    add_values(writer, "inputs", model->inputs.items, model->inputs.count);
    add_values(writer, "outputs", model->outputs.items, model->outputs.count);
    json_writer_key(writer, "nodes");
    json_writer_begin_array(writer);
    for (uint32_t i = 0; i < model->nodes.count; i++)
        add_node(writer, model, i);
    json_writer_end_array(writer);
    network->present = true;
}

void report_network_add_culprit(struct report_network *network, const char *node)
{
    *VECTOR_APPEND(&network->culprits) = memory_strdup(node);
}

void report_network_write(struct report_network *network, struct json_writer *document)
{
    struct json_writer *writer = &network->members;

    if (!network->present)
        return;
    json_writer_key(writer, "culprits");
    json_writer_begin_array(writer);
    for (size_t i = 0; i < network->culprits.count; i++)
        json_writer_string(writer, network->culprits.items[i]);
    json_writer_end_array(writer);
    json_writer_end_object(writer);
    json_writer_key(document, "network");
    json_writer_fragment(document, writer);
}
