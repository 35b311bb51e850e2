/* tests/programs/trtexec_stand_in/layers.c: layers as TensorRT describes them, and how its log tells of the choice. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "format/trtexec/layer_info.h"
#include "onnx/proto/value_info.h"
#include "programs/trtexec_stand_in/stand_in.h"

struct candidate {
    struct text layer, kernel; /* provider:name */
    int64_t number;
    double milliseconds;
};

static struct {
    struct candidate *items;
    size_t count, capacity;
} candidates;

/* ---- Kinds ---- */

struct kind_words {
    const char *type;
    unsigned implementation;
    bool is_compiled; /* by Myelin: no number */
};

/* Up to 8.6 every layer has a runner of its own. */
static struct kind_words words_of(const struct layer *layer)
{
    bool old = stand_in.version == V8;

    switch (layer->kind) {
    case LAYER_CONVOLUTION:
        return (struct kind_words){"CaskConvolution", 0x80000009, false};
    case LAYER_DECONVOLUTION:
        return (struct kind_words){"CaskDeconvolutionV2", 0x80000010, false};
    case LAYER_POOLING:
        return (struct kind_words){"CaskPooling", 0x8000002f, false};
    case LAYER_MATMUL:
        return (struct kind_words){old ? "MatrixMultiply" : "gemm", 0x80000023, !old};
    default:
        break;
    }
    if (layer->moves_data)
        return (struct kind_words){"Reformat", 0x800003e8, false};
    return (struct kind_words){old ? "PointWiseV2" : "kgen", 0x80000028, !old};
}

static const char *precision_word(enum precision precision)
{
    switch (precision) {
    case PRECISION_FLOAT16:
        return "f16f16";
    case PRECISION_BFLOAT16:
        return "bf16bf16";
    case PRECISION_INT8:
        return "i8i8";
    default:
        return "f32f32";
    }
}

/* "onednn:jit aBcd8b" of a float16 layer: "sm90_f16f16_onednn_jit_aBcd8b". */
static void add_kernel(struct string_builder *text, struct text kernel, enum precision precision)
{
    string_add_format(text, "sm90_%s_", precision_word(precision));
    for (size_t i = 0; i < kernel.size; i++)
        string_add_char(text, isalnum((unsigned char)kernel.data[i]) ? kernel.data[i] : '_');
}

/* The same kernel in another precision has another number. */
static uint64_t tactic_number(int64_t number, enum precision precision)
{
    return (uint64_t)number ^ (UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)precision);
}

/* ---- The builder's log ---- */

bool layers_note_candidate(struct text message)
{
    static const char start[] = "Tactic ", middle[] = " of layer '", end[] = "': ";
    char *copy = memory_copy(message.data, message.size), *after, *kernel = NULL, *time;
    struct candidate *candidate;
    int64_t number;

    if (strncmp(copy, start, strlen(start)) != 0)
        return false;
    number = strtoll(copy + strlen(start), &after, 10);
    if (strncmp(after, middle, strlen(middle)) != 0)
        return false;
    for (char *at = after; (at = strstr(at, end)) != NULL; at++)
        kernel = at;
    time = strrchr(copy, ',');
    if (kernel == NULL || time == NULL || time < kernel)
        return false;
    candidate = VECTOR_APPEND(&candidates);
    candidate->number = number;
    candidate->layer = (struct text){after + strlen(middle), (size_t)(kernel - after) - strlen(middle)};
    candidate->kernel = (struct text){kernel + strlen(end), (size_t)(time - kernel) - strlen(end)};
    candidate->milliseconds = strtod(time + 1, NULL);
    return true; /* the copy stays: the candidate lies in it */
}

void layers_forget_candidates(void)
{
    candidates.count = 0;
}

static enum data_type stored_type(const struct engine *engine, const struct engine_layer *choice, uint32_t value)
{
    enum data_type type = network_type(engine->network, value);

    return type == DATA_FLOAT32 || type == DATA_UNDEFINED ? precision_type(choice->precision.precision) : type;
}

static const struct shape *shape_of(const struct engine *engine, uint32_t value, const struct shape *built,
                                    struct value_type *type)
{
    value_info_decode(engine->network->model->values.items[value].info, type);
    return type->has_shape ? &type->shape : built;
}

