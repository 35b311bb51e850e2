/* engine/plan/replay.c: see replay.h. */
#include "engine/plan/replay.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "onnx/proto/value_info.h"

/* The layouts that are tried: row-major, channels last, blocked channels. */
enum { ROW_MAJOR, CHANNELS_LAST, BLOCKS_OF_4, BLOCKS_OF_8, BLOCKS_OF_16, LAYOUT_CHOICES };

static void make_replay_layout(int choice, size_t rank, struct layout *ret)
{
    static const int block_sizes[LAYOUT_CHOICES] = {[BLOCKS_OF_4] = 4, [BLOCKS_OF_8] = 8, [BLOCKS_OF_16] = 16};
    char middle[16] = "";

    *ret = (struct layout){0};
    if (choice == ROW_MAJOR || rank < 3 || rank > 6) /* without spatial dimensions there are no channels */
        return;
    for (size_t i = 2; i < rank; i++)
        middle[i - 2] = (char)('a' + i);
    if (choice == CHANNELS_LAST)
        snprintf(ret->text, sizeof(ret->text), "a%sb", middle);
    else
        snprintf(ret->text, sizeof(ret->text), "aB%s%db", middle, block_sizes[choice]);
}

/* ---- In a list ---- */

static const struct tactic *find_tactic_by_name(const struct tactic_list *tactics, const char *name)
{
    for (size_t i = 0; name && i < tactics->count; i++) {
        const struct tactic *tactic = &tactics->items[i];
        size_t length = strlen(tactic->provider->name);

        if (strncmp(name, tactic->provider->name, length) == 0 && name[length] == ':' &&
            strcmp(name + length + 1, tactic->name) == 0)
            return tactic;
    }
    return NULL;
}

static const struct tactic *find_listed_tactic(const struct tactic_list *tactics, const struct tactic_algorithm *wanted)
{
    const struct tactic *tactic = find_tactic_by_name(tactics, wanted->name);

    for (size_t i = 0; !tactic && i < tactics->count; i++)
        if (tactics->items[i].implementation == wanted->implementation && tactics->items[i].number == wanted->tactic)
            tactic = &tactics->items[i];
    return tactic;
}

/* ---- With other layouts ---- */

static bool tensor_has_layout(const struct tactic_tensor *tensor, const struct layout *layout,
                              const struct shape *shape)
{
    struct layout_strides strides;
    bool blocked;

    if (!layout_resolve(layout, shape, &strides) || strides.rank != tensor->rank ||
        memcmp(strides.strides, tensor->strides, tensor->rank * sizeof(*tensor->strides)) != 0)
        return false;
    blocked = tensor->vectorized_dim.known && tensor->vectorized_dim.value >= 0;
    if (strides.block_count == 0 || !blocked)
        return strides.block_count == 0 && !blocked;
    return tensor->vectorized_dim.value == strides.block_dimensions[strides.block_count - 1] &&
           tensor->components_per_element.value == strides.block_sizes[strides.block_count - 1];
}

/* Sets the layout that a replay describes by strides; unknown ones are ignored. */
static void read_replay_layout(const struct tactic_tensor *tensor, struct kernel_input *input)
{
    for (int choice = 0; choice < LAYOUT_CHOICES; choice++) {
        struct layout layout;

        make_replay_layout(choice, input->shape.rank, &layout);
        if (tensor_has_layout(tensor, &layout, &input->shape)) {
            input->layout = layout;
            return;
        }
    }
}

static bool value_comes_at_run_time(const struct kernel_request *request, size_t input)
{
    return request->inputs[input].present && !request->inputs[input].constant;
}

/* Replays list no constants. */
static void take_layouts_of_replay(const struct kernel_request *request, const struct tactic_algorithm *wanted,
                                   struct kernel_input *inputs)
{
    size_t next = 0;

    for (size_t i = 0; i < request->layer->inputs.count; i++)
        if (value_comes_at_run_time(request, i) && next < wanted->inputs.count)
            read_replay_layout(&wanted->inputs.items[next++], &inputs[i]);
}

static void take_replay_layout(const struct kernel_request *request, int choice, struct kernel_input *inputs)
{
    for (size_t i = 0; i < request->layer->inputs.count; i++)
        if (value_comes_at_run_time(request, i))
            make_replay_layout(choice, inputs[i].shape.rank, &inputs[i].layout);
}

static int list_all_tactics(const struct provider_list *providers, const struct kernel_request *request,
                            struct tactic_list *ret, struct error *err)
{
    int rc = 0;

