/* onnx/shrink/bodies.c: see bodies.h. */
#include "onnx/shrink/bodies.h"

#include <stdlib.h>

#include "base/memory.h"
#include "onnx/edit/inline_branches.h"
#include "onnx/edit/constants.h"
#include "onnx/edit/rebuild.h"
#include "onnx/model/unused_names.h"
#include "onnx/model/captures.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/wire.h"
#include "onnx/edit/node.h"

/* Field numbers of a GraphProto or a FunctionProto. */
struct graph_fields {
    uint32_t node, input, output, description;
    bool bare_names; /* inputs and outputs are names, not descriptions */
};

static const struct graph_fields graph_layout = {GRAPH_NODE, GRAPH_INPUT, GRAPH_OUTPUT, GRAPH_VALUE_INFO, false};
static const struct graph_fields function_layout = {FUNCTION_NODE, FUNCTION_INPUT, FUNCTION_OUTPUT, FUNCTION_VALUE_INFO,
                                                    true};

/* A walk over all bodies and functions. */
struct body_edit {
    struct arena *arena;          /* for new messages */
    const uint8_t *choices;       /* NULL: nodes are not changed, */
    struct inner_node_list *list; /* but listed here */
    size_t next;                  /* number of the next inner node */
    unsigned depth;
};

/* State of editing one graph or function. */
struct graph_edit {
    const struct graph_fields *layout;
    struct span_list nodes; /* remaining nodes: NodeProtos with tag and length */
    struct rename_map map;  /* outputs of bypassed nodes */
    struct name_map used;   /* inputs and outputs; later also reads of nodes */
};

static int edit_body_graph(struct body_edit *edit, struct span graph, const struct graph_fields *layout,
                           struct span *ret, struct error *err);

/* ---- One node ---- */

static int edit_body(void *data, struct span body, struct span *ret, struct error *err)
{
    return edit_body_graph(data, body, &graph_layout, ret, err);
}

struct node_summary {
    struct text name, op_type, output;
    struct text inputs[MOST_BYPASSES];
    size_t input_count, output_count; /* without omitted ones */
};

static void summarize_body_node(struct span node, struct node_summary *ret)
{
    struct wire_reader reader = wire_reader_of(node);
    struct wire_field field;

    *ret = (struct node_summary){.name = {"", 0}, .op_type = {"", 0}};
    while (wire_next(&reader, &field)) {
        struct text text = span_text(field.bytes);

        if (field.type != WIRE_BYTES)
            continue;
        if (field.number == NODE_NAME)
            ret->name = text;
        else if (field.number == NODE_OP_TYPE)
            ret->op_type = text;
        else if (field.number == NODE_OUTPUT && text.size > 0 && ret->output_count++ == 0)
            ret->output = text;
        else if (field.number == NODE_INPUT && text.size > 0 && ret->input_count++ < MOST_BYPASSES)
            ret->inputs[ret->input_count - 1] = text;
    }
}

static uint8_t count_bypasses(const struct node_summary *node)
{
    size_t inputs = node->input_count < MOST_BYPASSES ? node->input_count : MOST_BYPASSES;

    return node->output_count == 1 ? (uint8_t)inputs : 0;
}

/* An output of the graph needs a producer, so it is copied by an Identity. */
static void bypass_body_node(struct body_edit *edit, struct graph_edit *graph, const struct node_summary *node,
                             unsigned choice)
{
    struct text target = node->inputs[choice - 1];
    uint32_t found = name_map_find(&graph->map.index, target);
    struct node_recipe identity = {.op_type = TEXT("Identity"), .input_count = 1, .output_count = 1};

    if (found != NAME_MAP_NONE)
        target = graph->map.names.items[found];
    if (name_map_find(&graph->used, node->output) == NAME_MAP_NONE) {
        rename_map_add(&graph->map, node->output, target);
        return;
    }
    identity.inputs = &target;
    identity.outputs = &node->output;
    *VECTOR_APPEND(&graph->nodes) = node_build(edit->arena, &identity);
}

static int edit_body_node(struct body_edit *edit, struct graph_edit *graph, struct span message, struct error *err)
{
    size_t number = edit->next++;
    struct node_summary summary;
    struct span field;
    unsigned choice;
    int rc;

    summarize_body_node(message, &summary);
    if (edit->list != NULL)
        *VECTOR_APPEND(edit->list) = (struct inner_node){summary.name, summary.op_type, count_bypasses(&summary)};
    rc = node_edit_bodies(edit->arena, message, edit_body, edit, &field, err);
    if (rc < 0)
        return rc;
    choice = edit->choices != NULL ? edit->choices[number] : 0;
    if (choice > 0 && choice <= count_bypasses(&summary)) {
        bypass_body_node(edit, graph, &summary, choice);
        return 0;
    }
    rc = node_rename(edit->arena, field, &graph->map, NULL, &field, err);
    if (rc == 0)
        *VECTOR_APPEND(&graph->nodes) = field;
    return rc;
}

