/* cli/inspect/model_text.c: see model_text.h. */
#include "cli/inspect/model_text.h"

#include <string.h>

#include "base/text/number.h"
#include "onnx/external/tensor.h"
#include "onnx/model/graph_view.h"
#include "onnx/model/text.h"
#include "onnx/proto/attribute.h"
#include "onnx/proto/fields.h"
#include "tensor/values/text.h"

struct renderer {
    const struct graph_text_settings *settings;
    struct string_builder *out;
    unsigned indent; /* blanks at the beginning of each line */
};

static int add_graph(struct renderer *renderer, const struct graph_view *view, const char *kind, struct error *err);

/* ---- Lines ---- */

/* Every line is indented, also empty ones. */
static void new_line(struct renderer *renderer, unsigned more)
{
    unsigned blanks = renderer->indent + more;
    char *at = string_reserve(renderer->out, blanks + 1);

    at[0] = '\n';
    memset(at + 1, ' ', blanks);
    renderer->out->size += blanks + 1;
}

static void add_heading(struct renderer *renderer, size_t count, const char *kind, const char *what)
{
    string_add(renderer->out, "---- ");
    string_add_integer(renderer->out, (int64_t)count);
    string_add_format(renderer->out, " %s%s(s) ----", kind, what);
}

/* ---- Tensors ---- */

static int render_values(struct renderer *renderer, const struct graph_view *view, const struct initializer *constant,
                         unsigned more, struct error *err)
{
    SCOPED_STRING(text);
    struct tensor tensor SCOPED(tensor_release) = {0};
    struct text file;
    int rc;

    if (renderer->settings->ignore_external_data && external_tensor_location(constant->message, &file)) {
        string_add_format(renderer->out, " | Values: in '" TEXT_FORMAT "', not read", TEXT_ARGS(file));
        return 0;
    }
    rc = external_tensor_read_constant(view->graph, constant, &tensor, err);
    if (rc < 0)
        return rc;
    tensor_to_text(&tensor, &TENSOR_TEXT_DEFAULTS, &text);
    string_add(renderer->out, " | Values:");
    new_line(renderer, more);
    for (const char *line = text.size > 0 ? text.data : ""; *line != '\0';) {
        size_t length = strcspn(line, "\n");

        string_add_bytes(renderer->out, line, length);
        line += length;
        if (*line == '\n') {
            new_line(renderer, more);
            line++;
        }
    }
    return 0;
}

/* "w [dtype=float32, shape=[4, 2]]": with its values, and as an attribute, Polygraphy shows a constant's shape as a
 * list, not as a tuple. */
static void add_constant_line(struct renderer *renderer, struct text name, const struct initializer *constant)
{
    struct value_type type;

    graph_view_initializer_type(constant, &type);
    if (type.element == DATA_UNDEFINED || !type.has_shape) {
        tensor_line(renderer->out, name, &type);
        return;
    }
    string_add_format(renderer->out, TEXT_FORMAT " [dtype=%s, shape=[", TEXT_ARGS(name), data_type_name(type.element));
    for (size_t i = 0; i < type.shape.rank; i++) {
        string_add(renderer->out, i > 0 ? ", " : "");
        string_add_integer(renderer->out, type.shape.dims[i]);
    }
    string_add(renderer->out, "]]");
}

/* One tensor of a node or a list; an omitted one is shown as ''. */
static void render_value(struct renderer *renderer, const struct graph_view *view, uint32_t value)
{
    struct value_type type;

    if (value == VALUE_NONE) {
        string_add(renderer->out, "''");
        return;
    }
    if (graph_view_describe(view, value, &type))
        string_add(renderer->out, "Initializer | ");
    tensor_line(renderer->out, view->graph->values.items[value].name, &type);
}

