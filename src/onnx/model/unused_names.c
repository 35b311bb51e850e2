/* onnx/model/unused_names.c: see unused_names.h. */
#include "onnx/model/unused_names.h"

#include "onnx/model/captures.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/wire.h"

/* Nesting levels of messages: three for each body. */
#define MAX_DEPTH (3 * BODY_MAX_DEPTH)

/* The fields of a message with names, and its nested messages. */
struct name_source {
    uint32_t names[3];
    struct {
        uint32_t number;
        const struct name_source *source;
    } inner[6];
};

static const struct name_source node_source;

static const struct name_source tensor_source = {.names = {TENSOR_NAME}};
static const struct name_source value_info_source = {.names = {VALUE_INFO_NAME}};
static const struct name_source sparse_source = {.inner = {{SPARSE_TENSOR_VALUES, &tensor_source}}};
static const struct name_source graph_source = {.inner = {{GRAPH_NODE, &node_source},
                                                          {GRAPH_INPUT, &value_info_source},
                                                          {GRAPH_OUTPUT, &value_info_source},
                                                          {GRAPH_INITIALIZER, &tensor_source},
                                                          {GRAPH_SPARSE_INITIALIZER, &sparse_source}}};
static const struct name_source attribute_source = {
    .inner = {{ATTRIBUTE_GRAPH, &graph_source}, {ATTRIBUTE_GRAPHS, &graph_source}}};
static const struct name_source node_source = {.names = {NODE_NAME, NODE_OUTPUT, NODE_INPUT},
                                               .inner = {{NODE_ATTRIBUTE, &attribute_source}}};

static void gather_used_names(struct unused_names *names, const struct name_source *source, struct span message,
                              unsigned depth)
{
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;

    while (depth < MAX_DEPTH && wire_next(&reader, &field)) {
        if (field.type != WIRE_BYTES)
            continue;
        for (size_t i = 0; i < 3 && source->names[i] != 0; i++)
            if (field.number == source->names[i])
                name_map_add(&names->taken, span_text(field.bytes), 1);
        for (size_t i = 0; i < 6 && source->inner[i].number != 0; i++)
            if (field.number == source->inner[i].number)
                gather_used_names(names, source->inner[i].source, field.bytes, depth + 1);
    }
}

void unused_names_init(struct unused_names *names, const struct model *model, struct arena *arena)
{
    names->arena = arena;
    name_map_init(&names->taken);
    for (size_t i = 0; i < model->values.count; i++)
        name_map_add(&names->taken, model->values.items[i].name, 1);
    for (size_t i = 0; i < model->nodes.count; i++) {
        name_map_add(&names->taken, model->nodes.items[i].name, 1);
        if (model->nodes.items[i].has_subgraphs)
            gather_used_names(names, &node_source, model->nodes.items[i].message, 0);
    }
}

void unused_names_release(struct unused_names *names)
{
    name_map_release(&names->taken);
}

struct text unused_names_make(struct unused_names *names, struct text base, const char *suffix)
{
    struct text name = text_of(arena_printf(names->arena, TEXT_FORMAT "%s", TEXT_ARGS(base), suffix));

    for (unsigned i = 1; name_map_find(&names->taken, name) != NAME_MAP_NONE; i++)
        name = text_of(arena_printf(names->arena, TEXT_FORMAT "%s_%u", TEXT_ARGS(base), suffix, i));
    name_map_add(&names->taken, name, 1);
    return name;
}
