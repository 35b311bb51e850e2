/* support/build_fixture.c: see build_fixture.h. */
#include "support/build_fixture.h"
#include "support/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/system.h"
#include "onnx/edit/node.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/proto/value_info.h"
#include "onnx/proto/wire.h"

struct fake_kernel {
    struct kernel kernel;
    struct fake_provider *fake;
    struct fake_tactic *tactic;
};

static int fake_run(struct kernel *kernel, const struct tensor *inputs, struct tensor *outputs, struct error *err)
{
    struct fake_kernel *fake = (struct fake_kernel *)kernel;
    double start = stopwatch_now();
    const float *from = inputs[0].data;
    float *to = (float *)(uintptr_t)outputs[0].data;

    fake->tactic->runs++;
    if (fake->tactic->run_fails)
        return error_set(err, ERR_BACKEND, "the fake kernel does not run");
    assert_int_equal(inputs[0].size, outputs[0].size);
    for (size_t i = 0; i < inputs[0].size / sizeof(float); i++)
        to[i] = from[i] + 1;
    while (stopwatch_now() - start < fake->tactic->seconds)
        ;
    return 0;
}

static void fake_free(struct kernel *kernel)
{
    ((struct fake_kernel *)kernel)->fake->alive--;
    free(kernel->output_shapes);
    free(kernel);
}

static int fake_list(struct tactic_provider *provider, const struct kernel_request *request, struct tactic_list *ret,
                     struct error *err)
{
    struct fake_provider *fake = (struct fake_provider *)provider;

    (void)err;
    for (size_t i = 0; i < fake->count; i++) {
        const struct fake_tactic *tactic = &fake->tactics[i];
        struct tactic *added;

        if (tactic->for_layer && strcmp(tactic->for_layer, request->layer->name) != 0)
            continue;
        added = tactic_list_add(ret, provider, request->layer, text_of(tactic->name), text_of(tactic->name));
        if (tactic->layout) {
            snprintf(added->input_layouts[0].text, LAYOUT_TEXT_SIZE, "%s", tactic->layout);
            snprintf(added->output_layouts[0].text, LAYOUT_TEXT_SIZE, "%s", tactic->layout);
        }
    }
    return 0;
}

static int fake_create(struct tactic_provider *provider, const struct kernel_request *request,
                       const struct tactic *tactic, struct kernel **ret, struct error *err)
{
    static const struct kernel_functions functions = {.run = fake_run, .free = fake_free};
    struct fake_provider *fake = (struct fake_provider *)provider;
    struct fake_kernel *kernel;
    size_t i = 0;

    while (strcmp(fake->tactics[i].name, tactic->name) != 0)
        i++;
    fake->created++;
    fake->tactics[i].created++;
    if (fake->tactics[i].create_fails)
        return error_set(err, ERR_BACKEND, "the fake kernel cannot be made");
    kernel = memory_alloc_zero(1, sizeof(*kernel));
    kernel->kernel = (struct kernel){.functions = &functions, .outputs_known = true};
    kernel->kernel.output_shapes = memory_alloc_zero(1, sizeof(struct shape));
    kernel->kernel.output_shapes[0] = request->inputs[0].shape;
    kernel->fake = fake;
    kernel->tactic = &fake->tactics[i];
    fake->alive++;
    *ret = &kernel->kernel;
    return 0;
}

void fake_provider_init(struct fake_provider *fake, struct fake_tactic *tactics, size_t count)
{
    *fake = (struct fake_provider){
        .provider = {.name = "fake", .version = "1", .list = fake_list, .create = fake_create},
        .tactics = tactics,
        .count = count,
    };
}

static void small_network_add_node(struct string_builder *graph, struct arena *arena, const char *name,
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

static void small_network_add_info(struct string_builder *graph, struct arena *arena, uint32_t field, const char *name,
                                   int64_t rows)
{
    struct value_type type = {.element = DATA_FLOAT32, .has_shape = true, .shape = {.rank = 2, .dims = {rows, 3}}};
    struct span info = value_info_make(arena, text_of(name), &type);

    wire_write_bytes(graph, field, info.data, info.size);
}

static void small_network_add_weight(struct string_builder *graph)
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

void small_network_init(struct small_network *small, int64_t rows)
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

void small_network_release(struct small_network *small)
{
    network_free(small->network);
    string_release(&small->bytes);
}