static void add_edges(struct renderer *renderer, const struct graph_view *view, struct edge_range edges,
                      unsigned column)
{
    string_add_char(renderer->out, '{');
    for (size_t i = 0; i < edges.count; i++) {
        if (i > 0) {
            string_add_char(renderer->out, ',');
            new_line(renderer, column);
        }
        render_value(renderer, view, model_edge(view->graph, edges, i));
    }
    string_add_char(renderer->out, '}');
}

static void add_list(struct renderer *renderer, const struct graph_view *view, const struct value_list *values)
{
    struct value_type type;

    new_line(renderer, 0);
    string_add_char(renderer->out, '{');
    for (size_t i = 0; i < values->count; i++) {
        if (i > 0) {
            string_add_char(renderer->out, ',');
            new_line(renderer, 1);
        }
        graph_view_describe(view, values->items[i], &type);
        tensor_line(renderer->out, view->graph->values.items[values->items[i]].name, &type);
    }
    string_add_char(renderer->out, '}');
}

/* ---- Initializers ---- */

static void add_initializer_line(struct renderer *renderer, const struct model *model,
                                 const struct initializer *initializer)
{
    struct value_type type;

    graph_view_initializer_type(initializer, &type);
    tensor_line(renderer->out, model->values.items[initializer->value].name, &type);
}

static int add_weights(struct renderer *renderer, const struct graph_view *view, struct error *err)
{
    const struct model *model = view->graph;
    int rc = 0;

    for (size_t i = 0; i < model->initializers.count && rc == 0; i++) {
        const struct initializer *initializer = &model->initializers.items[i];

        if (i > 0)
            new_line(renderer, 0);
        new_line(renderer, 0);
        string_add(renderer->out, "Initializer | ");
        add_constant_line(renderer, model->values.items[initializer->value].name, initializer);
        if (!initializer->sparse)
            rc = render_values(renderer, view, initializer, 4, err);
    }
    return rc;
}

static int add_initializers(struct renderer *renderer, const struct graph_view *view, struct error *err)
{
    const struct model *model = view->graph;

    add_heading(renderer, model->initializers.count, "", "Initializer");
    if (renderer->settings->weights && model->initializers.count > 0)
        return add_weights(renderer, view, err);
    if (!renderer->settings->layers && !renderer->settings->weights)
        return 0;
    new_line(renderer, 0);
    string_add_char(renderer->out, '{');
    for (size_t i = 0; i < model->initializers.count; i++) {
        if (i > 0) {
            string_add_char(renderer->out, ',');
            new_line(renderer, 1);
        }
        add_initializer_line(renderer, model, &model->initializers.items[i]);
    }
    string_add_char(renderer->out, '}');
    return 0;
}

/* ---- Attributes ---- */

static void add_text_in_quotes(struct string_builder *out, struct span text)
{
    string_add_char(out, '\'');
    string_add_text(out, span_text(text));
    string_add_char(out, '\'');
}

static void render_number(struct string_builder *out, float value)
{
    char text[NUMBER_TEXT_SIZE];

    string_add(out, number_to_text_float32(value, text));
}

static void add_list_attribute(struct string_builder *out, const struct attribute *attribute)
{
    struct attribute_walk walk = attribute_walk(attribute);
    const char *separator = "";
    int64_t integer;
    float number;
    struct span bytes;

    string_add_char(out, '[');
    while (attribute->type == ATTRIBUTE_MANY_FLOATS && attribute_next_float(&walk, &number)) {
        string_add(out, separator);
        render_number(out, number);
        separator = ", ";
    }
    while (attribute->type == ATTRIBUTE_MANY_INTEGERS && attribute_next_integer(&walk, &integer)) {
        string_add(out, separator);
        string_add_integer(out, integer);
        separator = ", ";
    }
    while (attribute->type == ATTRIBUTE_MANY_STRINGS && attribute_next_bytes(&walk, &bytes)) {
        string_add(out, separator);
        add_text_in_quotes(out, bytes);
        separator = ", ";
    }
    string_add_char(out, ']');
}