/* ---- One graph ---- */

static void add_graph_interface(struct graph_edit *graph, struct span message)
{
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;

    while (wire_next(&reader, &field))
        if (field.type == WIRE_BYTES && (field.number == graph->layout->input || field.number == graph->layout->output))
            name_map_add(
                &graph->used,
                graph->layout->bare_names ? span_text(field.bytes) : wire_find_text(field.bytes, VALUE_INFO_NAME), 0);
}

/* Adds every name in a node's bodies as a read. This includes names that they define, which is harmless. */
static void add_used_names(struct name_map *used, struct span message, unsigned depth)
{
    struct wire_reader reader = wire_reader_of(message), inner;
    struct wire_field field, part;

    while (depth < BODY_MAX_DEPTH && wire_next(&reader, &field)) {
        if (field.type != WIRE_BYTES)
            continue;
        if (field.number == NODE_INPUT)
            name_map_add(used, span_text(field.bytes), 0);
        if (field.number != NODE_ATTRIBUTE || !captures_attribute_has_graph(field.bytes))
            continue;
        inner = wire_reader_of(field.bytes);
        while (wire_next(&inner, &part)) {
            struct wire_reader body = wire_reader_of(part.bytes);
            struct wire_field member;

            if ((part.number != ATTRIBUTE_GRAPH && part.number != ATTRIBUTE_GRAPHS) || part.type != WIRE_BYTES)
                continue;
            while (wire_next(&body, &member))
                if (member.number == GRAPH_NODE && member.type == WIRE_BYTES)
                    add_used_names(used, member.bytes, depth + 1);
                else if (member.number == GRAPH_OUTPUT && member.type == WIRE_BYTES)
                    name_map_add(used, wire_find_text(member.bytes, VALUE_INFO_NAME), 0);
        }
    }
}

static bool node_makes_any(const struct name_map *used, struct span node)
{
    struct wire_reader reader = wire_reader_of(node);
    struct wire_field field;

    while (wire_next(&reader, &field))
        if (field.number == NODE_OUTPUT && field.type == WIRE_BYTES && field.bytes.size > 0 &&
            name_map_find(used, span_text(field.bytes)) != NAME_MAP_NONE)
            return true;
    return false;
}

/* Drops nodes that nothing reads. */
static void prune_unread_nodes(struct graph_edit *graph)
{
    size_t first = graph->nodes.count;

    for (size_t i = graph->nodes.count; i-- > 0;) {
        struct span node = wire_content(graph->nodes.items[i]);

        if (!node_makes_any(&graph->used, node))
            continue;
        add_used_names(&graph->used, node, 0);
        graph->nodes.items[--first] = graph->nodes.items[i];
    }
    for (size_t i = first; i < graph->nodes.count; i++)
        graph->nodes.items[i - first] = graph->nodes.items[i];
    graph->nodes.count -= first;
}

static void write_edited_graph(const struct graph_edit *graph, struct span message, struct string_builder *out)
{
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;

    while (wire_next(&reader, &field)) {
        bool is_constant = field.number == GRAPH_INITIALIZER && field.type == WIRE_BYTES && !graph->layout->bare_names;

        if (field.number == graph->layout->node || field.number == graph->layout->description ||
            (is_constant && name_map_find(&graph->used, wire_find_text(field.bytes, TENSOR_NAME)) == NAME_MAP_NONE))
            continue;
        string_add_bytes(out, field.whole.data, field.whole.size);
    }
    for (size_t i = 0; i < graph->nodes.count; i++) {
        struct span node = wire_content(graph->nodes.items[i]);

        wire_write_bytes(out, graph->layout->node, node.data, node.size);
    }
}

static int edit_body_graph(struct body_edit *edit, struct span message, const struct graph_fields *layout,
                           struct span *ret, struct error *err)
{
    struct graph_edit graph = {.layout = layout};
    struct wire_reader reader = wire_reader_of(message);
    SCOPED_STRING(out);
    struct wire_field field;
    int rc = 0;

    if (edit->depth >= BODY_MAX_DEPTH)
        return error_set(err, ERR_CORRUPT, "subgraphs are nested more than %d deep", BODY_MAX_DEPTH);
    edit->depth++;
    rename_map_init(&graph.map);
    name_map_init(&graph.used);
    add_graph_interface(&graph, message);
    while (wire_next(&reader, &field)) {
        if (field.number == layout->node && field.type == WIRE_BYTES)
            rc = edit_body_node(edit, &graph, field.bytes, err);
        if (rc < 0)
            goto done;
    }
    if (reader.damaged) {
        rc = node_refuse_damage("a body", err);
        goto done;
    }
    prune_unread_nodes(&graph);
    write_edited_graph(&graph, message, &out);
    *ret = wire_keep(edit->arena, &out);
done:
    rename_map_release(&graph.map);
    name_map_release(&graph.used);
    free(graph.nodes.items);
    edit->depth--;
    return rc;
}

