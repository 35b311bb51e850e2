/* onnx/edit/inner_graphs.c: see inner_graphs.h. */
#include "onnx/edit/inner_graphs.h"

#include "base/memory.h"
#include "onnx/edit/constants.h"
#include "onnx/edit/node.h"
#include "onnx/edit/rebuild.h"
#include "onnx/model/captures.h"
#include "onnx/model/function_call.h"
#include "onnx/model/subgraph.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/wire.h"

/* From this IR version on, initializers need not be inputs of their graph. */
#define FREE_INITIALIZERS_VERSION 4

/* One call of model_edit_bodies() or model_edit_functions(). */
struct inner_edit {
    struct model *model;
    inner_graph_editor *edit;
    void *data;
    bool changed;
};

/* How a graph is written. */
struct inner_layout {
    uint32_t node, description;
    bool constants_are_nodes;
};

/* ---- Opening a body ---- */

static void share_model_header(const struct model *outer, struct model *graph)
{
    graph->ir_version = outer->ir_version;
    graph->function_count = outer->function_count;
    for (size_t i = 0; i < outer->opsets.count; i++)
        *VECTOR_APPEND(&graph->opsets) = outer->opsets.items[i];
    for (size_t i = 0; i < outer->fields_before_graph.count; i++)
        *VECTOR_APPEND(&graph->fields_before_graph) = outer->fields_before_graph.items[i];
    for (size_t i = 0; i < outer->fields_after_graph.count; i++)
        *VECTOR_APPEND(&graph->fields_after_graph) = outer->fields_after_graph.items[i];
}

static void import_outer_constant(const struct model *outer, uint32_t from, struct model *graph, uint32_t value)
{
    struct initializer initializer = outer->initializers.items[outer->values.items[from].initializer];

    initializer.value = value;
    graph->values.items[value].initializer = (uint32_t)graph->initializers.count;
    *VECTOR_APPEND(&graph->initializers) = initializer;
}

/* Lists in `ret_imported` the constants of enclosing graphs that become constants of `graph`. */
static void import_outer_values(const struct model *outer, struct model *graph, struct bitset *ret_imported)
{
    bitset_init(ret_imported, graph->values.count);
    for (uint32_t i = 0; i < graph->values.count; i++) {
        struct value *v = &graph->values.items[i];
        uint32_t from = model_find_value(outer, v->name);

        if (v->producer != NODE_NONE || v->initializer != INITIALIZER_NONE || v->info_of_input || from == VALUE_NONE)
            continue;
        if (model_dense_initializer(outer, from) != NULL) {
            import_outer_constant(outer, from, graph, i);
            bitset_add(ret_imported, i);
        } else if (v->info.size == 0) {
            v->info = outer->values.items[from].info;
        }
    }
}

/* ---- Writing a graph ---- */

static void write_inner_constant(const struct model *graph, const struct initializer *initializer,
                                 struct string_builder *out)
{
    SCOPED_STRING(message);

    if (!initializer->renamed) {
        string_add_bytes(out, initializer->field.data, initializer->field.size);
        return;
    }
    string_add_bytes(&message, initializer->message.data, initializer->message.size);
    wire_write_text(&message, TENSOR_NAME, graph->values.items[initializer->value].name);
    wire_write_bytes(out, GRAPH_INITIALIZER, message.data, message.size);
}

static void write_constant_node(const struct model *graph, const struct initializer *initializer, uint32_t number,
                                struct string_builder *out)
{
    struct text name = graph->values.items[initializer->value].name;
    SCOPED_STRING(node);

    constant_node_write(&node, name, initializer->message);
    wire_write_bytes(out, number, node.data, node.size);
}

/* Constants precede the nodes, because they may be nodes. */
static void write_inner_constants(const struct model *graph, const struct inner_layout *layout,
                                  const struct bitset *used, struct string_builder *out)
{
    VECTOR_EACH (const struct initializer, initializer, graph->initializers) {
        if (!bitset_has(used, initializer->value))
            continue;
        if (layout->constants_are_nodes && !initializer->sparse)
            write_constant_node(graph, initializer, layout->node, out);
        else
            write_inner_constant(graph, initializer, out);
    }
}

/* Whether a field of the old message belongs to the new one, too. */
static bool inner_field_stays(const struct model *graph, const struct inner_layout *layout, const struct bitset *used,
                              const struct wire_field *field)
{
    bool is_constant = field->number == GRAPH_INITIALIZER || field->number == GRAPH_SPARSE_INITIALIZER;
    uint32_t value;

    if (field->type != WIRE_BYTES)
        return true;
    if (field->number == layout->node || (is_constant && layout->node == GRAPH_NODE))
        return false;
    if (field->number != layout->description)
        return true;
    value = model_find_value(graph, wire_find_text(field->bytes, VALUE_INFO_NAME));
    return value == VALUE_NONE || bitset_has(used, value);
}

/* Writes `graph`, which was read from `old`. */
static void write_inner_graph(const struct model *graph, struct span old, const struct inner_layout *layout,
                              struct string_builder *out)
{
    struct wire_reader reader = wire_reader_of(old);
    struct wire_field field;
    struct subgraph whole SCOPED(subgraph_release) = {0};
    SCOPED_BITSET(used);

