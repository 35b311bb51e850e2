/* format/tensorrt/replay.c: from layers of an engine to a tactic replay. */
#include "format/tensorrt/replay.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

/* Numbers of implementations in logs of TensorRT 10.16. */
static const struct {
    const char *type;
    int64_t implementation;
} implementations[] = {
    {"Reformat", 0x80000006},       {"CaskConvolution", 0x80000009}, {"Shuffle", 0x8000000d},
    {"LogSoftmaxTopK", 0x80000022}, {"Myelin", 0x80000023},          {"PointWiseV2", 0x80000028},
    {"CaskPooling", 0x8000002f},
};

/* Positive, and beyond the 32 bits of TensorRT's implementations. */
static int64_t number_of(const char *text)
{
    uint64_t bits = hash_bytes(text, strlen(text)).low;

    return (int64_t)((bits >> 1) | (UINT64_C(1) << 62));
}

static int64_t implementation_of(const struct layer_info_layer *layer)
{
    for (size_t i = 0; layer->type && i < ARRAY_LEN(implementations); i++)
        if (strcmp(layer->type, implementations[i].type) == 0)
            return implementations[i].implementation;
    return number_of(layer->type ? layer->type : "");
}

/* ---- Formats ---- */

#define LARGEST_VECTOR 64 /* channels of one element */

enum layout_kind { LAYOUT_UNKNOWN, LAYOUT_LINEAR, LAYOUT_CHANNEL_LAST, LAYOUT_CHANNEL_PACKED };

struct replay_layout {
    enum layout_kind kind;
    int64_t components; /* channels of one element */
};

static struct replay_layout layout_of(const char *format)
{
    static const struct {
        const char *words;
        int64_t components;
    } packed[] = {{"Two wide channel", 2},
                  {"Four wide channel", 4},
                  {"Eight wide channel", 8},
                  {"Sixteen wide channel", 16},
                  {"Thirty-two wide channel", 32}};
    static const char modulo[] = "channel % ";
    const char *found = strstr(format, modulo);
    int64_t components;

    if (!strchr(format, ' ') || strstr(format, "Row major linear"))
        return (struct replay_layout){LAYOUT_LINEAR, 1};
    for (size_t i = 0; i < ARRAY_LEN(packed); i++)
        if (strncmp(format, packed[i].words, strlen(packed[i].words)) == 0)
            return (struct replay_layout){LAYOUT_CHANNEL_PACKED, packed[i].components};
    if (strncmp(format, "Channel major", strlen("Channel major")) != 0)
        return (struct replay_layout){LAYOUT_UNKNOWN, 0};
    if (!found)
        return (struct replay_layout){LAYOUT_CHANNEL_LAST, 1};
    components = strtoll(found + strlen(modulo), NULL, 10);
    return components > 1 && components <= LARGEST_VECTOR ? (struct replay_layout){LAYOUT_CHANNEL_LAST, components}
                                                          : (struct replay_layout){LAYOUT_UNKNOWN, 0};
}

/* Steps from one element to the next along each dimension; channels are dimension 1. False when they would not fit. */
static bool strides_of(const struct layer_info_tensor *tensor, struct replay_layout layout, int64_t *ret)
{
    size_t rank = tensor->rank;
    int64_t step = 1;

    if (layout.kind == LAYOUT_CHANNEL_LAST && rank > 1) {
        ret[1] = 1;
        step = (tensor->dims[1] + layout.components - 1) / layout.components;
    }
    for (size_t i = rank; i-- > 0;) {
        int64_t dim = tensor->dims[i];

        if (layout.kind == LAYOUT_CHANNEL_LAST && i == 1)
            continue;
        if (layout.kind == LAYOUT_CHANNEL_PACKED && i == 1)
            dim = (dim + layout.components - 1) / layout.components;
        ret[i] = step;
        if (__builtin_mul_overflow(step, dim, &step))
            return false;
    }
    return true;
}