static int add_tensor_attribute(struct renderer *renderer, const struct graph_view *view, struct span tensor_proto,
                                struct error *err)
{
    const struct initializer constant = {.message = tensor_proto};

    string_add(renderer->out, "Tensor:");
    add_constant_line(renderer, TEXT(""), &constant);
    return renderer->settings->weights ? render_values(renderer, view, &constant, 8, err) : 0;
}

/* A body begins on a new line and ends with an empty one. */
static int add_body(struct renderer *renderer, const struct graph_view *view, struct span body, struct error *err)
{
    enum { DEEPER = 12 };
    struct graph_view inner;
    int rc = graph_view_open_body(view, body, &inner, err);

    if (rc < 0)
        return rc;
    renderer->indent += DEEPER;
    new_line(renderer, 0);
    rc = add_graph(renderer, &inner, "Subgraph ", err);
    new_line(renderer, 0);
    renderer->indent -= DEEPER;
    graph_view_close(&inner);
    return rc;
}

static int add_bodies(struct renderer *renderer, const struct graph_view *view, const struct attribute *attribute,
                      struct error *err)
{
    struct attribute_walk walk = attribute_walk(attribute);
    struct span body;
    int rc = 0;

    while (rc == 0 && attribute_next_bytes(&walk, &body))
        rc = add_body(renderer, view, body, err);
    return rc;
}

static int add_attribute_value(struct renderer *renderer, const struct graph_view *view,
                               const struct attribute *attribute, struct error *err)
{
    struct string_builder *out = renderer->out;

    if (attribute->reference.size > 0) {
        string_add(out, "@");
        string_add_text(out, attribute->reference);
        return 0;
    }
    switch (attribute->type) {
    case ATTRIBUTE_ONE_FLOAT:
        render_number(out, attribute->number);
        break;
    case ATTRIBUTE_ONE_INTEGER:
        string_add_integer(out, attribute->integer);
        break;
    case ATTRIBUTE_ONE_STRING:
        string_add_text(out, span_text(attribute->bytes));
        break;
    case ATTRIBUTE_ONE_TENSOR:
        return add_tensor_attribute(renderer, view, attribute->bytes, err);
    case ATTRIBUTE_ONE_GRAPH:
    case ATTRIBUTE_MANY_GRAPHS:
        return add_bodies(renderer, view, attribute, err);
    case ATTRIBUTE_MANY_FLOATS:
    case ATTRIBUTE_MANY_INTEGERS:
    case ATTRIBUTE_MANY_STRINGS:
        add_list_attribute(out, attribute);
        break;
    case ATTRIBUTE_UNDEFINED:
    case ATTRIBUTE_MANY_TENSORS:
    case ATTRIBUTE_ONE_SPARSE_TENSOR:
    case ATTRIBUTE_MANY_SPARSE_TENSORS:
    case ATTRIBUTE_ONE_TYPE:
    case ATTRIBUTE_MANY_TYPES:
        string_add(out, "...");
        break;
    }
    return 0;
}

static int add_attributes(struct renderer *renderer, const struct graph_view *view, const struct node *node,
                          struct error *err)
{
    struct wire_reader reader = wire_reader_of(node->message);
    struct wire_field field;
    bool first = true;
    int rc = 0;

    while (rc == 0 && wire_next(&reader, &field)) {
        struct attribute attribute;

        if (field.number != NODE_ATTRIBUTE || field.type != WIRE_BYTES)
            continue;
        attribute_read(field.bytes, &attribute);
        if (first) {
            new_line(renderer, 4);
            string_add(renderer->out, "---- Attributes ----");
        }
        first = false;
        new_line(renderer, 4);
        if (node->name.size > 0) {
            string_add_text(renderer->out, node->name);
            string_add_char(renderer->out, '.');
        }
        string_add_text(renderer->out, attribute.name);
        string_add(renderer->out, " = ");
        rc = add_attribute_value(renderer, view, &attribute, err);
    }
    return rc;
}