    subgraph_init_whole(&whole, graph);
    bitset_init(&used, graph->values.count);
    subgraph_used_values(&whole, &used);
    while (wire_next(&reader, &field))
        if (inner_field_stays(graph, layout, &used, &field))
            string_add_bytes(out, field.whole.data, field.whole.size);
    write_inner_constants(graph, layout, &used, out);
    for (size_t i = 0; i < graph->nodes.count; i++)
        wire_write_bytes(out, layout->node, graph->nodes.items[i].message.data, graph->nodes.items[i].message.size);
}

/* ---- Bodies ---- */

static int edit_body(void *data, struct span body, struct span *ret, struct error *err)
{
    struct inner_edit *edit = data;
    const struct inner_layout layout = {GRAPH_NODE, GRAPH_VALUE_INFO,
                                        edit->model->ir_version < FREE_INITIALIZERS_VERSION};
    struct model *graph;
    bool changed = false;
    SCOPED_BITSET(imported);
    SCOPED_STRING(out);
    int rc = model_parse_graph(edit->model, body, &graph, err);

    if (rc < 0)
        return rc;
    share_model_header(edit->model, graph);
    import_outer_values(edit->model, graph, &imported);
    rc = edit->edit(edit->data, graph, &changed, err);
    *ret = body;
    if (rc == 0 && changed) {
        model_remove_initializers(graph, &imported);
        write_inner_graph(graph, body, &layout, &out);
        *ret = wire_keep(&edit->model->arena, &out);
        edit->changed = true;
    }
    model_free(graph);
    return rc;
}

int model_edit_bodies(struct model *model, inner_graph_editor *edit, void *data, bool *ret_changed, struct error *err)
{
    struct inner_edit inner = {.model = model, .edit = edit, .data = data};
    struct span_list fields SCOPED_ITEMS = {0};
    bool any = false;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < model->nodes.count; i++) {
        const struct node *node = &model->nodes.items[i];
        struct span field = node->field;

        inner.changed = false;
        if (node->has_subgraphs)
            rc = node_edit_bodies(&model->arena, node->message, edit_body, &inner, &field, err);
        *VECTOR_APPEND(&fields) = inner.changed ? field : node->field;
        any |= inner.changed;
    }
    if (rc == 0 && any)
        rc = model_set_nodes(model, &fields, err);
    *ret_changed |= any;
    return rc;
}

/* ---- Functions ---- */

/* `field` contains the function, with tag and length. */
static int edit_function(struct inner_edit *edit, struct span function, struct span *field, struct error *err)
{
    const struct inner_layout layout = {FUNCTION_NODE, FUNCTION_VALUE_INFO, true};
    struct model *graph;
    bool changed = false;
    SCOPED_STRING(bytes);
    SCOPED_STRING(message);
    int rc = function_open(edit->model, function, &bytes, &graph, err);

    if (rc < 0)
        return rc;
    rc = edit->edit(edit->data, graph, &changed, err);
    if (rc == 0 && changed) {
        write_inner_graph(graph, function, &layout, &message);
        *field = wire_make_field(&edit->model->arena, MODEL_FUNCTIONS, &message);
        edit->changed = true;
    }
    model_free(graph);
    return rc;
}

static int edit_functions_among(struct inner_edit *edit, struct span_list *fields, struct error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < fields->count; i++) {
        struct wire_reader reader = wire_reader_of(fields->items[i]);
        struct span function;

        if (wire_next_bytes(&reader, MODEL_FUNCTIONS, &function))
            rc = edit_function(edit, function, &fields->items[i], err);
    }
    return rc;
}

int model_edit_functions(struct model *model, inner_graph_editor *edit, void *data, bool *ret_changed,
                         struct error *err)
{
    struct inner_edit inner = {.model = model, .edit = edit, .data = data};
    int rc = edit_functions_among(&inner, &model->fields_before_graph, err);

    if (rc == 0)
        rc = edit_functions_among(&inner, &model->fields_after_graph, err);
    *ret_changed |= inner.changed;
    return rc;
}

/* ---- Counting ---- */

static size_t count_body_nodes(struct span body, unsigned depth);

static size_t count_in_bodies(struct span node, unsigned depth)
{
    struct wire_reader reader = wire_reader_of(node), inner;
    struct wire_field field, part;
    size_t count = 0;

    while (wire_next(&reader, &field)) {
        if (field.number != NODE_ATTRIBUTE || field.type != WIRE_BYTES)
            continue;
        inner = wire_reader_of(field.bytes);
        while (wire_next(&inner, &part))
            if ((part.number == ATTRIBUTE_GRAPH || part.number == ATTRIBUTE_GRAPHS) && part.type == WIRE_BYTES)
                count += count_body_nodes(part.bytes, depth + 1);
    }
    return count;
}

static size_t count_body_nodes(struct span body, unsigned depth)
{
    struct wire_reader reader = wire_reader_of(body);
    struct wire_field field;
    size_t count = 0;

    while (depth < BODY_MAX_DEPTH && wire_next(&reader, &field))
        if (field.number == GRAPH_NODE && field.type == WIRE_BYTES)
            count += 1 + count_in_bodies(field.bytes, depth);
    return count;
}

size_t node_count_inner_nodes(const struct node *node)
{
    return node->has_subgraphs ? count_in_bodies(node->message, 0) : 0;
}

size_t model_count_nodes(const struct model *model)
{
    size_t count = model->nodes.count;

    for (size_t i = 0; i < model->nodes.count; i++)
        count += node_count_inner_nodes(&model->nodes.items[i]);
    return count;
}