/* "x (Float[-1,1,28,28])", or with `strides` "Float(784,784,28,1)" */
static void add_tensors(struct string_builder *text, const struct engine *engine, size_t layer, bool outputs,
                        bool strides)
{
    const struct layer *described = &engine->network->layers.items[layer];
    const struct engine_layer *choice = &engine->layers[layer];
    const struct value_list *values = outputs ? &described->outputs : &described->inputs;
    const struct shape *built = outputs ? choice->output_shapes : choice->input_shapes;
    const char *between = "";

    for (size_t i = 0; i < values->count; i++) {
        struct value_type type;
        const struct shape *shape;
        const struct value *value;

        if (values->items[i] == VALUE_NONE)
            continue;
        value = &engine->network->model->values.items[values->items[i]];
        if (value->initializer != INITIALIZER_NONE)
            continue;
        shape = strides ? &built[i] : shape_of(engine, values->items[i], &built[i], &type);
        string_add(text, between);
        if (!strides)
            string_add_format(text, TEXT_FORMAT " (", TEXT_ARGS(value->name));
        string_add_format(text, "%s%c", layer_info_type_word(stored_type(engine, choice, values->items[i])),
                          strides ? '(' : '[');
        for (size_t k = 0; k < shape->rank; k++) {
            int64_t stride = 1;

            for (size_t j = k + 1; j < shape->rank; j++)
                stride *= shape->dims[j];
            string_add_format(text, "%s%lld", k > 0 ? "," : "", (long long)(strides ? stride : shape->dims[k]));
        }
        string_add(text, strides ? ")" : "])");
        between = ", ";
    }
}

static void log_timing(const struct engine *engine, size_t layer)
{
    const struct layer *described = &engine->network->layers.items[layer];
    const struct engine_layer *choice = &engine->layers[layer];
    struct kind_words words = words_of(described);
    enum precision precision = choice->precision.precision;
    const struct candidate *fastest = NULL;
    struct string_builder text;

    string_init(&text);
    string_add(&text, "*************** Autotuning format combination: ");
    add_tensors(&text, engine, layer, false, true);
    string_add(&text, " -> ");
    add_tensors(&text, engine, layer, true, true);
    say('V', "[TRT] %s ***************", text.data);
    say('V', "[TRT] --------------- Timing Runner: %s (%s[0x%08x])", described->name, words.type, words.implementation);
    for (size_t i = 0; i < candidates.count; i++) {
        const struct candidate *candidate = &candidates.items[i];

        if (!text_equal_string(candidate->layer, described->name))
            continue;
        string_clear(&text);
        add_kernel(&text, candidate->kernel, precision);
        say('V', "[TRT] Tactic Name: %s Tactic: 0x%016llx Time: %g", text.data,
            (unsigned long long)tactic_number(candidate->number, precision), candidate->milliseconds);
        if (fastest == NULL || candidate->milliseconds < fastest->milliseconds)
            fastest = candidate;
    }
    if (fastest != NULL)
        say('V', "[TRT] %s (%s[0x%08x]) profiling completed in %g seconds. Fastest Tactic: 0x%016llx Time: %g",
            described->name, words.type, words.implementation, 0.0819054,
            (unsigned long long)tactic_number(fastest->number, precision), fastest->milliseconds);
    say('V', "[TRT] >>>>>>>>>>>>>>> Chose Runner Type: %s Tactic: 0x%016llx", words.type,
        (unsigned long long)tactic_number(choice->tactic.number, precision));
    string_release(&text);
}

void layers_log(const struct engine *engine, bool timed)
{
    const struct network *network = engine->network;
    struct string_builder text;

    string_init(&text);
    string_add(&text, "Engine Layer Information:");
    for (size_t i = 0; i < network->layers.count; i++) {
        const struct engine_layer *choice = &engine->layers[i];
        struct kind_words words = words_of(&network->layers.items[i]);
        uint64_t number = tactic_number(choice->tactic.number, choice->precision.precision);

        if (timed && !words.is_compiled)
            log_timing(engine, i);
        string_add_format(&text, "\nLayer(%s): %s, Tactic: 0x%016llx, ", words.is_compiled ? "Myelin" : words.type,
                          network->layers.items[i].name, words.is_compiled ? 0ULL : (unsigned long long)number);
        add_tensors(&text, engine, i, false, false);
        string_add(&text, " -> ");
        add_tensors(&text, engine, i, true, false);
    }
    say('V', "[TRT] %s", text.data);
    string_release(&text);
}

/* ---- Layer information ---- */