static const char *dtype_of(enum data_type type)
{
    static const char *const names[DATA_TYPE_COUNT] = {
        [DATA_FLOAT32] = "DataType.FLOAT",    [DATA_FLOAT16] = "DataType.HALF",   [DATA_BFLOAT16] = "DataType.BF16",
        [DATA_INT8] = "DataType.INT8",        [DATA_INT32] = "DataType.INT32",    [DATA_INT64] = "DataType.INT64",
        [DATA_UINT8] = "DataType.UINT8",      [DATA_BOOL] = "DataType.BOOL",      [DATA_INT4] = "DataType.INT4",
        [DATA_FLOAT8E4M3FN] = "DataType.FP8", [DATA_FLOAT4E2M1] = "DataType.FP4",
    };

    return names[type] ? names[type] : "DataType.UNKNOWN";
}

static void add_unknown(struct tactic_tensors *ret, const struct layer_info_tensor *tensor)
{
    SCOPED_STRING(words);

    string_add_format(&words, "%s (%s)", dtype_of(tensor->type), tensor->format);
    tactic_tensors_add(ret, (struct text){words.data, words.size}, NULL, 0);
}

static bool is_fixed(const struct layer_info_tensor *tensor)
{
    for (size_t i = 0; i < tensor->rank; i++)
        if (tensor->dims[i] < 0 || tensor->dims[i] > INT32_MAX)
            return false;
    return tensor->has_dims;
}

/* A shape that is not fixed has no strides: a format that people know by its words is told by them. */
static void add_layer_tensor(struct tactic_tensors *ret, const struct layer_info_tensor *tensor)
{
    struct replay_layout layout = layout_of(tensor->format);
    int64_t *strides SCOPED_FREE = memory_resize(NULL, tensor->rank, sizeof(*strides));

    if (layout.kind != LAYOUT_UNKNOWN && is_fixed(tensor) && strides_of(tensor, layout, strides)) {
        struct tactic_tensor *added = tactic_tensors_add(ret, text_of(dtype_of(tensor->type)), strides, tensor->rank);

        if (layout.components > 1) {
            added->vectorized_dim.value = 1;
            added->components_per_element.value = layout.components;
        }
    } else {
        add_unknown(ret, tensor);
    }
}

static void add_layer_info_tensors(struct tactic_tensors *ret, const struct layer_info_tensors *tensors)
{
    for (size_t i = 0; i < tensors->count; i++)
        add_layer_tensor(ret, &tensors->items[i]);
}

/* ---- Layers ---- */

/* A place for the layer's algorithm: under its name, or with a number behind it when that is taken. `numbers` has the
 * next one for each name. */
static struct tactic_algorithm *place_for(struct tactic_replay *replay, struct name_map *numbers, const char *name)
{
    uint32_t number = name_map_add(numbers, text_of(name), 1);
    SCOPED_STRING(numbered);

    string_add(&numbered, name);
    while (tactic_replay_find(replay, numbered.data)) {
        string_clear(&numbered);
        string_add_format(&numbered, "%s (%u)", name, ++number);
    }
    name_map_set(numbers, text_of(name), number);
    return tactic_replay_set(replay, numbered.data);
}

int layer_info_to_replay(const struct layer_info *info, struct tactic_replay *replay, struct error *err)
{
    SCOPED_NAME_MAP(numbers);
    size_t told = 0;

    VECTOR_EACH (const struct layer_info_layer, layer, info->layers) {
        struct tactic_algorithm *algorithm;

        if (!layer->has_tactic && !layer->tactic_name)
            continue;
        algorithm = place_for(replay, &numbers, layer->name);
        algorithm->implementation = implementation_of(layer);
        algorithm->tactic = layer->has_tactic ? layer->tactic : number_of(layer->tactic_name);
        add_layer_info_tensors(&algorithm->inputs, &layer->inputs);
        add_layer_info_tensors(&algorithm->outputs, &layer->outputs);
        algorithm->name = layer->tactic_name ? memory_strdup(layer->tactic_name) : NULL;
        told++;
    }
    if (told == 0)
        return error_set(err, ERR_UNSUPPORTED,
                         "no tactic is told of any of the %zu layer(s): build the engine with "
                         "--profiling-verbosity=detailed",
                         info->layers.count);
    return 0;
}
