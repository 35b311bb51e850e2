/* onnx/half/float16.c: see float16.h. */
#include "onnx/half/float16.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text/names.h"
#include "onnx/edit/model.h"
#include "onnx/edit/constants.h"
#include "onnx/edit/node.h"
#include "onnx/edit/rebuild.h"
#include "onnx/model/captures.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/value_info.h"
#include "onnx/proto/wire.h"
#include "onnx/write/model.h"

struct conversion {
    const struct float16_settings *settings;
    struct model *model; /* the whole model */
    struct unused_names names;
    bool *keep_used;
    struct float16_outcome *outcome;
};

/* ---- Selection of nodes ---- */

static bool user_keeps_node(struct conversion *conversion, const struct node *node)
{
    const struct float16_settings *settings = conversion->settings;
    bool keeps = false;

    for (size_t i = 0; i < settings->keep_count; i++)
        if (text_equal_string(node->op_type, settings->keep[i]) ||
            text_matches_pattern(node->name, text_of(settings->keep[i]))) {
            conversion->keep_used[i] = true;
            keeps = true;
        }
    return keeps;
}

/* Whether the range contains non-constant float32 tensors, and all of them are computed from integers. */
static bool value_comes_from_integers(const struct model *model, const struct node *node,
                                      const struct bitset *from_integers)
{
    bool any_float = false, any_integer = false;

    for (size_t i = 0; i < node->inputs.count; i++) {
        uint32_t value = model_edge(model, node->inputs, i);

        if (value == VALUE_NONE || model->values.items[value].initializer != INITIALIZER_NONE)
            continue;
        if (value_element(model, value) != DATA_FLOAT32) {
            any_integer |= data_type_is_integer(value_element(model, value));
            continue;
        }
        any_float = true;
        if (!bitset_has(from_integers, value))
            return false;
    }
    return any_float || (any_integer && node_is(node, "Cast"));
}

static bool touches_float32(const struct model *model, const struct node *node)
{
    for (size_t i = 0; i < node->inputs.count + node->outputs.count; i++) {
        uint32_t value = i < node->inputs.count ? model_edge(model, node->inputs, i)
                                                : model_edge(model, node->outputs, i - node->inputs.count);

        if (value != VALUE_NONE && value_element(model, value) == DATA_FLOAT32)
            return true;
    }
    return false;
}

static bool node_is_function_call(const struct model *model, const struct node *node)
{
    return model->function_count > 0 && !domain_is_standard(node->domain);
}

static void note_kept_node(struct float16_outcome *outcome, const struct model *model, uint32_t node,
                           enum float16_reason reason)
{
    SCOPED_STRING(name);

    model_add_node_label(model, node, &name);
    *VECTOR_APPEND(&outcome->kept) = (struct float16_kept){arena_printf(&outcome->arena, "%s", name.data), reason};
}

static void choose_converted_nodes(struct conversion *conversion, const struct model *model, struct bitset *ret)
{
    struct float16_outcome *outcome = conversion->outcome;
    SCOPED_BITSET(from_integers);

    bitset_init(&from_integers, model->values.count);
    for (uint32_t i = 0; i < model->nodes.count; i++) {
        const struct node *node = &model->nodes.items[i];
        bool integers = value_comes_from_integers(model, node, &from_integers),
             asked = !user_keeps_node(conversion, node);

        for (size_t k = 0; integers && k < node->outputs.count; k++)
            if (model_edge(model, node->outputs, k) != VALUE_NONE)
                bitset_add(&from_integers, model_edge(model, node->outputs, k));
        outcome->functions += node_is_function_call(model, node);
        if (!touches_float32(model, node))
            continue;
        if (asked && !integers && node_takes_half(model, node, DATA_FLOAT16)) {
            bitset_add(ret, i);
            outcome->converted++;
        } else if (!node->has_subgraphs) {
            note_kept_node(outcome, model, i,
                           !asked     ? FLOAT16_LISTED
                           : integers ? FLOAT16_OF_INTEGERS
                                      : FLOAT16_NOT_TAKEN);
        }
    }
}

/* ---- Bodies ---- */

static int convert_graph_to_half(struct conversion *conversion, struct model *graph, const struct value_list *captured,
                                 unsigned depth, struct error *err);