/* ---- The model ---- */

static int edit_function_bodies(struct body_edit *edit, struct span_list *model_fields, struct error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < model_fields->count; i++) {
        struct wire_reader reader = wire_reader_of(model_fields->items[i]);
        struct span function;

        if (!wire_next_bytes(&reader, MODEL_FUNCTIONS, &function))
            continue;
        rc = edit_body_graph(edit, function, &function_layout, &function, err);
        if (rc == 0 && edit->choices != NULL) {
            SCOPED_STRING(field);

            wire_write_bytes(&field, MODEL_FUNCTIONS, function.data, function.size);
            model_fields->items[i] = wire_keep(edit->arena, &field);
        }
    }
    return rc;
}

int inner_nodes_list(const struct model *model, struct inner_node_list *ret, struct error *err)
{
    SCOPED_ARENA(arena);
    struct body_edit edit = {.arena = &arena, .list = ret};
    struct span_list before = model->fields_before_graph, after = model->fields_after_graph;
    struct span unused;
    int rc = 0;

    for (size_t i = 0; i < model->nodes.count; i++) {
        if (model->nodes.items[i].has_subgraphs)
            rc = node_edit_bodies(&arena, model->nodes.items[i].message, edit_body, &edit, &unused, err);
        if (rc < 0)
            return rc;
    }
    rc = edit_function_bodies(&edit, &before, err);
    if (rc < 0)
        return rc;
    return edit_function_bodies(&edit, &after, err);
}

int inner_nodes_bypass(struct model *model, const uint8_t *choices, struct error *err)
{
    struct body_edit edit = {.arena = &model->arena, .choices = choices};
    struct span_list fields SCOPED_ITEMS = {0};
    int rc = 0;

    for (size_t i = 0; i < model->nodes.count; i++) {
        struct span field = model->nodes.items[i].field;

        if (model->nodes.items[i].has_subgraphs)
            rc = node_edit_bodies(&model->arena, model->nodes.items[i].message, edit_body, &edit, &field, err);
        if (rc < 0)
            return rc;
        *VECTOR_APPEND(&fields) = field;
    }
    rc = edit_function_bodies(&edit, &model->fields_before_graph, err);
    if (rc < 0)
        return rc;
    rc = edit_function_bodies(&edit, &model->fields_after_graph, err);
    if (rc < 0)
        return rc;
    return model_set_nodes(model, &fields, err);
}

/* Replaces the condition of the `If` by a new constant. */
static int decide_branch_condition(struct model *model, struct unused_names *names, const struct node *node,
                                   bool condition, struct span *ret, struct error *err)
{
    static const uint8_t truth[] = {0, 1};
    struct text name = unused_names_make(names, TEXT("condition"), "");
    uint32_t old = node->inputs.count == 1 ? model_edge(model, node->inputs, 0) : VALUE_NONE;
    struct rename_map map SCOPED(rename_map_release) = {0};
    struct tensor tensor;
    int rc;

    if (old == VALUE_NONE)
        return error_set(err, ERR_INVALID, "an If node has no condition");
    tensor_borrow(DATA_BOOL, &(struct shape){.rank = 0}, &truth[condition], 1, &tensor);
    rename_map_add(&map, model->values.items[old].name, name);
    rc = node_rename(&model->arena, node->field, &map, NULL, ret, err);
    if (rc == 0)
        rc = model_set_tensor(model, model_add_value(model, name), &tensor, err);
    return rc;
}

int branches_take(struct model *model, const uint8_t *choices, size_t *count, struct error *err)
{
    struct span_list fields SCOPED_ITEMS = {0};
    struct unused_names names SCOPED(unused_names_release) = {0};
    bool any = false;
    int rc = 0;

    unused_names_init(&names, model, &model->arena);
    for (size_t i = 0; i < model->nodes.count; i++) {
        struct node node = model->nodes.items[i];

        if (choices[i] != 0) {
            any = true;
            rc = decide_branch_condition(model, &names, &node, choices[i] == 1, &node.field, err);
            if (rc < 0)
                return rc;
        }
        *VECTOR_APPEND(&fields) = node.field;
    }
    if (!any)
        return rc;
    rc = model_set_nodes(model, &fields, err);
    if (rc < 0)
        return rc;
    return model_inline_branches(model, &names, count, err);
}
