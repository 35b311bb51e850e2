/* onnx/model/scope.c: see scope.h. */
#include "onnx/model/scope.h"

#include "onnx/proto/fields.h"
#include "onnx/proto/wire.h"

/* Bodies inside bodies; real models have two or three levels. */
#define MAX_DEPTH 64

/* Defines the names in the fields `number` of a message: of a node's outputs, a ValueInfoProto, a TensorProto. */
static void define(struct scope *scope, struct span message, uint32_t number)
{
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;

    while (wire_next(&reader, &field))
        if (field.number == number && field.type == WIRE_BYTES)
            name_map_add(&scope->defined, span_text(field.bytes), 1);
}

static void define_sparse(struct scope *scope, struct span message)
{
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;

    while (wire_next(&reader, &field))
        if (field.number == SPARSE_TENSOR_VALUES && field.type == WIRE_BYTES)
            define(scope, field.bytes, TENSOR_NAME);
}

int scope_enter(struct scope *scope, struct span body, const struct scope *outer, struct error *err)
{
    struct wire_reader reader = wire_reader_of(body);
    struct wire_field field;

    scope->outer = outer;
    scope->depth = outer != NULL ? outer->depth + 1 : 1;
    if (scope->depth > MAX_DEPTH)
        return error_set(err, ERR_CORRUPT, "subgraphs are nested more than %d deep", MAX_DEPTH);
    name_map_init(&scope->defined);
    while (wire_next(&reader, &field)) {
        if (field.type != WIRE_BYTES)
            continue;
        if (field.number == GRAPH_NODE)
            define(scope, field.bytes, NODE_OUTPUT);
        else if (field.number == GRAPH_INPUT)
            define(scope, field.bytes, VALUE_INFO_NAME);
        else if (field.number == GRAPH_INITIALIZER)
            define(scope, field.bytes, TENSOR_NAME);
        else if (field.number == GRAPH_SPARSE_INITIALIZER)
            define_sparse(scope, field.bytes);
    }
    return 0;
}

void scope_leave(struct scope *scope)
{
    name_map_release(&scope->defined);
}

bool scope_defines(const struct scope *scope, struct text name)
{
    for (; scope != NULL; scope = scope->outer)
        if (name_map_find(&scope->defined, name) != NAME_MAP_NONE)
            return true;
    return false;
}