/* ---- Nodes and graphs ---- */

static void add_index(struct string_builder *out, size_t index)
{
    size_t start = out->size;

    string_add_integer(out, (int64_t)index);
    while (out->size - start < 4)
        string_add_char(out, ' ');
}

static int render_node(struct renderer *renderer, const struct graph_view *view, size_t index, struct error *err)
{
    const struct node *node = &view->graph->nodes.items[index];
    struct string_builder *out = renderer->out;

    new_line(renderer, 0);
    string_add(out, "Node ");
    add_index(out, index);
    string_add(out, " | ");
    string_add_text(out, node->name);
    string_add(out, " [Op: ");
    string_add_text(out, node->op_type);
    string_add_char(out, ']');
    new_line(renderer, 4);
    add_edges(renderer, view, node->inputs, 5);
    if (node->inputs.count > 0) {
        new_line(renderer, 5);
        string_add(out, "-> ");
        add_edges(renderer, view, node->outputs, 9);
    } else {
        string_add(out, " -> ");
        add_edges(renderer, view, node->outputs, 11);
    }
    return renderer->settings->attributes ? add_attributes(renderer, view, node, err) : 0;
}

static int render_nodes(struct renderer *renderer, const struct graph_view *view, struct error *err)
{
    size_t count = view->graph->nodes.count;
    int rc = 0;

    add_heading(renderer, count, "", "Node");
    for (size_t i = 0; renderer->settings->layers && i < count && rc == 0; i++) {
        if (i > 0)
            new_line(renderer, 0);
        rc = render_node(renderer, view, i, err);
    }
    return rc;
}

/* Writes inputs, outputs and initializers, and an empty line; `kind` names the owner of the inputs and outputs. */
static int render_tensors(struct renderer *renderer, const struct graph_view *view, const char *kind, struct error *err)
{
    int rc;

    add_heading(renderer, view->graph->inputs.count, kind, "Input");
    add_list(renderer, view, &view->graph->inputs);
    new_line(renderer, 0);
    new_line(renderer, 0);
    add_heading(renderer, view->graph->outputs.count, kind, "Output");
    add_list(renderer, view, &view->graph->outputs);
    new_line(renderer, 0);
    new_line(renderer, 0);
    rc = add_initializers(renderer, view, err);
    new_line(renderer, 0);
    new_line(renderer, 0);
    return rc;
}

static int add_graph(struct renderer *renderer, const struct graph_view *view, const char *kind, struct error *err)
{
    int rc = render_tensors(renderer, view, kind, err);

    return rc < 0 ? rc : render_nodes(renderer, view, err);
}

/* ---- Functions ---- */

static int add_function(struct renderer *renderer, const struct graph_view *main, struct span function, size_t index,
                        struct error *err)
{
    enum { DEEPER = 4 };
    struct function_view view;
    int rc = graph_view_open_function(main, function, &view, err);

    if (rc < 0)
        return rc;
    if (index > 0)
        new_line(renderer, 0);
    new_line(renderer, 0);
    string_add(renderer->out, "Function ");
    add_index(renderer->out, index);
    string_add_format(renderer->out, " | " TEXT_FORMAT " [Domain: " TEXT_FORMAT "]", TEXT_ARGS(view.name),
                      TEXT_ARGS(view.domain));
    renderer->indent += DEEPER;
    new_line(renderer, 0);
    rc = add_graph(renderer, &view.view, "Function ", err);
    renderer->indent -= DEEPER;
    graph_view_close(&view.view);
    return rc;
}

static int add_functions_among(struct renderer *renderer, const struct graph_view *main, const struct span_list *fields,
                               size_t *index, struct error *err)
{
    int rc = 0;

    for (size_t i = 0; i < fields->count && rc == 0; i++) {
        struct wire_reader reader = wire_reader_of(fields->items[i]);
        struct wire_field field;

        if (wire_next(&reader, &field) && field.number == MODEL_FUNCTIONS && field.type == WIRE_BYTES)
            rc = add_function(renderer, main, field.bytes, (*index)++, err);
    }
    return rc;
}

