/* engine/tactic/onnxrt_layer.c: see onnxrt_layer.h. */
#include "engine/tactic/onnxrt_layer.h"

#include <stdlib.h>

#include "base/memory.h"
#include "onnx/model/subgraph.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/proto/value_info.h"
#include "onnx/proto/wire.h"

/* Constants up to this size are written into the model, where shape inference sees them (bytes). */
#define INLINE_LIMIT 1024

/* From this version on, initializers need not be listed among the inputs, and then are constants. */
#define IR_VERSION_OF_CONSTANTS 4

void onnxrt_layer_constant(const struct kernel_input *input, struct tensor *ret)
{
    size_t elements = shape_elements(&input->shape);
    size_t size = input->type == DATA_STRING ? elements * sizeof(struct text) : tensor_bytes(input->type, elements);

    tensor_borrow(input->type, &input->shape, input->constant, size, ret);
}

static const char *copy_value_name(struct arena *arena, struct text name)
{
    return arena_printf(arena, TEXT_FORMAT, TEXT_ARGS(name));
}

static void add_message_field(struct string_builder *out, uint32_t number, const struct string_builder *message)
{
    wire_write_bytes(out, number, message->data, message->size);
}

static void add_external_entry(struct string_builder *out, const char *key, const char *value)
{
    SCOPED_STRING(entry);

    wire_write_text(&entry, ENTRY_KEY, text_of(key));
    wire_write_text(&entry, ENTRY_VALUE, text_of(value));
    add_message_field(out, TENSOR_EXTERNAL_DATA, &entry);
}

static bool tensor_is_inline(const struct tensor *tensor)
{
    return tensor->type == DATA_STRING || tensor->size <= INLINE_LIMIT;
}

/* The data of a large one are announced as being elsewhere, and the session gets them as a value. */
static void add_layer_constant(struct onnxrt_layer *layer, struct string_builder *graph, struct text name,
                               size_t position, const struct tensor *tensor)
{
    SCOPED_STRING(message);

    if (tensor_is_inline(tensor)) {
        tensor_proto_write(&message, name, tensor);
    } else {
        tensor_proto_write_header(&message, name, tensor);
        add_external_entry(&message, "location", "constants");
        wire_write_integer(&message, TENSOR_DATA_LOCATION, DATA_LOCATION_EXTERNAL);
        layer->constant_names[layer->constant_count] = copy_value_name(&layer->arena, name);
        layer->constant_positions[layer->constant_count++] = position;
    }
    add_message_field(graph, GRAPH_INITIALIZER, &message);
}

static void add_layer_input(struct onnxrt_layer *layer, struct string_builder *graph, struct text name, size_t position,
                            const struct kernel_input *input, bool has_shape)
{
    struct value_type type = {.element = input->type, .has_shape = has_shape, .shape = input->shape};
    struct span info = value_info_make(&layer->arena, name, &type);

    wire_write_bytes(graph, GRAPH_INPUT, info.data, info.size);
    layer->input_names[layer->input_count] = copy_value_name(&layer->arena, name);
    layer->input_positions[layer->input_count++] = position;
}

/* Of a tensor, the element type is said, and the shape left to the runtime. */
static void add_layer_output(struct onnxrt_layer *layer, struct string_builder *graph, const struct value *value,
                             size_t position)
{
    struct value_type type = {0};
    struct span info = value->info;

    value_info_decode(info, &type);
    if (!type.not_a_tensor) {
        type.has_shape = false;
        info = value_info_make(&layer->arena, value->name, type.element == DATA_UNDEFINED ? NULL : &type);
    }
    wire_write_bytes(graph, GRAPH_OUTPUT, info.data, info.size);
    layer->output_names[layer->output_count] = copy_value_name(&layer->arena, value->name);
    layer->output_positions[layer->output_count++] = position;
}

/* A tensor may stand at several places among the inputs: it is one input of the model. */
static bool value_occurs_before(const struct value_list *list, size_t position)
{
    for (size_t i = 0; i < position; i++)
        if (list->items[i] == list->items[position])
            return true;
    return false;
}

static bool layer_has_bodies(const struct kernel_request *request)
{
    const struct layer *layer = request->layer;

    for (size_t i = 0; i < layer->nodes.count; i++)
        if (request->network->model->nodes.items[layer->nodes.items[i]].has_subgraphs)
            return true;
    return false;
}

/* What fused operations read that is no operand of the layer: the bounds of a Clip, the numbers that a GELU is made of.
 * They are small, and as the model has them: what the layer does with them is part of the operation. */
