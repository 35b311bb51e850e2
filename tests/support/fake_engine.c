/* support/fake_engine.c: see fake_engine.h. */
#include "support/fake_engine.h"
#include "support/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "onnx/proto/value_info.h"
#include "onnx/proto/wire.h"

void maker_init(struct model_maker *maker)
{
    string_init(&maker->graph);
    arena_init(&maker->arena);
}

/* Names with blanks between them; "-" is an omitted tensor. */
static void maker_names(struct string_builder *node, uint32_t field, const char *names)
{
    while (*names != '\0') {
        size_t size = strcspn(names, " ");

        if (size == 1 && names[0] == '-')
            wire_write_text(node, field, TEXT(""));
        else
            wire_write_text(node, field, (struct text){names, size});
        names += size;
        names += *names == ' ';
    }
}

void maker_node(struct model_maker *maker, const char *op_type, const char *inputs, const char *outputs)
{
    struct string_builder node;

    string_init(&node);
    maker_names(&node, NODE_INPUT, inputs);
    maker_names(&node, NODE_OUTPUT, outputs);
    wire_write_text(&node, NODE_OP_TYPE, text_of(op_type));
    wire_write_bytes(&maker->graph, GRAPH_NODE, node.data, node.size);
    string_release(&node);
}

void maker_io(struct model_maker *maker, uint32_t field, const char *name, enum data_type type)
{
    struct value_type described = {.element = type, .has_shape = true, .shape = {2, {-1, -1}}};
    struct span info = value_info_make(&maker->arena, text_of(name), &described);

    wire_write_bytes(&maker->graph, field, info.data, info.size);
}

void maker_constant(struct model_maker *maker, const char *name, const float *values, int64_t rows, int64_t columns)
{
    struct string_builder tensor;

    string_init(&tensor);
    wire_write_integer(&tensor, TENSOR_DIMS, rows);
    wire_write_integer(&tensor, TENSOR_DIMS, columns);
    wire_write_integer(&tensor, TENSOR_DATA_TYPE, DATA_FLOAT32);
    wire_write_text(&tensor, TENSOR_NAME, text_of(name));
    wire_write_bytes(&tensor, TENSOR_RAW_DATA, values, (size_t)(rows * columns) * sizeof(float));
    wire_write_bytes(&maker->graph, GRAPH_INITIALIZER, tensor.data, tensor.size);
    string_release(&tensor);
}

struct model *maker_finish(struct model_maker *maker)
{
    struct string_builder file;
    struct model *model = NULL;
    struct error err = {0};
    uint8_t *bytes;
    size_t size;

    string_init(&file);
    wire_write_integer(&file, MODEL_IR_VERSION, 8);
    wire_write_bytes(&file, MODEL_GRAPH, maker->graph.data, maker->graph.size);
    size = file.size;
    bytes = (uint8_t *)string_take(&file);
    if (model_parse((struct span){bytes, size}, "a made model", &model, &err) < 0)
        fail_msg("%s", err.message);
    *VECTOR_APPEND(&model->buffers) = bytes;
    string_release(&maker->graph);
    arena_release(&maker->arena);
    return model;
}

struct fake_kernel {
    struct kernel base;
    const char *op_type;
    bool fails;
};

int fake_kernels;
int fake_creations;
int fake_runs;

static void fake_positive(const struct tensor *input, struct tensor *ret)
{
    const float *values = input->data;
    int64_t count = 0;
    struct error err;
    float *kept;

    for (size_t i = 0; i < tensor_elements(input); i++)
        count += values[i] > 0;
    assert_int_equal(tensor_allocate(DATA_FLOAT32, &(struct shape){2, {1, count}}, ret, &err), 0);
    kept = tensor_writable(ret);
    for (size_t i = 0; i < tensor_elements(input); i++)
        if (values[i] > 0)
            *kept++ = values[i];
}