static void describe_tensors(struct layer_info *info, struct layer_info_tensors *ret, const struct engine *engine,
                             size_t layer, bool outputs)
{
    const struct layer *described = &engine->network->layers.items[layer];
    const struct engine_layer *choice = &engine->layers[layer];
    const struct value_list *values = outputs ? &described->outputs : &described->inputs;
    const struct shape *built = outputs ? choice->output_shapes : choice->input_shapes;

    for (size_t i = 0; i < values->count; i++) {
        struct layer_info_tensor *tensor;
        struct value_type type;
        const struct shape *shape;
        const struct value *value;

        if (values->items[i] == VALUE_NONE)
            continue;
        value = &engine->network->model->values.items[values->items[i]];
        if (value->initializer != INITIALIZER_NONE)
            continue;
        tensor = layer_info_add_tensor(info, ret, value->name);
        tensor->type = stored_type(engine, choice, values->items[i]);
        tensor->location = "Device";
        shape = shape_of(engine, values->items[i], built != NULL ? &built[i] : NULL, &type);
        if (shape != NULL)
            layer_info_set_dims(info, tensor, shape->dims, shape->rank);
    }
}

static void describe_layer(struct layer_info *info, const struct engine *engine, size_t number)
{
    const struct layer *layer = &engine->network->layers.items[number];
    const struct engine_layer *choice = &engine->layers[number];
    struct layer_info_layer *ret = layer_info_add_layer(info, text_of(layer->name));
    struct kind_words words = words_of(layer);
    struct string_builder kernel;

    ret->type = words.type;
    string_init(&kernel);
    string_add_format(&kernel, "%s:%s", choice->tactic.provider->name, choice->tactic.name);
    struct text name = {kernel.data, kernel.size};
    struct string_builder safe;

    string_init(&safe);
    add_kernel(&safe, name, choice->precision.precision);
    ret->tactic_name = string_take(&safe);
    string_release(&kernel);
    ret->has_tactic = !words.is_compiled;
    ret->tactic = (int64_t)tactic_number(choice->tactic.number, choice->precision.precision);
    ret->has_stream = true;
    describe_tensors(info, &ret->inputs, engine, number, false);
    describe_tensors(info, &ret->outputs, engine, number, true);
    for (size_t i = 0; i < layer->nodes.count; i++)
        layer_info_add_node(info, ret, engine->network->model->nodes.items[layer->nodes.items[i]].name);
    ret->nodes.told = true;
}

static void describe_bindings(struct layer_info *info, const struct loaded_engine *loaded)
{
    const struct network *network = loaded->engine->network;
    size_t outputs = network->outputs.count - loaded->debug_names.count;

    for (size_t i = 0; i < network->inputs.count + outputs; i++) {
        bool is_input = i < network->inputs.count;
        uint32_t value = is_input ? network->inputs.items[i] : network->outputs.items[i - network->inputs.count];
        struct layer_info_binding *binding = layer_info_add_binding(info, network->model->values.items[value].name,
                                                                    is_input ? LAYER_INFO_INPUT : LAYER_INFO_OUTPUT);
        struct value_type type;

        value_info_decode(network->model->values.items[value].info, &type);
        binding->tensor.type = network_type(network, value);
        binding->tensor.location = "Device";
        if (type.has_shape)
            layer_info_set_dims(info, &binding->tensor, type.shape.dims, type.shape.rank);
    }
}

void layers_export(const struct loaded_engine *loaded)
{
    const struct network *network = loaded->engine->network;
    struct layer_info info;
    struct string_builder text;
    struct error err = {0};

    if (given("dumpLayerInfo")) {
        say('I', "Layer Information:");
        for (size_t i = 0; i < network->layers.count; i++)
            say('I', "Layer %s", network->layers.items[i].name);
    }
    if (option("exportLayerInfo") == NULL)
        return;
    layer_info_init(&info);
    for (size_t i = 0; i < network->layers.count; i++)
        if (loaded->detailed)
            describe_layer(&info, loaded->engine, i);
        else
            layer_info_add_layer(&info, text_of(network->layers.items[i].name));
    describe_bindings(&info, loaded);
    string_init(&text);
    layer_info_write(&info, (stand_in.version & UNTIL_10) != 0 ? LAYER_INFO_SCHEMA_8_TO_10 : LAYER_INFO_SCHEMA_11,
                     &text);
    if (file_write(option("exportLayerInfo"), text.data, text.size, FILE_INTERMEDIATE, &err) < 0)
        say('E', "%s", err.message);
    string_release(&text);
    layer_info_release(&info);
}