static void copy_opset_imports(const struct span_list *fields, struct string_builder *out)
{
    for (size_t i = 0; i < fields->count; i++) {
        struct wire_reader reader = wire_reader_of(fields->items[i]);
        struct wire_field field;

        while (wire_next(&reader, &field))
            if (field.number == MODEL_OPSET_IMPORT || field.number == MODEL_FUNCTIONS)
                string_add_bytes(out, field.whole.data, field.whole.size);
    }
}

/* Builds a model whose graph is the body. Before IR version 4 weights would also have to be inputs, which bodies do not
 * have. */
static int parse_body_graph(const struct model *outer, struct span body, struct string_builder *bytes,
                            struct model **ret, struct error *err)
{
    int rc;

    wire_write_integer(bytes, MODEL_IR_VERSION, outer->ir_version >= 4 ? outer->ir_version : 4);
    copy_opset_imports(&outer->fields_before_graph, bytes);
    copy_opset_imports(&outer->fields_after_graph, bytes);
    wire_write_bytes(bytes, MODEL_GRAPH, body.data, body.size);
    rc = model_parse((struct span){(const uint8_t *)bytes->data, bytes->size}, outer->display_name, ret, err);
    if (rc == 0) {
        free((*ret)->folder);
        (*ret)->folder = memory_strdup(outer->folder);
    }
    return rc;
}

/* Lists the captures of the body, with their types in `outer`. */
static void list_captured_values(const struct model *outer, struct model *body, struct value_list *ret)
{
    SCOPED_BITSET(inputs);

    value_list_to_set(&body->inputs, body->values.count, &inputs);
    for (uint32_t i = 0; i < body->values.count; i++) {
        const struct value *value = &body->values.items[i];
        uint32_t known = model_find_value(outer, value->name);
        struct value_type type = {.not_a_tensor = NULL};

        if (value->producer != NODE_NONE || value->initializer != INITIALIZER_NONE || bitset_has(&inputs, i) ||
            known == VALUE_NONE)
            continue;
        value_list_add(ret, i);
        value_info_decode(outer->values.items[known].info, &type);
        if (type.not_a_tensor == NULL && type.element == DATA_UNDEFINED)
            type.element = value_element(outer, known);
        if (type.not_a_tensor == NULL && type.element != DATA_UNDEFINED)
            model_set_type(body, i, &type);
    }
}

/* The GraphProto of the converted body, in memory of the outer model. */
static int extract_body_graph(struct model *outer, struct model *body, struct span *ret, struct error *err)
{
    struct subgraph whole SCOPED(subgraph_release) = {0};
    struct wire_reader reader;
    struct wire_field field;
    char *bytes SCOPED_FREE = NULL;
    uint8_t *copy;
    size_t size;
    int rc;

    subgraph_init_whole(&whole, body);
    rc = model_write_memory(&whole, &bytes, &size, err);
    if (rc < 0)
        return rc;
    reader = wire_reader_of((struct span){(const uint8_t *)bytes, size});
    while (wire_next(&reader, &field))
        if (field.number == MODEL_GRAPH)
            *ret = field.bytes;
    copy = model_allocate(outer, ret->size);
    if (copy != NULL)
        memcpy(copy, ret->data, ret->size);
    else
        rc = error_set(err, ERR_MEMORY, "not enough memory for a body of %zu bytes", ret->size);
    ret->data = copy;
    return rc;
}

/* The graph whose nodes contain the bodies. */
struct outer_graph {
    struct conversion *conversion;
    struct model *graph;
    unsigned depth;
};

static int convert_body_graph(void *data, struct span body, struct span *ret, struct error *err)
{
    const struct outer_graph *outer = data;
    SCOPED_STRING(bytes);
    struct value_list captured SCOPED_ITEMS = {0};
    struct model *model;
    int rc = parse_body_graph(outer->graph, body, &bytes, &model, err);

    if (rc < 0)
        return rc;
    list_captured_values(outer->graph, model, &captured);
    rc = convert_graph_to_half(outer->conversion, model, &captured, outer->depth + 1, err);
    for (size_t i = 0; i < captured.count; i++) /* types are written in the outer graph */
        model->values.items[captured.items[i]].info.size = 0;
    if (rc == 0)
        rc = extract_body_graph(outer->graph, model, ret, err);
    model_free(model);
    return rc;
}