/* Element by element in memory order, so that any layout works if all tensors have the same. */
static void fake_compute(const char *op_type, const struct tensor *inputs, struct tensor *output)
{
    const float *a = inputs[0].data, *b = strcmp(op_type, "Add") == 0 ? inputs[1].data : NULL;
    float *result = (float *)(uintptr_t)output->data;

    assert_int_equal(inputs[0].size, output->size);
    if (strcmp(op_type, "Echo") == 0) {
        memcpy(result, a, output->size);
        return;
    }
    for (size_t i = 0; i < output->size / sizeof(float); i++)
        if (b != NULL)
            result[i] = a[i] + b[i];
        else if (strcmp(op_type, "Halve") == 0)
            result[i] = a[i] / 2;
        else
            result[i] = a[i] > 0 ? a[i] : 0;
}

static int fake_run(struct kernel *kernel, const struct tensor *inputs, struct tensor *outputs, struct error *err)
{
    struct fake_kernel *fake = (struct fake_kernel *)kernel;

    fake_runs++;
    if (fake->fails)
        return error_set(err, ERR_BACKEND, "this kernel fails");
    if (strcmp(fake->op_type, "Positive") == 0) {
        fake_positive(&inputs[0], &outputs[0]);
        return 0;
    }
    if (!kernel->outputs_known)
        assert_int_equal(inputs[0].type == DATA_STRING
                             ? tensor_copy(&inputs[0], &outputs[0], err)
                             : tensor_allocate(inputs[0].type, &inputs[0].shape, &outputs[0], err),
                         0);
    if (inputs[0].type != DATA_STRING)
        fake_compute(fake->op_type, inputs, &outputs[0]);
    return 0;
}

static void fake_free(struct kernel *kernel)
{
    fake_kernels--;
    free(kernel->output_shapes);
    free(kernel);
}

static const struct kernel_functions fake_functions = {fake_run, fake_free};

/* "known" and "unknown" are row-major; "columns" reads and writes column-major; "small" accepts up to 4 elements. */
static int fake_list(struct tactic_provider *provider, const struct kernel_request *request, struct tactic_list *ret,
                     struct error *err)
{
    static const char *const names[] = {"known", "unknown", "columns", "small", "failing"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct tactic *tactic = tactic_list_add(ret, provider, request->layer, text_of(names[i]), text_of(names[i]));

        for (size_t k = 0; strcmp(names[i], "columns") == 0 && k < request->layer->inputs.count; k++)
            tactic->input_layouts[k] = (struct layout){"ba"};
        if (strcmp(names[i], "columns") == 0)
            tactic->output_layouts[0] = (struct layout){"ba"};
    }
    return 0;
}

static const char *fake_op_type(const struct kernel_request *request)
{
    static const char *const op_types[] = {"Relu", "Add", "Positive", "Halve", "Echo"};
    const struct node *node = &request->network->model->nodes.items[request->layer->nodes.items[0]];

    for (size_t i = 0; i < ARRAY_LEN(op_types); i++)
        if (text_equal_string(node->op_type, op_types[i]))
            return op_types[i];
    fail_msg("there is no fake operator " TEXT_FORMAT, TEXT_ARGS(node->op_type));
    return NULL;
}

static int fake_create(struct tactic_provider *provider, const struct kernel_request *request,
                       const struct tactic *tactic, struct kernel **ret, struct error *err)
{
    struct fake_kernel *fake;

    if (strcmp(tactic->name, "small") == 0 && shape_elements(&request->inputs[0].shape) > 4)
        return error_set(err, ERR_UNSUPPORTED, "too large for this kernel");
    fake = memory_alloc_zero(1, sizeof(*fake));
    fake->fails = strcmp(tactic->name, "failing") == 0;
    fake->base.functions = &fake_functions;
    fake->base.output_shapes = memory_alloc_zero(request->layer->outputs.count, sizeof(struct shape));
    for (size_t i = 0; i < request->layer->outputs.count; i++)
        fake->base.output_shapes[i] = request->inputs[0].shape;
    fake->op_type = fake_op_type(request);
    fake->base.outputs_known = strcmp(tactic->name, "unknown") != 0 && strcmp(fake->op_type, "Positive") != 0;
    fake_kernels++;
    fake_creations++;
    *ret = &fake->base;
    return 0;
}

struct tactic_provider fake_provider = {
    .name = "fake", .version = "1", .list = fake_list, .create = fake_create, .free = NULL};

