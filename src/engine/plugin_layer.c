/* engine/plugin_layer.c: see plugin_layer.h. */
#include "engine/plugin_layer.h"

#include <stdlib.h>
#include <string.h>

#include "backend/onnxrt_library.h"
#include "base/memory.h"
#include "onnx/attribute.h"
#include "onnx/fields.h"
#include "onnx/tensor_proto.h"

/* As the widest element type needs it (bytes). */
#define ALIGNMENT 8

struct attribute_list {
    struct polygraphy_attribute *items;
    size_t count, capacity;
};

bool plugin_layer_is_offered(const struct kernel_request *request)
{
    const struct layer *layer = request->layer;

    if (layer->nodes.count != 1 || request->network->model->nodes.items[layer->nodes.items[0]].has_subgraphs)
        return false;
    for (size_t i = 0; i < layer->inputs.count; i++)
        if (request->inputs[i].present &&
            (request->inputs[i].type == DATA_STRING || request->inputs[i].shape.rank > POLYGRAPHY_MAX_RANK))
            return false;
    return true;
}

static void read_floats(struct arena *arena, const struct attribute *from, struct polygraphy_attribute *ret)
{
    struct attribute_walk walk = attribute_walk(from);
    float *values, value;

    while (attribute_next_float(&walk, &value))
        ret->count++;
    values = arena_alloc(arena, (ret->count + 1) * sizeof(*values));
    walk = attribute_walk(from);
    for (size_t i = 0; i < ret->count; i++)
        attribute_next_float(&walk, &values[i]);
    ret->floats = values;
}

static void read_integers(struct arena *arena, const struct attribute *from, struct polygraphy_attribute *ret)
{
    struct attribute_walk walk = attribute_walk(from);
    int64_t *values, value;

    while (attribute_next_integer(&walk, &value))
        ret->count++;
    values = arena_alloc(arena, (ret->count + 1) * sizeof(*values));
    walk = attribute_walk(from);
    for (size_t i = 0; i < ret->count; i++)
        attribute_next_integer(&walk, &values[i]);
    ret->integers = values;
}

static void read_strings(struct arena *arena, const struct attribute *from, struct polygraphy_attribute *ret)
{
    struct attribute_walk walk = attribute_walk(from);
    const char **values;
    struct span value;

    while (attribute_next_bytes(&walk, &value))
        ret->count++;
    values = arena_alloc(arena, (ret->count + 1) * sizeof(*values));
    walk = attribute_walk(from);
    for (size_t i = 0; i < ret->count && attribute_next_bytes(&walk, &value); i++)
        values[i] = arena_text(arena, span_text(value));
    ret->strings = values;
}

/* Makes `tensor` one whose data are aligned, in memory that the layer keeps. */
static int keep_tensor(struct plugin_layer *layer, struct tensor *tensor, struct error *err)
{
    struct tensor copy = {0};
    int rc;

    if ((uintptr_t)tensor->data % ALIGNMENT != 0) {
        rc = tensor_copy(tensor, &copy, err);
        tensor_release(tensor);
        if (rc < 0)
            return rc;
        *tensor = copy;
    }
    *VECTOR_APPEND(&layer->tensors) = *tensor;
    return 0;
}

static int read_tensor(struct plugin_layer *layer, const struct attribute *from, struct polygraphy_attribute *ret,
                       struct error *err)
{
    struct tensor tensor = {0};
    int rc;

    rc = tensor_proto_decode(from->bytes, &tensor, err);
    if (rc == 0 && tensor.type == DATA_STRING) {
        tensor_release(&tensor);
        rc = error_set(err, ERR_UNSUPPORTED, "attribute '" TEXT_FORMAT "' holds strings in a tensor",
                       TEXT_ARGS(from->name));
    }
    if (rc == 0)
        rc = keep_tensor(layer, &tensor, err);
    if (rc < 0)
        return rc;
    ret->count = 1;
    ret->data_type = (int32_t)tensor.type;
    ret->rank = (uint32_t)tensor.shape.rank;
    ret->dims = arena_copy(&layer->arena, tensor.shape.dims, tensor.shape.rank * sizeof(*tensor.shape.dims));
    ret->tensor = tensor.data;
    return 0;
}

static int read_attribute(struct plugin_layer *layer, struct span message, struct polygraphy_attribute *ret,
                          struct error *err)
{
    struct arena *arena = &layer->arena;
    struct attribute from;

