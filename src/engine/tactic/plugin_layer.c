/* engine/tactic/plugin_layer.c: see plugin.h. */
#include "engine/tactic/plugin.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/system.h"
#include "onnx/proto/attribute.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/tensor_proto.h"

/* Alignment in bytes for the widest element type. */
#define ALIGNMENT 8

struct attribute_list {
    struct polygraphy_attribute *items;
    size_t count, capacity;
};

const char *plugin_layer_obstacle(const struct kernel_request *request)
{
    const struct layer *layer = request->layer;

    if (layer->nodes.count > 1 && layer->fused.count == 0)
        return "has several nodes, which exchange sequences";
    if (request->network->model->nodes.items[layer->nodes.items[0]].has_subgraphs)
        return "has a body";
    for (size_t i = 0; i < layer->inputs.count; i++) {
        if (request->inputs[i].present && request->inputs[i].type == DATA_STRING)
            return "reads strings";
        if (request->inputs[i].present && request->inputs[i].shape.rank > POLYGRAPHY_MAX_RANK)
            return "reads a tensor of too many dimensions";
    }
    return NULL;
}

/* The number of inputs of a layer's first node; operands of fused operations follow. */
static size_t count_own_inputs(const struct layer *layer)
{
    size_t count = layer->inputs.count;

    for (size_t i = 0; i < layer->fused.count; i++)
        if (layer->fused.items[i].kind == FUSED_ADD && layer->fused.items[i].operand < count)
            count = layer->fused.items[i].operand;
    return count;
}

static void read_attribute_floats(struct arena *arena, const struct attribute *from, struct polygraphy_attribute *ret)
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

static void read_attribute_integers(struct arena *arena, const struct attribute *from, struct polygraphy_attribute *ret)
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

static void read_attribute_strings(struct arena *arena, const struct attribute *from, struct polygraphy_attribute *ret)
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

/* Stores `tensor` with aligned data, owned by the layer. */
static int keep_attribute_tensor(struct plugin_layer *layer, struct tensor *tensor, struct error *err)
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

static int read_attribute_tensor(struct plugin_layer *layer, const struct attribute *from,
                                 struct polygraphy_attribute *ret, struct error *err)
{
    struct tensor tensor = {0};
    int rc = tensor_proto_decode(from->bytes, &tensor, err);

    if (rc < 0)
        return rc;
    if (tensor.type == DATA_STRING) {
        tensor_release(&tensor);
        return error_set(err, ERR_UNSUPPORTED, "attribute '" TEXT_FORMAT "' is a string tensor", TEXT_ARGS(from->name));
    }
    rc = keep_attribute_tensor(layer, &tensor, err);
    if (rc < 0)
        return rc;
    ret->count = 1;
    ret->data_type = (int32_t)tensor.type;
    ret->rank = (uint32_t)tensor.shape.rank;
    ret->dims = arena_copy(&layer->arena, tensor.shape.dims, tensor.shape.rank * sizeof(*tensor.shape.dims));
    ret->tensor = tensor.data;
    return 0;
}

static int read_plugin_attribute(struct plugin_layer *layer, struct span message, struct polygraphy_attribute *ret,
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
        read_attribute_floats(arena, &from, ret);
        return 0;
    case ATTRIBUTE_MANY_INTEGERS:
        read_attribute_integers(arena, &from, ret);
        return 0;
    case ATTRIBUTE_MANY_STRINGS:
        read_attribute_strings(arena, &from, ret);
        return 0;
    case ATTRIBUTE_ONE_TENSOR:
        return read_attribute_tensor(layer, &from, ret, err);
    default:
        return error_set(err, ERR_UNSUPPORTED, "attribute '" TEXT_FORMAT "' is of a kind that plug-ins do not support",
                         TEXT_ARGS(from.name));
    }
}