static void add_fused_constants(const struct kernel_request *request, struct string_builder *graph)
{
    const struct model *model = request->network->model;
    const struct layer *layer = request->layer;
    struct value_list added = {0};

    for (size_t i = 0; layer->fused.count > 0 && i < layer->nodes.count; i++) {
        struct edge_range inputs = model->nodes.items[layer->nodes.items[i]].inputs;

        for (size_t k = 0; k < inputs.count; k++) {
            uint32_t value = model_edge(model, inputs, k);
            const struct value *v = value != VALUE_NONE ? &model->values.items[value] : NULL;
            struct span message;

            if (!v || v->initializer == INITIALIZER_NONE || v->producer != NODE_NONE ||
                value_list_has(&layer->inputs, value) || value_list_has(&added, value))
                continue;
            message = model->initializers.items[v->initializer].message;
            wire_write_bytes(graph, GRAPH_INITIALIZER, message.data, message.size);
            value_list_add(&added, value);
        }
    }
    free(added.items);
}

/* The branch of an If that is not taken need not fit the shapes that come along. ONNX Runtime, which infers the types
 * of both when it loads the layer, must not know these then. */
static void add_layer_graph(struct onnxrt_layer *layer, const struct kernel_request *request,
                            struct string_builder *graph)
{
    const struct model *model = request->network->model;
    const struct value_list *inputs = &request->layer->inputs, *outputs = &request->layer->outputs;
    bool shapes_are_said = !layer_has_bodies(request);

    wire_write_text(graph, GRAPH_NAME, text_of("layer"));
    for (size_t i = 0; i < request->layer->nodes.count; i++) {
        struct span field = model->nodes.items[request->layer->nodes.items[i]].field;

        string_add_bytes(graph, field.data, field.size);
    }
    for (size_t i = 0; i < inputs->count; i++) {
        const struct kernel_input *input = &request->inputs[i];
        struct tensor constant;
        struct text name;

        if (!input->present || inputs->items[i] == VALUE_NONE || value_occurs_before(inputs, i))
            continue;
        name = model->values.items[inputs->items[i]].name;
        if (input->constant) {
            onnxrt_layer_constant(input, &constant);
            add_layer_constant(layer, graph, name, i, &constant);
        } else {
            add_layer_input(layer, graph, name, i, input, shapes_are_said);
        }
    }
    add_fused_constants(request, graph);
    for (size_t i = 0; i < outputs->count; i++)
        if (outputs->items[i] != VALUE_NONE)
            add_layer_output(layer, graph, &model->values.items[outputs->items[i]], i);
}

static void add_span_bytes(struct string_builder *out, const struct span_list *spans)
{
    for (size_t i = 0; i < spans->count; i++)
        string_add_bytes(out, spans->items[i].data, spans->items[i].size);
}

void onnxrt_layer_init(struct onnxrt_layer *layer, const struct kernel_request *request)
{
    const struct model *model = request->network->model;
    size_t inputs = request->layer->inputs.count, outputs = request->layer->outputs.count;
    SCOPED_STRING(graph);

    *layer = (struct onnxrt_layer){0};
    arena_init(&layer->arena);
    string_init(&layer->model);
    layer->input_names = memory_alloc_zero(inputs, sizeof(*layer->input_names));
    layer->input_positions = memory_alloc_zero(inputs, sizeof(*layer->input_positions));
    layer->constant_names = memory_alloc_zero(inputs, sizeof(*layer->constant_names));
    layer->constant_positions = memory_alloc_zero(inputs, sizeof(*layer->constant_positions));
    layer->output_names = memory_alloc_zero(outputs, sizeof(*layer->output_names));
    layer->output_positions = memory_alloc_zero(outputs, sizeof(*layer->output_positions));
    add_layer_graph(layer, request, &graph);

    /* Operator sets, functions and what else concerns the whole model are kept. */
    add_span_bytes(&layer->model, &model->fields_before_graph);
    add_message_field(&layer->model, MODEL_GRAPH, &graph);
    add_span_bytes(&layer->model, &model->fields_after_graph);
    if (model->ir_version < IR_VERSION_OF_CONSTANTS) /* the last one counts */
        wire_write_integer(&layer->model, MODEL_IR_VERSION, IR_VERSION_OF_CONSTANTS);
}

void onnxrt_layer_release(struct onnxrt_layer *layer)
{
    string_release(&layer->model);
    arena_release(&layer->arena);
    free(layer->input_names);
    free(layer->input_positions);
    free(layer->constant_names);
    free(layer->constant_positions);
    free(layer->output_names);
    free(layer->output_positions);
    *layer = (struct onnxrt_layer){0};
}