void fake_choose(struct fake_engine *fake, size_t layer, const char *tactic)
{
    struct layer *built = &fake->network.layers.items[layer];
    struct kernel_request request = {.network = &fake->network, .layer = built};
    struct engine_layer *choice = &fake->engine.layers[layer];
    struct tactic_list tactics = {0};

    tactic_release(&choice->tactic);
    fake_list(&fake_provider, &request, &tactics, NULL);
    for (size_t i = 0; i < tactics.count; i++)
        if (strcmp(tactics.items[i].name, tactic) == 0)
            tactic_copy(&choice->tactic, &tactics.items[i], built);
    tactic_list_release(&tactics);
    assert_non_null(choice->tactic.provider);
}

void fake_set_precision(struct fake_engine *fake, size_t layer, enum precision precision)
{
    struct layer_precision *chosen = &fake->engine.layers[layer].precision;

    chosen->precision = precision;
    for (size_t i = 0; i < fake->network.layers.items[layer].outputs.count; i++)
        chosen->outputs[i] = precision;
}

static void fake_add_layer(struct fake_engine *fake, uint32_t index)
{
    const struct model *model = fake->network.model;
    const struct node *node = &model->nodes.items[index];
    struct layer *layer = VECTOR_APPEND(&fake->network.layers);
    char name[32];

    snprintf(name, sizeof(name), "layer%u", index);
    *layer = (struct layer){.name = memory_strdup(name)};
    *VECTOR_APPEND(&layer->nodes) = index;
    for (size_t i = 0; i < node->inputs.count; i++)
        *VECTOR_APPEND(&layer->inputs) = model_edge(model, node->inputs, i);
    for (size_t i = 0; i < node->outputs.count; i++)
        *VECTOR_APPEND(&layer->outputs) = model_edge(model, node->outputs, i);
}

void fake_engine_init(struct fake_engine *fake, struct model *model)
{
    *fake = (struct fake_engine){.network = {.model = model, .inputs = model->inputs, .outputs = model->outputs},
                                 .providers = {&fake_provider}};
    for (uint32_t i = 0; i < model->nodes.count; i++)
        fake_add_layer(fake, i);
    fake->engine.network = &fake->network;
    fake->engine.providers.items = fake->providers;
    fake->engine.providers.count = 1;
    fake->engine.layers = memory_alloc_zero(fake->network.layers.count, sizeof(*fake->engine.layers));
    for (size_t i = 0; i < fake->network.layers.count; i++) {
        fake->engine.layers[i].precision.outputs =
            memory_alloc_zero(fake->network.layers.items[i].outputs.count, sizeof(enum precision));
        fake_choose(fake, i, "known");
    }
    fake_kernels = fake_creations = fake_runs = 0;
}

void fake_set_profile(struct fake_engine *fake, int64_t smallest, int64_t largest)
{
    struct engine_profile *profile = VECTOR_APPEND(&fake->engine.profiles);
    size_t inputs = fake->network.inputs.count;

    profile->minimum = memory_alloc_zero(inputs, sizeof(struct shape));
    profile->optimum = memory_alloc_zero(inputs, sizeof(struct shape));
    profile->maximum = memory_alloc_zero(inputs, sizeof(struct shape));
    for (size_t i = 0; i < inputs; i++) {
        profile->minimum[i] = (struct shape){2, {smallest, smallest}};
        profile->optimum[i] = profile->minimum[i];
        profile->maximum[i] = (struct shape){2, {largest, largest}};
    }
}

void fake_engine_release(struct fake_engine *fake)
{
    for (size_t i = 0; i < fake->network.layers.count; i++) {
        struct layer *layer = &fake->network.layers.items[i];

        tactic_release(&fake->engine.layers[i].tactic);
        free(fake->engine.layers[i].precision.outputs);
        free(fake->engine.layers[i].input_scales);
        free(fake->engine.layers[i].input_shapes);
        free(layer->name);
        free(layer->nodes.items);
        free(layer->inputs.items);
        free(layer->outputs.items);
    }
    for (size_t i = 0; i < fake->engine.profiles.count; i++) {
        free(fake->engine.profiles.items[i].minimum);
        free(fake->engine.profiles.items[i].optimum);
        free(fake->engine.profiles.items[i].maximum);
    }
    free(fake->engine.profiles.items);
    free(fake->engine.layers);
    free(fake->network.layers.items);
    model_free(fake->network.model);
}