static int add_functions(struct renderer *renderer, const struct graph_view *main, struct error *err)
{
    const struct model *model = main->graph;
    size_t index = 0;
    int rc;

    if (model->function_count == 0)
        return 0;
    new_line(renderer, 0);
    new_line(renderer, 0);
    add_heading(renderer, model->function_count, "", "Function");
    if (!renderer->settings->layers)
        return 0;
    rc = add_functions_among(renderer, main, &model->fields_before_graph, &index, err);
    return rc < 0 ? rc : add_functions_among(renderer, main, &model->fields_after_graph, &index, err);
}

int graph_to_text(struct model *model, const struct graph_text_settings *settings, struct string_builder *out,
                  struct error *err)
{
    struct renderer renderer = {.settings = settings, .out = out};
    struct graph_view view = graph_view_of(model);
    int rc;

    model_headline(out, model);
    string_add(out, "\n\n");
    rc = add_graph(&renderer, &view, "Graph ", err);
    return rc < 0 ? rc : add_functions(&renderer, &view, err);
}

/* ---- Networks ---- */

static void add_layer_values(struct renderer *renderer, const struct graph_view *view, const struct value_list *values,
                             unsigned column)
{
    string_add_char(renderer->out, '{');
    for (size_t i = 0; i < values->count; i++) {
        if (i > 0) {
            string_add_char(renderer->out, ',');
            new_line(renderer, column);
        }
        render_value(renderer, view, values->items[i]);
    }
    string_add_char(renderer->out, '}');
}

static void add_layer_head(struct renderer *renderer, const struct layer *layer, size_t index)
{
    string_add(renderer->out, "Layer ");
    add_index(renderer->out, index);
    string_add_format(renderer->out, " | %s [Kind: %s]", layer->name, layer_kind_name(layer->kind));
}

static int render_layer(struct renderer *renderer, const struct graph_view *view, const struct layer *layer,
                        struct error *err)
{
    const struct node *nodes = view->graph->nodes.items;
    struct string_builder *out = renderer->out;
    int rc = 0;

    new_line(renderer, 4);
    add_layer_values(renderer, view, &layer->inputs, 5);
    new_line(renderer, 5);
    string_add(out, "-> ");
    add_layer_values(renderer, view, &layer->outputs, 9);
    for (size_t k = 0; k < layer->nodes.count; k++) {
        if (k == 0)
            new_line(renderer, 4);
        string_add_format(out, "%s%s [Op: " TEXT_FORMAT "]",
                          k > 0 ? ", " : "Nodes: ", model_node_label(view->graph, layer->nodes.items[k]),
                          TEXT_ARGS(nodes[layer->nodes.items[k]].op_type));
    }
    for (size_t k = 0; k < layer->nodes.count && renderer->settings->attributes && rc == 0; k++)
        rc = add_attributes(renderer, view, &nodes[layer->nodes.items[k]], err);
    return rc;
}

int network_to_text(const struct network *network, const struct graph_text_settings *settings,
                    struct string_builder *out, struct error *err)
{
    struct renderer renderer = {.settings = settings, .out = out};
    struct graph_view view = graph_view_of(network->model);
    int rc;

    model_headline(out, network->model);
    string_add(out, "\n\n");
    rc = render_tensors(&renderer, &view, "Network ", err);
    add_heading(&renderer, network->layers.count, "", "Layer");
    for (size_t i = 0; settings->layers && i < network->layers.count && rc == 0; i++) {
        const struct layer *layer = &network->layers.items[i];

        if (i > 0)
            new_line(&renderer, 0);
        new_line(&renderer, 0);
        add_layer_head(&renderer, layer, i);
        rc = render_layer(&renderer, &view, layer, err);
    }
    return rc;
}
