/* small_network.h: a network that is made in the test:
 *
 *   x -> first: Neg -> a -> second: Neg -> b -> third: MatMul with w -> y
 *
 * x, a, b and y are 2 x 3 float32, w is 3 x 3. `rows` may be -1: then the first dimension of x is dynamic. */
#ifndef SMALL_NETWORK_H
#define SMALL_NETWORK_H

#include "engine/network/compile.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/proto/value_info.h"
#include "onnx/proto/wire.h"
#include "onnx/edit/node.h"

struct small_network {
    struct string_builder bytes;
    struct network *network;
};

static inline void small_network_add_node(struct string_builder *graph, struct arena *arena, const char *name,
                                          const char *op_type, const char *const *inputs, size_t input_count,
                                          const char *output)
{
    struct text in[2], out = text_of(output);
    struct node_recipe recipe = {.name = text_of(name),
                                 .op_type = text_of(op_type),
                                 .inputs = in,
                                 .input_count = input_count,
                                 .outputs = &out,
                                 .output_count = 1};
    struct span field;

    for (size_t i = 0; i < input_count; i++)
        in[i] = text_of(inputs[i]);
    field = node_build(arena, &recipe);
    string_add_bytes(graph, field.data, field.size);
}

static inline void small_network_add_info(struct string_builder *graph, struct arena *arena, uint32_t field,
                                          const char *name, int64_t rows)
{
    struct value_type type = {.element = DATA_FLOAT32, .has_shape = true, .shape = {.rank = 2, .dims = {rows, 3}}};
    struct span info = value_info_make(arena, text_of(name), &type);

    wire_write_bytes(graph, field, info.data, info.size);
}

static inline void small_network_add_weight(struct string_builder *graph)
{
    static const float weights[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const struct shape shape = {.rank = 2, .dims = {3, 3}};
    struct string_builder proto;
    struct tensor tensor;

    tensor_borrow(DATA_FLOAT32, &shape, weights, sizeof(weights), &tensor);
    string_init(&proto);
    tensor_proto_write(&proto, TEXT("w"), &tensor);
    wire_write_bytes(graph, GRAPH_INITIALIZER, proto.data, proto.size);
    string_release(&proto);
}

static inline void small_network_init(struct small_network *small, int64_t rows)
{
    static const char *const x = "x", *const a = "a", *const b_and_w[] = {"b", "w"};
    const struct network_settings settings = {0};
    struct string_builder graph, opset;
    struct arena arena;
    struct model *model;
    struct error error = {0};

    arena_init(&arena);
    string_init(&graph);
    string_init(&opset);
    string_init(&small->bytes);
    small_network_add_node(&graph, &arena, "first", "Neg", &x, 1, "a");
    small_network_add_node(&graph, &arena, "second", "Neg", &a, 1, "b");
    small_network_add_node(&graph, &arena, "third", "MatMul", b_and_w, 2, "y");
    wire_write_text(&graph, GRAPH_NAME, TEXT("small"));
    small_network_add_weight(&graph);
    small_network_add_info(&graph, &arena, GRAPH_INPUT, "x", rows);
    small_network_add_info(&graph, &arena, GRAPH_OUTPUT, "y", rows);
    small_network_add_info(&graph, &arena, GRAPH_VALUE_INFO, "a", rows);
    small_network_add_info(&graph, &arena, GRAPH_VALUE_INFO, "b", rows);
    wire_write_integer(&small->bytes, MODEL_IR_VERSION, 8);
    wire_write_bytes(&small->bytes, MODEL_GRAPH, graph.data, graph.size);
    wire_write_integer(&opset, OPSET_VERSION, 17);
    wire_write_bytes(&small->bytes, MODEL_OPSET_IMPORT, opset.data, opset.size);
    if (model_parse((struct span){(const uint8_t *)small->bytes.data, small->bytes.size}, "small", &model, &error) <
            0 ||
        network_build(model, &settings, &small->network, &error) < 0)
        fail_msg("%s", error.message);
    string_release(&graph);
    string_release(&opset);
    arena_release(&arena);
}

static inline void small_network_release(struct small_network *small)
{
    network_free(small->network);
    string_release(&small->bytes);
}

#endif
