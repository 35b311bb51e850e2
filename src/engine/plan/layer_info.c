/* engine/plan/layer_info.c: see layer_info.h. */
#include "engine/plan/layer_info.h"

#include "base/file/file.h"
#include "base/memory.h"
#include "onnx/proto/value_info.h"

/* ---- Tensors ---- */

static struct text engine_value_name(const struct engine *engine, uint32_t value)
{
    return engine->network->model->values.items[value].name;
}

/* Shapes from the build, else from the model. */
static void describe_layer_tensor(const struct engine *engine, uint32_t value, const struct shape *built,
                                  enum data_type type, struct layer_info *info, struct layer_info_tensor *ret)
{
    struct value_type declared;

    value_info_decode(engine->network->model->values.items[value].info, &declared);
    ret->type = type;
    if (built != NULL)
        layer_info_set_dims(info, ret, built->dims, built->rank);
    else if (declared.not_a_tensor == NULL && declared.has_shape)
        layer_info_set_dims(info, ret, declared.shape.dims, declared.shape.rank);
}

/* The type in which a value is stored. Inputs of the engine keep their type. */
static enum data_type stored_type(const struct engine *engine, uint32_t value, enum precision precision)
{
    enum data_type type = network_type(engine->network, value);

    if (engine->network->model->values.items[value].producer == NODE_NONE)
        return type;
    return type == DATA_FLOAT32 ? precision_type(precision) : type;
}

static void name_layout(const struct layout *layout, struct layer_info *info, struct layer_info_tensor *ret)
{
    if (!layout_is_row_major(layout))
        ret->format = arena_printf(&info->arena, "%s %s", layer_info_type_word(ret->type), layout->text);
}

/* Constants are not listed: they are parts of a layer. */
static void add_layer_tensors(const struct engine *engine, const struct layer *layer, const struct engine_layer *choice,
                              struct layer_info *info, struct layer_info_layer *ret)
{
    const struct model *model = engine->network->model;

    for (size_t i = 0; i < layer->inputs.count; i++) {
        uint32_t value = layer->inputs.items[i];
        struct layer_info_tensor *tensor;

        if (value == VALUE_NONE || model->values.items[value].initializer != INITIALIZER_NONE)
            continue;
        tensor = layer_info_add_tensor(info, &ret->inputs, engine_value_name(engine, value));
        describe_layer_tensor(engine, value, choice->input_shapes ? &choice->input_shapes[i] : NULL,
                              stored_type(engine, value, choice->precision.precision), info, tensor);
        name_layout(&choice->tactic.input_layouts[i], info, tensor);
    }
    for (size_t i = 0; i < layer->outputs.count; i++) {
        uint32_t value = layer->outputs.items[i];
        struct layer_info_tensor *tensor;

        if (value == VALUE_NONE)
            continue;
        tensor = layer_info_add_tensor(info, &ret->outputs, engine_value_name(engine, value));
        describe_layer_tensor(engine, value, choice->output_shapes ? &choice->output_shapes[i] : NULL,
                              stored_type(engine, value, choice->precision.outputs[i]), info, tensor);
        name_layout(&choice->tactic.output_layouts[i], info, tensor);
    }
}

/* ---- Layers ---- */

static void add_layer_entry(const struct engine *engine, const struct layer *layer, const struct engine_layer *choice,
                            struct layer_info *info)
{
    struct model *model = engine->network->model;
    struct layer_info_layer *ret = layer_info_add_layer(info, text_of(layer->name));

    ret->type = layer->kind == LAYER_OTHER ? arena_text(&info->arena, model->nodes.items[layer->nodes.items[0]].op_type)
                                           : layer_kind_name(layer->kind);
    ret->tactic_name = arena_printf(&info->arena, "%s:%s",
                                    choice->tactic.provider ? choice->tactic.provider->name : "?", choice->tactic.name);
    ret->has_tactic = true;
    ret->tactic = choice->tactic.number;
    ret->nodes.told = true;
    for (size_t i = 0; i < layer->nodes.count; i++)
        layer_info_add_node(info, ret, text_of(model_node_label(model, layer->nodes.items[i])));
    add_layer_tensors(engine, layer, choice, info, ret);
}

static void add_engine_bindings(const struct engine *engine, const struct value_list *values, enum layer_info_mode mode,
                                struct layer_info *info)
{
    for (size_t i = 0; i < values->count; i++) {
        uint32_t value = values->items[i];
        struct layer_info_binding *binding = layer_info_add_binding(info, engine_value_name(engine, value), mode);

        describe_layer_tensor(engine, value, NULL, network_type(engine->network, value), info, &binding->tensor);
    }
}

void engine_layer_info_make(const struct engine *engine, struct layer_info *ret)
{
    const struct network *network = engine->network;

    layer_info_init(ret);
    for (size_t i = 0; i < network->layers.count; i++)
        add_layer_entry(engine, &network->layers.items[i], &engine->layers[i], ret);
    add_engine_bindings(engine, &network->inputs, LAYER_INFO_INPUT, ret);
    add_engine_bindings(engine, &network->outputs, LAYER_INFO_OUTPUT, ret);
}

int engine_layer_info_save(const struct engine *engine, const char *path, struct error *err)
{
    SCOPED_STRING(text);
    struct layer_info info SCOPED(layer_info_release) = {0};

    engine_layer_info_make(engine, &info);
    layer_info_write(&info, LAYER_INFO_SCHEMA_8_TO_10, &text);
    return file_write(path, text.data, text.size, FILE_DURABLE, err);
}
