/* onnx/edit/model.c: see model.h. */
#include "onnx/edit/model.h"

#include <string.h>

#include "base/memory.h"
#include "onnx/model/subgraph.h"
#include "onnx/model/text.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/node_attribute.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/proto/wire.h"
#include "onnx/edit/constants.h"
#include "onnx/edit/rebuild.h"

/* ---- A copy ---- */

static void *copy_list_items(const void *items, size_t count, size_t size)
{
    void *copy = memory_alloc_zero(count, size);

    if (count > 0)
        memcpy(copy, items, count * size);
    return copy;
}

#define COPY_VECTOR(to, from)                                                                                          \
    ((to)->items = copy_list_items((from)->items, (from)->count, sizeof(*(from)->items)),                              \
     (to)->count = (to)->capacity = (from)->count)

struct model *model_copy(const struct model *from)
{
    struct model *copy = memory_alloc_zero(1, sizeof(*copy));

    *copy = *from;
    copy->borrows_map = true;
    copy->folder = memory_strdup(from->folder);
    copy->display_name = memory_strdup(from->display_name);
    arena_init(&copy->arena);
    memset(&copy->buffers, 0, sizeof(copy->buffers));
    memset(&copy->external_files, 0, sizeof(copy->external_files));
    COPY_VECTOR(&copy->opsets, &from->opsets);
    COPY_VECTOR(&copy->fields_before_graph, &from->fields_before_graph);
    COPY_VECTOR(&copy->fields_after_graph, &from->fields_after_graph);
    COPY_VECTOR(&copy->nodes, &from->nodes);
    COPY_VECTOR(&copy->values, &from->values);
    COPY_VECTOR(&copy->edges, &from->edges);
    COPY_VECTOR(&copy->initializers, &from->initializers);
    COPY_VECTOR(&copy->inputs, &from->inputs);
    COPY_VECTOR(&copy->outputs, &from->outputs);
    COPY_VECTOR(&copy->default_inputs, &from->default_inputs);
    COPY_VECTOR(&copy->repeated_inputs, &from->repeated_inputs);
    COPY_VECTOR(&copy->annotations, &from->annotations);
    COPY_VECTOR(&copy->other_graph_fields, &from->other_graph_fields);
    name_map_init(&copy->value_by_name);
    for (uint32_t i = 0; i < from->values.count; i++)
        name_map_add(&copy->value_by_name, from->values.items[i].name, i);
    return copy;
}

/* ---- Constants, types and shapes ---- */

static bool node_is_constant_operator(const struct node *node)
{
    return node_is(node, "Constant") && node->outputs.count == 1;
}

static int add_model_constant(struct model *model, uint32_t value, struct span tensor, struct error *err)
{
    struct value *v = &model->values.items[value];
    struct tensor_header header;

    if (v->initializer != INITIALIZER_NONE)
        return error_set(err, ERR_CORRUPT, "%s: '" TEXT_FORMAT "' is both a Constant's output and an initializer",
                         model->display_name, TEXT_ARGS(v->name));
    if (tensor_proto_read(tensor, &header, err) < 0)
        return error_context(err, "%s: Constant '" TEXT_FORMAT "'", model->display_name, TEXT_ARGS(v->name));
    v->producer = NODE_NONE;
    v->initializer = (uint32_t)model->initializers.count;
    *VECTOR_APPEND(&model->initializers) = (struct initializer){.message = tensor, .value = value, .renamed = true};
    return 0;
}

int model_lower_constants(struct model *model, struct error *err)
{
    size_t kept = 0;

    for (size_t i = 0; i < model->nodes.count; i++) {
        struct node node = model->nodes.items[i];
        struct span tensor =
            node_is_constant_operator(&node) ? node_attribute_tensor(node.message, "value") : (struct span){NULL, 0};
        uint32_t output = node_output(model, &node, 0);

        if (tensor.data != NULL && output != VALUE_NONE) {
            int rc = add_model_constant(model, output, tensor, err);

            if (rc < 0)
                return rc;
            continue;
        }
        for (size_t j = 0; j < node.outputs.count; j++) {
            uint32_t value = model_edge(model, node.outputs, j);

            if (value != VALUE_NONE && model->values.items[value].producer == i)
                model->values.items[value].producer = (uint32_t)kept;
        }
        model->nodes.items[kept++] = node;
    }
    model->nodes.count = kept;
    return 0;
}

void model_list_nodes(const struct model *model, struct span_list *ret)
{
    for (size_t i = 0; i < model->nodes.count; i++)
        *VECTOR_APPEND(ret) = model->nodes.items[i].field;
}

/* The value whose unchanged constant is the tensor of this node; VALUE_NONE if there is none. */
static uint32_t find_lowered_constant(const struct model *model, struct span node)
{
    struct span tensor = node_attribute_tensor(node, "value");
    uint32_t value = model_find_value(model, wire_find_text(node, NODE_OUTPUT));
    const struct initializer *initializer = model_dense_initializer(model, value);

    return tensor.data != NULL && initializer != NULL && initializer->message.data == tensor.data ? value : VALUE_NONE;
}