    tactic_list_release(ret);
    for (size_t i = 0; rc == 0 && i < providers->count; i++)
        rc = providers->items[i]->list(providers->items[i], request, ret, err);
    return rc;
}

static int find_tactic_in_layouts(const struct provider_list *providers, const struct kernel_request *request,
                                  const struct tactic_algorithm *wanted, struct tactic_list *tactics,
                                  const struct tactic **ret, struct error *err)
{
    size_t count = request->layer->inputs.count;
    struct kernel_input *inputs = memory_alloc_zero(count, sizeof(*inputs));
    struct kernel_request other = *request;
    int rc = 0;

    other.inputs = inputs;
    for (int choice = -1; rc == 0 && !*ret && choice < LAYOUT_CHOICES; choice++) {
        for (size_t i = 0; i < count; i++)
            inputs[i] = request->inputs[i];
        if (choice < 0)
            take_layouts_of_replay(request, wanted, inputs);
        else
            take_replay_layout(request, choice, inputs);
        rc = list_all_tactics(providers, &other, tactics, err);
        if (rc == 0)
            *ret = find_listed_tactic(tactics, wanted);
    }
    free(inputs);
    return rc;
}

int replay_tactic_find(const struct provider_list *providers, const struct kernel_request *request,
                       const struct tactic_algorithm *wanted, struct tactic_list *tactics, const struct tactic **ret,
                       struct error *err)
{
    const struct tactic *tactic = find_listed_tactic(tactics, wanted);
    int rc = tactic ? 0 : find_tactic_in_layouts(providers, request, wanted, tactics, &tactic, err);

    if (rc < 0)
        return error_context(err, "layer '%s'", request->layer->name);
    if (!tactic)
        return error_set(err, ERR_MISSING,
                         "layer '%s': the tactic replay asks for tactic '%s' (implementation %lld, tactic %lld), which "
                         "does not exist here",
                         request->layer->name, wanted->name ? wanted->name : "without a name",
                         (long long)wanted->implementation, (long long)wanted->tactic);
    *ret = tactic;
    return 0;
}

/* ---- Export ---- */

/* TensorRT's names of types without a precision. */
static void add_tensorrt_type_name(struct string_builder *text, enum data_type type, enum precision precision)
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

/* The shape from the build, else from the model; false if unknown. */
static bool find_built_shape(const struct engine *engine, uint32_t value, const struct shape *built, struct shape *ret)
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

static void add_replay_tensor(const struct engine *engine, uint32_t value, enum precision precision,
                              const struct layout *layout, const struct shape *built, struct tactic_tensors *ret)
{
    struct layout_strides strides = {0};
    struct tactic_tensor *tensor;
    SCOPED_STRING(name);
    struct shape shape;

    if (!find_built_shape(engine, value, built, &shape) || !layout_resolve(layout, &shape, &strides))
        strides = (struct layout_strides){0};
    add_tensorrt_type_name(&name, network_type(engine->network, value), precision);
    tensor = tactic_tensors_add(ret, (struct text){name.data, name.size}, strides.strides, strides.rank);
    if (strides.block_count > 0) {
        tensor->vectorized_dim.value = strides.block_dimensions[strides.block_count - 1];
        tensor->components_per_element.value = strides.block_sizes[strides.block_count - 1];
    }
}

/* Constants are not listed, as TensorRT does not list them. */
static void set_replay_algorithm(const struct engine *engine, const struct layer *layer,
                                 const struct engine_layer *choice, struct tactic_algorithm *ret)
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
            add_replay_tensor(engine, value, choice->precision.precision, &choice->tactic.input_layouts[i],
                              choice->input_shapes ? &choice->input_shapes[i] : NULL, &ret->inputs);
    }
    for (size_t i = 0; i < layer->outputs.count; i++)
        if (layer->outputs.items[i] != VALUE_NONE)
            add_replay_tensor(engine, layer->outputs.items[i], choice->precision.outputs[i],
                              &choice->tactic.output_layouts[i],
                              choice->output_shapes ? &choice->output_shapes[i] : NULL, &ret->outputs);
}

void engine_replay(const struct engine *engine, struct tactic_replay *ret)
{
    for (size_t i = 0; i < engine->network->layers.count; i++) {
        const struct layer *layer = &engine->network->layers.items[i];

        set_replay_algorithm(engine, layer, &engine->layers[i], tactic_replay_set(ret, layer->name));
    }
    tactic_options_release(&ret->precision);
    tactic_options_copy(&engine->precision, &ret->precision);
}