static int read_plugin_attributes(struct plugin_layer *layer, const struct node *node, struct error *err)
{
    struct wire_reader reader = wire_reader_of(node->message);
    struct attribute_list list SCOPED_ITEMS = {0};
    struct wire_field field;
    int rc = 0;

    while (rc == 0 && wire_next(&reader, &field)) {
        struct polygraphy_attribute attribute;

        if (field.number != NODE_ATTRIBUTE || field.type != WIRE_BYTES)
            continue;
        rc = read_plugin_attribute(layer, field.bytes, &attribute, err);
        if (rc == 0)
            *VECTOR_APPEND(&list) = attribute;
    }
    layer->layer.attributes = arena_copy(&layer->arena, list.items, list.count * sizeof(*list.items));
    layer->layer.attribute_count = (uint32_t)list.count;
    return rc;
}

static int32_t plugin_fused_kind(const struct fused_operation *operation)
{
    static const int32_t kinds[] = {
        [ACTIVATION_RELU] = POLYGRAPHY_FUSED_RELU,     [ACTIVATION_LEAKY_RELU] = POLYGRAPHY_FUSED_LEAKY_RELU,
        [ACTIVATION_CLIP] = POLYGRAPHY_FUSED_CLIP,     [ACTIVATION_SIGMOID] = POLYGRAPHY_FUSED_SIGMOID,
        [ACTIVATION_TANH] = POLYGRAPHY_FUSED_TANH,     [ACTIVATION_ELU] = POLYGRAPHY_FUSED_ELU,
        [ACTIVATION_SWISH] = POLYGRAPHY_FUSED_SWISH,   [ACTIVATION_HARD_SWISH] = POLYGRAPHY_FUSED_HARD_SWISH,
        [ACTIVATION_GELU_ERF] = POLYGRAPHY_FUSED_GELU,
    };

    return operation->kind == FUSED_ADD ? POLYGRAPHY_FUSED_ADD : kinds[operation->activation];
}

static void read_fused_operations(struct plugin_layer *layer, const struct layer *from)
{
    struct polygraphy_fused *fused = arena_alloc_zero(&layer->arena, from->fused.count, sizeof(*fused));

    for (size_t i = 0; i < from->fused.count; i++) {
        const struct fused_operation *operation = &from->fused.items[i];
        bool adds = operation->kind == FUSED_ADD;

        fused[i] = (struct polygraphy_fused){.kind = plugin_fused_kind(operation),
                                             .operand = adds ? (uint32_t)operation->operand : 0,
                                             .alpha = adds ? 0 : operation->alpha,
                                             .beta = adds ? 0 : operation->beta};
    }
    layer->layer.fused = fused;
    layer->layer.fused_count = (uint32_t)from->fused.count;
}

static int read_plugin_inputs(struct plugin_layer *layer, const struct kernel_request *request, size_t count,
                              struct error *err)
{
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
        rc = keep_attribute_tensor(layer, &constant, err);
        if (rc < 0)
            return rc;
        inputs[i].constant = constant.data;
    }
    return 0;
}

static int64_t opset_of_layer(const struct model *model, struct text domain)
{
    for (size_t i = 0; i < model->opsets.count; i++)
        if (text_equal(model->opsets.items[i].domain, domain))
            return model->opsets.items[i].version;
    return 0;
}

int plugin_layer_init(struct plugin_layer *layer, const struct kernel_request *request, bool with_fused,
                      struct error *err)
{
    const struct model *model = request->network->model;
    const struct node *node = &model->nodes.items[request->layer->nodes.items[0]];
    int rc;

    *layer = (struct plugin_layer){0};
    arena_init(&layer->arena);
    layer->layer = (struct polygraphy_layer){
        .struct_size = sizeof(layer->layer),
        .threads = request->threads > 0 ? (uint32_t)request->threads : (uint32_t)system_processors(),
        .name = arena_strdup(&layer->arena, request->layer->name),
        .op_type = arena_text(&layer->arena, node->op_type),
        .domain = arena_text(&layer->arena, node->domain),
        .opset = opset_of_layer(model, node->domain),
        .output_count = (uint32_t)request->layer->outputs.count,
    };
    if (with_fused)
        read_fused_operations(layer, request->layer);
    rc = read_plugin_inputs(layer, request,
                            with_fused ? request->layer->inputs.count : count_own_inputs(request->layer), err);
    if (rc == 0)
        rc = read_plugin_attributes(layer, node, err);
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
