/* tests/tensorrt_stand_in/selector.c: IAlgorithmSelector, up to 10.x. */
#include <stdlib.h>

#include "tensorrt_stand_in/engine.h"

struct algorithm_tensor {
    struct object object;
    enum data_type type;
    struct shape shape;
};

struct algorithm_variant {
    struct object object;
    int64_t implementation, tactic;
};

struct algorithm_context {
    struct object object;
    const char *name;
    const struct engine *engine;
    size_t layer;
};

struct algorithm {
    struct object object;
    struct algorithm_variant *variant;
    struct algorithm_tensor **tensors;
    size_t count;
};

static size_t tensor_count(const struct layer *layer)
{
    return layer->inputs.count + layer->outputs.count;
}

/* Inputs, then outputs, as they were when the engine was built. */
static const struct shape *tensor_shape(const struct engine *engine, size_t layer, size_t index)
{
    const struct layer *item = &engine->network->layers.items[layer];
    const struct engine_layer *choice = &engine->layers[layer];
    bool is_input = index < item->inputs.count;

    if (choice->input_shapes == NULL)
        return NULL;
    return is_input ? &choice->input_shapes[index] : &choice->output_shapes[index - item->inputs.count];
}

static struct algorithm *algorithm_new(const struct engine *engine, size_t layer, const struct tactic *tactic)
{
    struct algorithm *ret = object_new(sizeof(*ret), "VAlgorithm", NULL);
    const struct layer *item = &engine->network->layers.items[layer];

    ret->variant = object_new(sizeof(*ret->variant), "VAlgorithmVariant", NULL);
    ret->variant->implementation = tactic->implementation;
    ret->variant->tactic = tactic->number;
    ret->count = tensor_count(item);
    ret->tensors = memory_alloc_zero(ret->count + 1, sizeof(struct algorithm_tensor *));
    for (size_t i = 0; i < ret->count; i++) {
        const struct shape *shape = tensor_shape(engine, layer, i);

        ret->tensors[i] = object_new(sizeof(*ret->tensors[i]), "VAlgorithmIOInfo", NULL);
        ret->tensors[i]->type = DATA_FLOAT32;
        ret->tensors[i]->shape = shape != NULL ? *shape : (struct shape){0};
    }
    return ret;
}

static struct algorithm_context *context_of_layer(const struct engine *engine, size_t layer)
{
    struct algorithm_context *ret = object_new(sizeof(*ret), "VAlgorithmContext", NULL);

    ret->name = engine->network->layers.items[layer].name;
    ret->engine = engine;
    ret->layer = layer;
    return ret;
}

static bool select_tactic(void *selector, const struct engine *engine, size_t layer, struct layer_choices *choices)
{
    struct method_slot method = method_of_program(selector, "IAlgorithmSelector", "selectAlgorithms");
    size_t count = choices->tactics.count;
    struct algorithm **algorithms = memory_alloc_zero(count, sizeof(*algorithms));
    int32_t *selected = memory_alloc_zero(count, sizeof(*selected)), given;
    bool keeps = false;

    for (size_t i = 0; i < count; i++)
        algorithms[i] = algorithm_new(engine, layer, &choices->tactics.items[i]);
    given = ((int32_t(*)(void *, const void *, const void *, int32_t, int32_t *))method.call)(
        selector, context_of_layer(engine, layer), algorithms, (int32_t)count, selected);
    for (int32_t i = 0; i < given; i++)
        keeps = keeps || (size_t)selected[i] == choices->chosen;
    if (given > 0 && !keeps)
        choices->chosen = (size_t)selected[0];
    if (given <= 0)
        report_error(
            "kUNSUPPORTED_STATE",
            "IBuilder::buildSerializedNetwork: Error Code 10: Internal Error (no algorithm was selected for %s)",
            engine->network->layers.items[layer].name);
    free(algorithms);
    free(selected);
    return given > 0;
}

bool select_tactics(void *selector, const struct engine *engine, struct layer_choices *choices)
{
    for (size_t i = 0; i < engine->network->layers.count; i++)
        if (!select_tactic(selector, engine, i, &choices[i]))
            return false;
    return true;
}

void report_tactics(void *selector, const struct engine *engine, const struct layer_choices *choices)
{
    struct method_slot method = method_of_program(selector, "IAlgorithmSelector", "reportAlgorithms");
    size_t count = engine->network->layers.count;
    const void **contexts = memory_alloc_zero(count + 1, sizeof(*contexts));
    const void **algorithms = memory_alloc_zero(count + 1, sizeof(*algorithms));

    for (size_t i = 0; i < count; i++) {
        contexts[i] = context_of_layer(engine, i);
        algorithms[i] = algorithm_new(engine, i, &choices[i].tactics.items[choices[i].chosen]);
    }
    ((void (*)(void *, const void *, const void *, int32_t))method.call)(selector, contexts, algorithms,
                                                                         (int32_t)count);
    free(contexts);
    free(algorithms);
}

/* ---- Methods ---- */

GETTER(get_context_name, const char *, struct algorithm_context, name)

