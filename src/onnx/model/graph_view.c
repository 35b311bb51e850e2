/* onnx/model/graph_view.c: see graph_view.h. */
#include "onnx/model/graph_view.h"

#include "onnx/model/captures.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/proto/wire.h"

struct graph_view graph_view_of(struct model *model)
{
    return (struct graph_view){.graph = model};
}

static int open_view_graph(const struct graph_view *outer, struct span graph, struct graph_view *ret, struct error *err)
{
    struct graph_view view = {.outer = outer, .depth = outer->depth + 1};
    int rc;

    if (view.depth > BODY_MAX_DEPTH)
        return error_set(err, ERR_CORRUPT, "subgraphs are nested more than %d deep", BODY_MAX_DEPTH);
    rc = model_parse_graph(outer->graph, graph, &view.graph, err);
    if (rc == 0)
        *ret = view;
    return rc;
}

int graph_view_open_body(const struct graph_view *outer, struct span body, struct graph_view *ret, struct error *err)
{
    return open_view_graph(outer, body, ret, err);
}

/* Inputs and outputs of a function are names; a graph requires a ValueInfoProto. */
static void add_interface_name(struct string_builder *out, uint32_t number, struct text name)
{
    SCOPED_STRING(info);

    wire_write_text(&info, VALUE_INFO_NAME, name);
    wire_write_bytes(out, number, info.data, info.size);
}

void graph_add_function_field(struct string_builder *out, const struct wire_field *field)
{
    if (field->type != WIRE_BYTES)
        return;
    if (field->number == FUNCTION_NODE)
        wire_write_bytes(out, GRAPH_NODE, field->bytes.data, field->bytes.size);
    else if (field->number == FUNCTION_VALUE_INFO)
        wire_write_bytes(out, GRAPH_VALUE_INFO, field->bytes.data, field->bytes.size);
    else if (field->number == FUNCTION_INPUT)
        add_interface_name(out, GRAPH_INPUT, span_text(field->bytes));
    else if (field->number == FUNCTION_OUTPUT)
        add_interface_name(out, GRAPH_OUTPUT, span_text(field->bytes));
}

int graph_view_open_function(const struct graph_view *main, struct span function, struct function_view *ret,
                             struct error *err)
{
    struct wire_reader reader = wire_reader_of(function);
    struct wire_field field;
    struct function_view view = {.name = {"", 0}, .domain = {"", 0}};
    struct string_builder graph;
    struct span copy;
    int rc;

    string_init(&graph);
    while (wire_next(&reader, &field)) {
        if (field.type != WIRE_BYTES)
            continue;
        if (field.number == FUNCTION_NAME)
            view.name = span_text(field.bytes);
        else if (field.number == FUNCTION_DOMAIN)
            view.domain = span_text(field.bytes);
        else
            graph_add_function_field(&graph, &field);
    }
    copy = wire_keep(&main->graph->arena, &graph);
    string_release(&graph);
    if (reader.damaged)
        return wire_damage(&reader, main->graph->file, "a function", err);
    rc = open_view_graph(main, copy, &view.view, err);
    if (rc < 0)
        return rc;
    view.view.outer = NULL; /* a function cannot capture tensors */
    *ret = view;
    return 0;
}

void graph_view_close(struct graph_view *view)
{
    model_free(view->graph);
}

/* The dimensions of a SparseTensorProto, whose field numbers differ from a TensorProto's. */
static void read_sparse_shape(struct span sparse, struct value_type *type)
{
    struct wire_reader reader = wire_reader_of(sparse);
    struct wire_field field;

    type->shape.rank = 0;
    while (wire_next(&reader, &field)) {
        struct span cursor = field.bytes;
        uint64_t dimension = field.value;
        bool damaged = false;

        if (field.number != SPARSE_TENSOR_DIMS)
            continue;
        if (field.type == WIRE_VARINT && type->shape.rank < TENSOR_MAX_RANK)
            type->shape.dims[type->shape.rank++] = (int64_t)dimension;
        while (field.type == WIRE_BYTES && type->shape.rank < TENSOR_MAX_RANK &&
               wire_next_packed_varint(&cursor, &dimension, &damaged))
            type->shape.dims[type->shape.rank++] = (int64_t)dimension;
    }
}

void graph_view_initializer_type(const struct initializer *initializer, struct value_type *ret)
{
    struct tensor_header header;

    *ret = (struct value_type){.element = DATA_UNDEFINED};
    struct text values = wire_find_text(initializer->message, SPARSE_TENSOR_VALUES);
    struct span tensor = {(const uint8_t *)values.data, values.size};

    if (tensor_proto_read(initializer->sparse ? tensor : initializer->message, &header, NULL) < 0)
        return;
    ret->element = header.type;
    ret->has_shape = true;
    ret->shape = header.shape;
    if (initializer->sparse)
        read_sparse_shape(initializer->message, ret);
}

bool graph_view_describe(const struct graph_view *view, uint32_t value, struct value_type *ret)
{
    for (;;) {
        const struct value *known = &view->graph->values.items[value];

        if (known->initializer != INITIALIZER_NONE) {
            graph_view_initializer_type(&view->graph->initializers.items[known->initializer], ret);
            return true;
        }
        value_info_decode(known->info, ret);
        if (known->info.size > 0 || known->producer != NODE_NONE)
            return false;
        do { /* search the enclosing graphs for the name */
            view = view->outer;
            if (view == NULL)
                return false;
            value = model_find_value(view->graph, known->name);
        } while (value == VALUE_NONE);
    }
}
