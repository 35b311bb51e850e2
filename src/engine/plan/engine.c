/* engine/plan/engine.c: see engine.h. */
#include "engine/plan/engine.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/memory.h"
#include "onnx/proto/value_info.h"

static void release_layer(struct engine_layer *layer)
{
    tactic_release(&layer->tactic);
    free(layer->precision.outputs);
    free(layer->input_scales);
    free(layer->input_shapes);
    free(layer->output_shapes);
}

void engine_free(struct engine *engine)
{
    if (!engine)
        return;
    for (size_t i = 0; engine->layers && i < engine->network->layers.count; i++)
        release_layer(&engine->layers[i]);
    free(engine->layers);
    for (size_t i = 0; i < engine->profiles.count; i++) {
        free(engine->profiles.items[i].minimum);
        free(engine->profiles.items[i].optimum);
        free(engine->profiles.items[i].maximum);
    }
    free(engine->profiles.items);
    if (engine->owns_providers)
        providers_close(&engine->providers);
    network_free(engine->owned_network);
    tactic_options_release(&engine->precision);
    free(engine);
}

/* ---- Replays ---- */

/* TensorRT's spelling of types that no precision stands for. */
static void add_type_name(struct string_builder *text, enum data_type type, enum precision precision)
{
    static const struct {
        enum data_type type;
        const char *name;
    } names[] = {
        {DATA_FLOAT16, "DataType.HALF"},   {DATA_BFLOAT16, "DataType.BF16"},       {DATA_FLOAT8E4M3FN, "DataType.FP8"},
        {DATA_FLOAT64, "DataType.DOUBLE"}, {DATA_UNDEFINED, "DataType.UNDEFINED"},
    };

    if (type == DATA_FLOAT32) {
        string_add(text, precision_tensorrt_name(precision));
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (names[i].type == type) {
            string_add(text, names[i].name);
            return;
        }
    string_add(text, "DataType.");
    for (const char *name = data_type_name(type); *name; name++)
        string_add_char(text, (char)toupper((unsigned char)*name));
}

/* As it was built, else as the model says; false when it is not known. */
static bool find_shape(const struct engine *engine, uint32_t value, const struct shape *built, struct shape *ret)
{
    struct value_type type;

    if (built) {
        *ret = *built;
        return true;
    }
    value_info_decode(engine->network->model->values.items[value].info, &type);
    *ret = type.shape;
    return type.not_a_tensor == NULL && type.has_shape && shape_is_static(&type.shape);
}

static void add_tensor(const struct engine *engine, uint32_t value, enum precision precision,
                       const struct layout *layout, const struct shape *built, struct tactic_tensors *ret)
{
    struct layout_strides strides = {0};
    struct tactic_tensor *tensor;
    struct string_builder name;
    struct shape shape;

    if (!find_shape(engine, value, built, &shape) || !layout_resolve(layout, &shape, &strides))
        strides = (struct layout_strides){0};
    string_init(&name);
    add_type_name(&name, network_type(engine->network, value), precision);
    tensor = tactic_tensors_add(ret, (struct text){name.data, name.size}, strides.strides, strides.rank);
    if (strides.block_count > 0) {
        tensor->vectorized_dim.value = strides.block_dimensions[strides.block_count - 1];
        tensor->components_per_element.value = strides.block_sizes[strides.block_count - 1];
    }
    string_release(&name);
}

/* Constants are not listed, as TensorRT does not list them. */
static void add_algorithm(const struct engine *engine, const struct layer *layer, const struct engine_layer *choice,
                          struct tactic_algorithm *ret)
{
    const struct model *model = engine->network->model;
    struct string_builder name;

    string_init(&name);
    string_add_format(&name, "%s:%s", choice->tactic.provider ? choice->tactic.provider->name : "?",
                      choice->tactic.name);
    ret->implementation = choice->tactic.implementation;
    ret->tactic = choice->tactic.number;
    ret->name = string_take(&name);
    for (size_t i = 0; i < layer->inputs.count; i++) {
        uint32_t value = layer->inputs.items[i];

        if (value != VALUE_NONE && model->values.items[value].initializer == INITIALIZER_NONE)
            add_tensor(engine, value, choice->precision.precision, &choice->tactic.input_layouts[i],
                       choice->input_shapes ? &choice->input_shapes[i] : NULL, &ret->inputs);
    }
    for (size_t i = 0; i < layer->outputs.count; i++)
        if (layer->outputs.items[i] != VALUE_NONE)
            add_tensor(engine, layer->outputs.items[i], choice->precision.outputs[i], &choice->tactic.output_layouts[i],
                       choice->output_shapes ? &choice->output_shapes[i] : NULL, &ret->outputs);
}

void engine_replay(const struct engine *engine, struct tactic_replay *ret)
{
    for (size_t i = 0; i < engine->network->layers.count; i++) {
        const struct layer *layer = &engine->network->layers.items[i];

        add_algorithm(engine, layer, &engine->layers[i], tactic_replay_set(ret, layer->name));
    }
    tactic_options_release(&ret->precision);
    tactic_options_copy(&engine->precision, &ret->precision);
}