    attribute_read(message, &from);
    *ret = (struct polygraphy_attribute){.name = arena_text(arena, from.name), .kind = (int32_t)from.type};
    switch (from.type) {
    case ATTRIBUTE_ONE_FLOAT:
        ret->count = 1;
        ret->floats = arena_copy(arena, &from.number, sizeof(from.number));
        return 0;
    case ATTRIBUTE_ONE_INTEGER:
        ret->count = 1;
        ret->integers = arena_copy(arena, &from.integer, sizeof(from.integer));
        return 0;
    case ATTRIBUTE_ONE_STRING: {
        const char *text = arena_text(arena, span_text(from.bytes));

        ret->count = 1;
        ret->strings = arena_copy(arena, &text, sizeof(text));
        return 0;
    }
    case ATTRIBUTE_MANY_FLOATS:
        read_floats(arena, &from, ret);
        return 0;
    case ATTRIBUTE_MANY_INTEGERS:
        read_integers(arena, &from, ret);
        return 0;
    case ATTRIBUTE_MANY_STRINGS:
        read_strings(arena, &from, ret);
        return 0;
    case ATTRIBUTE_ONE_TENSOR:
        return read_tensor(layer, &from, ret, err);
    default:
        return error_set(err, ERR_UNSUPPORTED, "attribute '" TEXT_FORMAT "' is of a kind that plug-ins do not know",
                         TEXT_ARGS(from.name));
    }
}

static int read_attributes(struct plugin_layer *layer, const struct node *node, struct error *err)
{
    struct wire_reader reader = wire_reader_of(node->message);
    struct attribute_list list = {0};
    struct wire_field field;
    int rc = 0;

    while (rc == 0 && wire_next(&reader, &field)) {
        struct polygraphy_attribute attribute;

        if (field.number != NODE_ATTRIBUTE || field.type != WIRE_BYTES)
            continue;
        rc = read_attribute(layer, field.bytes, &attribute, err);
        if (rc == 0)
            *VECTOR_APPEND(&list) = attribute;
    }
    layer->layer.attributes = arena_copy(&layer->arena, list.items, list.count * sizeof(*list.items));
    layer->layer.attribute_count = (uint32_t)list.count;
    free(list.items);
    return rc;
}

static int read_inputs(struct plugin_layer *layer, const struct kernel_request *request, struct error *err)
{
    size_t count = request->layer->inputs.count;
    struct polygraphy_input *inputs = arena_alloc_zero(&layer->arena, count, sizeof(*inputs));

    layer->layer.inputs = inputs;
    layer->layer.input_count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        const struct kernel_input *from = &request->inputs[i];
        struct tensor constant;
        int rc;

        if (!from->present)
            continue;
        inputs[i] = (struct polygraphy_input){
            .present = 1,
            .data_type = (int32_t)from->type,
            .rank = (uint32_t)from->shape.rank,
            .dims = arena_copy(&layer->arena, from->shape.dims, from->shape.rank * sizeof(*from->shape.dims)),
        };
        if (!from->constant)
            continue;
        tensor_borrow(from->type, &from->shape, from->constant, tensor_bytes(from->type, shape_elements(&from->shape)),
                      &constant);
        rc = keep_tensor(layer, &constant, err);
        if (rc < 0)
            return rc;
        inputs[i].constant = constant.data;
    }
    return 0;
}

static int64_t opset_of(const struct model *model, struct text domain)
{
    for (size_t i = 0; i < model->opsets.count; i++)
        if (text_equal(model->opsets.items[i].domain, domain))
            return model->opsets.items[i].version;
    return 0;
}

int plugin_layer_init(struct plugin_layer *layer, const struct kernel_request *request, struct error *err)
{
    const struct model *model = request->network->model;
    const struct node *node = &model->nodes.items[request->layer->nodes.items[0]];
    int rc;

    *layer = (struct plugin_layer){0};
    arena_init(&layer->arena);
    layer->layer = (struct polygraphy_layer){
        .struct_size = sizeof(layer->layer),
        .threads = request->threads > 0 ? (uint32_t)request->threads : (uint32_t)onnxrt_usable_processors(),
        .name = arena_strdup(&layer->arena, request->layer->name),
        .op_type = arena_text(&layer->arena, node->op_type),
        .domain = arena_text(&layer->arena, node->domain),
        .opset = opset_of(model, node->domain),
        .output_count = (uint32_t)request->layer->outputs.count,
    };
    rc = read_inputs(layer, request, err);
    if (rc == 0)
        rc = read_attributes(layer, node, err);
    if (rc < 0)
        plugin_layer_release(layer);
    return rc;
}

void plugin_layer_release(struct plugin_layer *layer)
{
    for (size_t i = 0; i < layer->tensors.count; i++)
        tensor_release(&layer->tensors.items[i]);
    free(layer->tensors.items);
    arena_release(&layer->arena);
    *layer = (struct plugin_layer){0};
}