static int convert_all_bodies(struct conversion *conversion, struct model *graph, unsigned depth, struct error *err)
{
    struct outer_graph outer = {conversion, graph, depth};
    struct span_list fields SCOPED_ITEMS = {0};
    bool found = false;
    int rc = 0;

    if (depth > BODY_MAX_DEPTH)
        return error_set(err, ERR_CORRUPT, "subgraphs are nested more than %d deep", BODY_MAX_DEPTH);
    for (size_t i = 0; rc == 0 && i < graph->nodes.count; i++) {
        struct node node = graph->nodes.items[i];
        struct span field = node.field;

        if (node.has_subgraphs && !user_keeps_node(conversion, &node)) {
            rc = node_edit_bodies(&graph->arena, node.message, convert_body_graph, &outer, &field, err);
            found = true;
        }
        *VECTOR_APPEND(&fields) = field;
    }
    if (rc == 0 && found)
        rc = model_set_nodes(graph, &fields, err);
    return rc;
}

/* ---- A graph ---- */

/* Captures are inputs for type inference. */
static void infer_graph_types(const struct conversion *conversion, struct model *graph,
                              const struct value_list *captured)
{
    struct subgraph whole SCOPED(subgraph_release) = {0};

    subgraph_init_whole(&whole, graph);
    for (size_t i = 0; i < captured->count; i++)
        value_list_add(&whole.inputs, captured->items[i]);
    conversion->settings->infer(conversion->settings->data, graph, &whole);
}

static int convert_graph_to_half(struct conversion *conversion, struct model *graph, const struct value_list *captured,
                                 unsigned depth, struct error *err)
{
    SCOPED_BITSET(half);
    int rc = model_lower_constants(graph, err);

    if (rc < 0)
        return rc;
    infer_graph_types(conversion, graph, captured);
    rc = convert_all_bodies(conversion, graph, depth, err);
    if (rc < 0)
        return rc;
    bitset_init(&half, graph->nodes.count);
    choose_converted_nodes(conversion, graph, &half);
    return mixed_precision_apply(graph, &half, DATA_FLOAT16, &conversion->names, conversion->settings->log, err);
}

static void warn_of_unknown_node(const struct model *model, const char *name, struct log *log)
{
    struct close_names close;
    SCOPED_STRING(text);

    close_names_start(&close, text_of(name));
    for (size_t i = 0; i < model->nodes.count; i++) {
        close_names_offer(&close, model->nodes.items[i].name);
        close_names_offer(&close, model->nodes.items[i].op_type);
    }
    close_names_add_to(&close, &text);
    log_message(log, LOG_WARNING, "--keep-float32: no node has the name or operator '%s'%s", name, text.data);
}

static void note_converted_operators(const struct conversion *conversion)
{
    struct log *log = conversion->settings->log;

    for (size_t i = 0; i < conversion->settings->keep_count; i++)
        if (!conversion->keep_used[i])
            warn_of_unknown_node(conversion->model, conversion->settings->keep[i], log);
    if (conversion->outcome->functions > 0)
        log_message(log, LOG_INFO, "%zu calls of local functions stay float32", conversion->outcome->functions);
    if (model_opset(conversion->model) < HALF_OPSET)
        log_message(log, LOG_WARNING,
                    "The model uses operator set %lld, whose Cast runtimes no longer support (at least %d is needed): "
                    "all nodes stay float32. Convert it to a later operator set first",
                    (long long)model_opset(conversion->model), HALF_OPSET);
    log_message(log, LOG_INFO, "Converted %zu nodes to float16; %zu others compute in float32",
                conversion->outcome->converted, conversion->outcome->kept.count);
}

void float16_outcome_release(struct float16_outcome *outcome)
{
    free(outcome->kept.items);
    arena_release(&outcome->arena);
    *outcome = (struct float16_outcome){0};
}

int float16_convert(struct model *model, const struct float16_settings *settings, struct float16_outcome *ret,
                    struct error *err)
{
    struct conversion conversion = {.settings = settings, .model = model, .outcome = ret};
    const struct value_list nothing = {0};
    int rc;

    *ret = (struct float16_outcome){0};
    arena_init(&ret->arena);
    conversion.keep_used = memory_alloc_zero(settings->keep_count + 1, sizeof(*conversion.keep_used));
    unused_names_init(&conversion.names, model, &model->arena);
    rc = convert_graph_to_half(&conversion, model, &nothing, 0, err);
    if (rc == 0)
        note_converted_operators(&conversion);
    unused_names_release(&conversion.names);
    free(conversion.keep_used);
    return rc;
}