int model_raise_constants(struct model *model, const struct span_list *before, struct error *err)
{
    struct span_list kept SCOPED_ITEMS = {0};
    SCOPED_BITSET(raised);
    size_t next = 0;

    bitset_init(&raised, model->values.count);
    for (size_t i = 0; i < before->count; i++) {
        bool stayed = next < model->nodes.count && model->nodes.items[next].field.data == before->items[i].data;
        uint32_t value = stayed ? VALUE_NONE : find_lowered_constant(model, wire_content(before->items[i]));

        next += stayed;
        if (value != VALUE_NONE)
            bitset_add(&raised, value);
        if (stayed || value != VALUE_NONE)
            *VECTOR_APPEND(&kept) = before->items[i];
    }
    model_remove_initializers(model, &raised);
    return model_set_nodes(model, &kept, err);
}

int model_override_input(struct model *model, struct text name, const struct shape *shape, const struct text *symbols,
                         struct error *err)
{
    uint32_t value = model_find_tensor(model, name);
    struct value_type type;

    if (value == VALUE_NONE)
        return tensor_refuse_unknown(model, name, err);
    if (model->values.items[value].initializer != INITIALIZER_NONE)
        return error_set(err, ERR_INVALID, "tensor '" TEXT_FORMAT "' is a constant: its shape cannot be overridden",
                         TEXT_ARGS(name));
    value_info_decode(model->values.items[value].info, &type);
    if (type.not_a_tensor != NULL)
        return error_set(err, ERR_INVALID, "'" TEXT_FORMAT "' is not a tensor (%s): it has no shape to override",
                         TEXT_ARGS(name), type.not_a_tensor);
    type.has_shape = true;
    type.shape = *shape;
    for (size_t i = 0; i < shape->rank; i++)
        type.symbols[i] = symbols != NULL ? symbols[i] : (struct text){"", 0};
    model_set_type(model, value, &type);
    if (model->values.items[value].producer != NODE_NONE && !value_list_has(&model->inputs, value))
        value_list_add(&model->inputs, value);
    return 0;
}

void model_forget_shapes(struct model *model)
{
    SCOPED_BITSET(inputs);

    value_list_to_set(&model->inputs, model->values.count, &inputs);
    for (uint32_t i = 0; i < model->values.count; i++) {
        struct value_type type;

        if (bitset_has(&inputs, i) || model->values.items[i].info.size == 0 ||
            model->values.items[i].initializer != INITIALIZER_NONE)
            continue;
        value_info_decode(model->values.items[i].info, &type);
        if (type.not_a_tensor != NULL || !type.has_shape)
            continue;
        type.has_shape = false;
        model_set_type(model, i, &type);
    }
}

static void drop_model_fields(struct span_list *fields, uint32_t number)
{
    size_t kept = 0;

    for (size_t i = 0; i < fields->count; i++) {
        struct wire_reader reader = wire_reader_of(fields->items[i]);
        struct wire_field field;

        if (wire_next(&reader, &field) && field.number == number)
            continue;
        fields->items[kept++] = fields->items[i];
    }
    fields->count = kept;
}

static void set_model_field(struct model *model, uint32_t number, struct text text)
{
    SCOPED_STRING(field);

    wire_write_text(&field, number, text); /* before the memory that may contain `text` is dropped */
    drop_model_fields(&model->fields_before_graph, number);
    drop_model_fields(&model->fields_after_graph, number);
    if (text.size > 0)
        *VECTOR_APPEND(&model->fields_before_graph) = wire_keep(&model->arena, &field);
}

void model_set_producer(struct model *model, const char *name)
{
    set_model_field(model, MODEL_PRODUCER_NAME, text_of(name));
}

static void read_model_field(const struct span_list *fields, uint32_t number, struct text *ret)
{
    for (size_t i = 0; i < fields->count; i++) {
        struct wire_reader reader = wire_reader_of(fields->items[i]);
        struct wire_field field;

        if (wire_next(&reader, &field) && field.number == number && field.type == WIRE_BYTES)
            *ret = span_text(field.bytes);
    }
}

struct text model_description(const struct model *model)
{
    struct text description = TEXT("");

    read_model_field(&model->fields_before_graph, MODEL_DOC_STRING, &description);
    read_model_field(&model->fields_after_graph, MODEL_DOC_STRING, &description);
    return description;
}

void model_set_description(struct model *model, struct text description)
{
    set_model_field(model, MODEL_DOC_STRING, description);
}

/* ---- Opset imports ---- */

/* The newest standard operator set by IR version, from 3 on: older models have no imports and use version 1. */
static const uint8_t newest_opsets[] = {8, 9, 10, 11, 14, 18, 20, 22, 23, 24, 25};

/* The version in an opset import of the standard domain; 0 for another domain. */
static int64_t read_standard_import(struct span import)
{
    struct wire_reader reader = wire_reader_of(import);
    struct wire_field field;
    struct text domain = TEXT("");
    int64_t version = 0;

    while (wire_next(&reader, &field)) {
        if (field.number == OPSET_DOMAIN && field.type == WIRE_BYTES)
            domain = span_text(field.bytes);
        else if (field.number == OPSET_VERSION && field.type == WIRE_VARINT)
            version = (int64_t)field.value;
    }
    return domain_is_standard(domain) ? version : 0;
}

