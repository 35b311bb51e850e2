/* engine/build/timing_cache_key.c: what a time depends on, as a hash. */
#include <pthread.h>
#include <stdlib.h>

#include "backend/onnxrt/library.h"
#include "base/memory.h"
#include "base/system.h"
#include "engine/build/timing_cache.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/wire.h"

/* Constants of integers up to here are hashed with their values: axes, shapes, numbers of steps. */
#define SMALL_CONSTANT 64

static struct hash processor_hash;
static pthread_once_t processor_once = PTHREAD_ONCE_INIT;

static void hash_processor(void)
{
    SCOPED_STRING(name);

    system_add_processor_name(&name);
    processor_hash = hash_bytes(name.data, name.size);
}

static void add_key_number(struct string_builder *out, int64_t number)
{
    string_add_bytes(out, &number, sizeof(number));
}

/* With its length: what follows cannot be mistaken for a part of it. */
static void add_key_text(struct string_builder *out, struct text text)
{
    add_key_number(out, (int64_t)text.size);
    string_add_text(out, text);
}

/* Tensors inside a layer are numbered as they come: names do not matter, connections do. */
static void add_key_edges(struct string_builder *out, const struct model *model, struct edge_range range,
                          struct value_list *met)
{
    add_key_number(out, range.count);
    for (size_t i = 0; i < range.count; i++) {
        uint32_t value = model_edge(model, range, i);
        size_t number = 0;

        while (number < met->count && met->items[number] != value)
            number++;
        if (number == met->count && value != VALUE_NONE)
            *VECTOR_APPEND(met) = value;
        add_key_number(out, value == VALUE_NONE ? -1 : (int64_t)number);
    }
}

static void add_key_node(struct string_builder *out, const struct model *model, uint32_t number, struct value_list *met)
{
    const struct node *node = &model->nodes.items[number];
    struct wire_reader reader = wire_reader_of(node->message);
    struct wire_field field;

    add_key_text(out, node->domain);
    add_key_text(out, node->op_type);
    add_key_edges(out, model, node->inputs, met);
    add_key_edges(out, model, node->outputs, met);
    add_key_edges(out, model, node->captures, met);
    while (wire_next(&reader, &field))
        if (field.number == NODE_ATTRIBUTE && field.type == WIRE_BYTES)
            add_key_text(out, span_text(field.bytes));
}

static void add_key_input(struct string_builder *out, const struct kernel_input *input)
{
    size_t elements = input->present ? shape_elements(&input->shape) : 0;

    add_key_number(out, input->present);
    if (!input->present)
        return;
    add_key_number(out, input->type);
    add_key_number(out, (int64_t)input->shape.rank);
    for (size_t i = 0; i < input->shape.rank; i++)
        add_key_number(out, input->shape.dims[i]);
    add_key_text(out, layout_is_row_major(&input->layout) ? (struct text){"", 0} : text_of(input->layout.text));
    add_key_number(out, input->constant != NULL);
    if (input->constant && data_type_is_integer(input->type) && elements <= SMALL_CONSTANT)
        add_key_text(out, (struct text){input->constant, tensor_bytes(input->type, elements)});
}

static void add_key_layer(struct string_builder *out, const struct kernel_request *request)
{
    const struct layer *layer = request->layer;
    const struct model *model = request->network->model;
    struct value_list met = {0};

    add_key_number(out, layer->kind);
    add_key_number(out, model_opset(model));
    for (size_t i = 0; i < layer->nodes.count; i++)
        add_key_node(out, model, layer->nodes.items[i], &met);
    for (size_t i = 0; i < layer->inputs.count; i++)
        add_key_input(out, &request->inputs[i]);
    for (size_t i = 0; i < layer->fused.count; i++) {
        add_key_number(out, layer->fused.items[i].kind);
        add_key_number(out, layer->fused.items[i].activation);
    }
    free(met.items);
}

struct hash timing_cache_key(const struct kernel_request *request, const struct tactic *tactic)
{
    SCOPED_STRING(text);
    struct hash hash;

    pthread_once(&processor_once, hash_processor);
    add_key_layer(&text, request);
    add_key_number(&text, request->threads > 0 ? request->threads : system_processors());
    add_key_text(&text, text_of(tactic->provider->name));
    add_key_text(&text, text_of(tactic->provider->version));
    add_key_text(&text, text_of(tactic->name));
    for (size_t i = 0; i < request->layer->inputs.count; i++)
        add_key_text(&text, text_of(tactic->input_layouts[i].text));
    hash = hash_combine(hash_bytes(text.data, text.size), processor_hash);
    return hash;
}