static const struct shape *shape_of_context(const void *self, int32_t index)
{
    const struct algorithm_context *context = object_of(self);
    const struct layer *layer = &context->engine->network->layers.items[context->layer];

    return index < 0 || (size_t)index >= tensor_count(layer)
               ? NULL
               : tensor_shape(context->engine, context->layer, (size_t)index);
}

static struct dims32 get_context_dims32(const void *self, int32_t index, int32_t selector)
{
    (void)selector;
    return dims32_of(shape_of_context(self, index));
}

static struct dims64 get_context_dims64(const void *self, int32_t index, int32_t selector)
{
    (void)selector;
    return dims64_of(shape_of_context(self, index));
}

static int32_t get_context_inputs(const void *self)
{
    const struct algorithm_context *context = object_of(self);

    return (int32_t)context->engine->network->layers.items[context->layer].inputs.count;
}

static int32_t get_context_outputs(const void *self)
{
    const struct algorithm_context *context = object_of(self);

    return (int32_t)context->engine->network->layers.items[context->layer].outputs.count;
}

static const struct object *get_variant(const void *self)
{
    return &((struct algorithm *)object_of(self))->variant->object;
}

static float get_milliseconds(const void *self)
{
    (void)self;
    return 0.01F;
}

static const struct object *get_algorithm_tensor(const void *self, int32_t index)
{
    const struct algorithm *algorithm = object_of(self);

    return index < 0 || (size_t)index >= algorithm->count ? NULL : &algorithm->tensors[index]->object;
}

GETTER(get_implementation, int64_t, struct algorithm_variant, implementation)
GETTER(get_tactic, int64_t, struct algorithm_variant, tactic)

static int32_t get_algorithm_type(const void *self)
{
    return enum_of_data_type(((struct algorithm_tensor *)object_of(self))->type);
}

static struct shape strides_of(const void *self)
{
    struct shape ret = ((struct algorithm_tensor *)object_of(self))->shape;
    int64_t stride = 1;

    for (size_t i = ret.rank; i-- > 0;) {
        int64_t size = ret.dims[i];

        ret.dims[i] = stride;
        stride *= size;
    }
    return ret;
}

static struct dims32 get_algorithm_strides32(const void *self)
{
    struct shape strides = strides_of(self);

    return dims32_of(&strides);
}

static struct dims64 get_algorithm_strides64(const void *self)
{
    struct shape strides = strides_of(self);

    return dims64_of(&strides);
}

static int64_t get_no_vector(const void *self)
{
    (void)self;
    return -1;
}

static int64_t get_one_component(const void *self)
{
    (void)self;
    return 1;
}

static int64_t get_no_workspace(const void *self)
{
    (void)self;
    return 0;
}

const struct method_row selector_methods[] = {
    {"VAlgorithmContext", "getName", "8.5..10.16:2", CALL(get_context_name)},
    {"VAlgorithmContext", "getDimensions", "8.5..9.3:3", CALL(get_context_dims32)},
    {"VAlgorithmContext", "getDimensions", "10.0..10.16:3", CALL(get_context_dims64)},
    {"VAlgorithmContext", "getNbInputs", "8.5..10.16:4", CALL(get_context_inputs)},
    {"VAlgorithmContext", "getNbOutputs", "8.5..10.16:5", CALL(get_context_outputs)},
    {"VAlgorithm", "getAlgorithmVariant", "8.5..9.3:3 10.0..10.16:2", CALL(get_variant)},
    {"VAlgorithm", "getTimingMSec", "8.5..9.3:4 10.0..10.16:3", CALL(get_milliseconds)},
    {"VAlgorithm", "getWorkspaceSize", "8.5..9.3:5 10.0..10.16:4", CALL(get_no_workspace)},
    {"VAlgorithm", "getAlgorithmIOInfoByIndex", "8.5..9.3:6 10.0..10.16:5", CALL(get_algorithm_tensor)},
    {"VAlgorithm", "getAlgorithmIOInfo", "8.5..9.3:2", CALL(get_algorithm_tensor)},
    {"VAlgorithmVariant", "getImplementation", "8.5..10.16:2", CALL(get_implementation)},
    {"VAlgorithmVariant", "getTactic", "8.5..10.16:3", CALL(get_tactic)},
    {"VAlgorithmIOInfo", "getDataType", "8.5..9.3:3 10.0..10.16:2", CALL(get_algorithm_type)},
    {"VAlgorithmIOInfo", "getStrides", "8.5..9.3:4", CALL(get_algorithm_strides32)},
    {"VAlgorithmIOInfo", "getStrides", "10.0..10.16:3", CALL(get_algorithm_strides64)},
    {"VAlgorithmIOInfo", "getVectorizedDim", "8.6..9.3:5 10.0..10.16:4", CALL(get_no_vector)},
    {"VAlgorithmIOInfo", "getComponentsPerElement", "8.6..9.3:6 10.0..10.16:5", CALL(get_one_component)},
    {NULL, NULL, NULL, {NULL}},
};