/* The version that the first function with standard operators imports; 0 if there is none. */
static int64_t find_opset_of_functions(const struct model *model)
{
    struct span function, import;
    int64_t version = 0;

    for (size_t place = 0; version == 0 && model_next_function(model, &place, &function);) {
        struct wire_reader reader = wire_reader_of(function);

        while (version == 0 && wire_next_bytes(&reader, FUNCTION_OPSET_IMPORT, &import))
            version = read_standard_import(import);
    }
    return version;
}

static void add_opset_import(struct model *model, struct text domain, int64_t version)
{
    SCOPED_STRING(import);

    wire_write_text(&import, OPSET_DOMAIN, domain);
    wire_write_integer(&import, OPSET_VERSION, version);
    *VECTOR_APPEND(&model->fields_after_graph) = wire_make_field(&model->arena, MODEL_OPSET_IMPORT, &import);
    *VECTOR_APPEND(&model->opsets) = (struct opset_import){domain, version};
}

void model_import_domain(struct model *model, struct text domain, int64_t version)
{
    for (size_t i = 0; i < model->opsets.count; i++)
        if (text_equal(model->opsets.items[i].domain, domain))
            return;
    add_opset_import(model, domain, version);
}

int64_t model_import_operators(struct model *model)
{
    size_t last = ARRAY_LEN(newest_opsets) - 1;
    size_t index = model->ir_version > 3 ? (size_t)model->ir_version - 3 : 0;
    int64_t version;

    if (model->ir_version < 3 || model_opset(model) > 0)
        return 0;
    version = find_opset_of_functions(model);
    if (version == 0)
        version = newest_opsets[index < last ? index : last];
    add_opset_import(model, TEXT(""), version);
    return version;
}

/* ---- Notes on nodes ---- */

enum { FIRST_IR_VERSION = 10 }; /* with metadata_props of nodes */

static bool entry_has_prefix(struct span entry, const char *prefix)
{
    struct wire_reader reader = wire_reader_of(entry);
    struct wire_field field;

    while (wire_next(&reader, &field))
        if (field.number == ENTRY_KEY && field.type == WIRE_BYTES && field.bytes.size >= strlen(prefix) &&
            memcmp(field.bytes.data, prefix, strlen(prefix)) == 0)
            return true;
    return false;
}

static void add_node_note(struct string_builder *node, const struct node_note *note)
{
    SCOPED_STRING(entry);

    wire_write_text(&entry, ENTRY_KEY, text_of(note->key));
    wire_write_text(&entry, ENTRY_VALUE, text_of(note->value));
    wire_write_bytes(node, NODE_METADATA, entry.data, entry.size);
}

/* Encodes the node without old notes and with `count` new ones, as a field of the graph. */
static struct span rewrite_node_notes(struct arena *arena, const struct node *node, const char *prefix,
                                      const struct node_note *notes, size_t count)
{
    struct wire_reader reader = wire_reader_of(node->message);
    SCOPED_STRING(message);
    struct wire_field field;

    while (wire_next(&reader, &field))
        if (field.number != NODE_METADATA || field.type != WIRE_BYTES || !entry_has_prefix(field.bytes, prefix))
            string_add_bytes(&message, field.whole.data, field.whole.size);
    for (size_t i = 0; i < count; i++)
        add_node_note(&message, &notes[i]);
    return wire_make_field(arena, GRAPH_NODE, &message);
}

static void raise_version(struct model *model)
{
    struct span_list *fields = &model->fields_before_graph;
    SCOPED_STRING(version);
    struct wire_field field;
    struct span made;

    if (model->ir_version >= FIRST_IR_VERSION)
        return;
    wire_write_integer(&version, MODEL_IR_VERSION, FIRST_IR_VERSION);
    made = wire_keep(&model->arena, &version);
    for (size_t i = 0; i < fields->count; i++) {
        struct wire_reader reader = wire_reader_of(fields->items[i]);

        if (!wire_next(&reader, &field) || field.number != MODEL_IR_VERSION)
            continue;
        fields->items[i] = made;
        return;
    }
    *VECTOR_APPEND(&model->fields_after_graph) = made; /* the last of several fields counts */
}

int model_set_notes(struct model *model, const char *prefix, const struct node_note *notes, size_t count,
                    struct error *err)
{
    struct span_list fields SCOPED_ITEMS = {0};
    size_t next = 0;
    int rc;

    for (uint32_t i = 0; i < model->nodes.count; i++) {
        size_t first = next;

        while (next < count && notes[next].node == i)
            next++;
        *VECTOR_APPEND(&fields) =
            rewrite_node_notes(&model->arena, &model->nodes.items[i], prefix, notes + first, next - first);
    }
    rc = model_set_nodes(model, &fields, err);
    if (rc == 0)
        raise_version(model);
    return rc;
}
