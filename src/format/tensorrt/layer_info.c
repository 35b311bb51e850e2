/* format/tensorrt/layer_info.c: layer information in memory, and read from both of TensorRT's schemas. */
#include "format/tensorrt/layer_info.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "format/json/reader.h"

/* What stands around the name of a node in "Metadata", and between nodes: of one layer, and within Myelin's. */
#define NODE_PREFIX "[ONNX Layer: "
#define NODE_SUFFIX "]"
#define NODE_SEPARATORS "\x1e\x1f"

/* Between the parts of the name of a layer that was fused. */
#define NAME_SEPARATOR " + "

void layer_info_init(struct layer_info *info)
{
    *info = (struct layer_info){0};
    arena_init(&info->arena);
}

void layer_info_release(struct layer_info *info)
{
    for (size_t i = 0; i < info->layers.count; i++) {
        free(info->layers.items[i].inputs.items);
        free(info->layers.items[i].outputs.items);
        free(info->layers.items[i].nodes.items);
    }
    free(info->layers.items);
    free(info->bindings.items);
    arena_release(&info->arena);
    layer_info_init(info);
}

struct layer_info_layer *layer_info_add_layer(struct layer_info *info, struct text name)
{
    struct layer_info_layer *layer = VECTOR_APPEND(&info->layers);

    *layer = (struct layer_info_layer){.name = arena_text(&info->arena, name)};
    return layer;
}

struct layer_info_tensor *layer_info_add_tensor(struct layer_info *info, struct layer_info_tensors *tensors,
                                                struct text name)
{
    struct layer_info_tensor *tensor = VECTOR_APPEND(tensors);

    *tensor = (struct layer_info_tensor){.name = arena_text(&info->arena, name), .format = ""};
    return tensor;
}

void layer_info_add_node(struct layer_info *info, struct layer_info_layer *layer, struct text name)
{
    *VECTOR_APPEND(&layer->nodes) = arena_text(&info->arena, name);
}

struct layer_info_binding *layer_info_add_binding(struct layer_info *info, struct text name, enum layer_info_mode mode)
{
    struct layer_info_binding *binding = VECTOR_APPEND(&info->bindings);

    *binding = (struct layer_info_binding){mode, {.name = arena_text(&info->arena, name), .format = ""}};
    return binding;
}

void layer_info_set_dims(struct layer_info *info, struct layer_info_tensor *tensor, const int64_t *dims, size_t rank)
{
    tensor->dims = arena_copy(&info->arena, dims, rank * sizeof(*dims));
    tensor->rank = rank;
    tensor->has_dims = true;
}

/* ---- Types ---- */

static const struct type_word {
    const char *word;
    enum data_type type;
} type_words[] = {
    /* The first of a type is what TensorRT 10 writes. */
    {"Float", DATA_FLOAT32},     {"FP32", DATA_FLOAT32},    {"Half", DATA_FLOAT16},   {"FP16", DATA_FLOAT16},
    {"BFloat16", DATA_BFLOAT16}, {"BF16", DATA_BFLOAT16},   {"Int8", DATA_INT8},      {"Int32", DATA_INT32},
    {"Int64", DATA_INT64},       {"UInt8", DATA_UINT8},     {"Bool", DATA_BOOL},      {"FP8", DATA_FLOAT8E4M3FN},
    {"E4M3", DATA_FLOAT8E4M3FN}, {"Int4", DATA_INT4},       {"FP4", DATA_FLOAT4E2M1}, {"E2M1", DATA_FLOAT4E2M1},
    {"Float32", DATA_FLOAT32},   {"Float16", DATA_FLOAT16},
};

const char *layer_info_type_word(enum data_type type)
{
    for (size_t i = 0; i < ARRAY_LEN(type_words); i++)
        if (type_words[i].type == type)
            return type_words[i].word;
    return data_type_name(type);
}

static bool equal_ignoring_case(struct text a, const char *b)
{
    size_t size = strlen(b);

    return a.size == size && strncasecmp(a.data, b, size) == 0;
}

enum data_type layer_info_type_find(struct text description)
{
    for (size_t i = 0; i < description.size;) {
        size_t end = i;

        while (end < description.size && isalnum((unsigned char)description.data[end]))
            end++;
        for (size_t k = 0; k < ARRAY_LEN(type_words); k++)
            if (equal_ignoring_case((struct text){description.data + i, end - i}, type_words[k].word))
                return type_words[k].type;
        i = end + 1;
    }
    return DATA_UNDEFINED;
}

/* ---- Reading ---- */

struct layer_info_reader {
    struct json_reader json;
    struct layer_info *info;
};

/* The text of a member; false when it is missing or no text. */
static bool member_text(struct layer_info_reader *reader, json_t *object, const char *key, struct text *ret)
{
    json_t *value = json_object_get(object, key);

    return value && json_reader_text(&reader->json, value, ret, NULL) == 0;
}

static const char *member_copy(struct layer_info_reader *reader, json_t *object, const char *key)
{
    struct text text;

    return member_text(reader, object, key, &text) ? arena_text(&reader->info->arena, text) : NULL;
}

static int need_name(struct layer_info_reader *reader, json_t *object, struct text *ret, struct error *err)
{
    if (!json_is_object(object))
        return error_set(err, ERR_CORRUPT, "an object is expected");
    if (!member_text(reader, object, "Name", ret))
        return error_set(err, ERR_CORRUPT, "the text 'Name' is missing");
    return 0;
}

/* Unlike "Format/Datatype", "Format" alone may leave the type to "Datatype" or "DataType". */
static void read_format(struct layer_info_reader *reader, json_t *object, struct layer_info_tensor *tensor)
{
    struct text text;

    if (member_text(reader, object, "Format/Datatype", &text) || member_text(reader, object, "Format", &text)) {
        tensor->format = arena_text(&reader->info->arena, text);
        tensor->type = layer_info_type_find(text);
    }
    if (member_text(reader, object, "Datatype", &text) || member_text(reader, object, "DataType", &text))
        tensor->type = layer_info_type_find(text);
}

static int read_dims(struct layer_info *info, json_t *list, struct layer_info_tensor *tensor, struct error *err)
{
    int64_t *dims SCOPED_FREE = NULL;
    json_t *dim;
    size_t index;
    int rc = 0;

    if (!list)
        return 0;
    if (!json_is_array(list))
        return error_set(err, ERR_CORRUPT, "'Dimensions' is no list");
    dims = memory_resize(NULL, json_array_size(list), sizeof(*dims));
    json_array_foreach (list, index, dim) {
        if (!json_is_integer(dim))
            return error_set(err, ERR_CORRUPT, "dimension %zu is not an integer", index);
        dims[index] = json_integer_value(dim);
    }
    layer_info_set_dims(info, tensor, dims, json_array_size(list));
    return rc;
}

static int read_tensor(struct layer_info_reader *reader, json_t *object, struct layer_info_tensor *tensor,
                       struct error *err)
{
    read_format(reader, object, tensor);
    tensor->location = member_copy(reader, object, "Location");
    return read_dims(reader->info, json_object_get(object, "Dimensions"), tensor, err);
}

static int read_tensors(struct layer_info_reader *reader, json_t *layer, const char *key,
                        struct layer_info_tensors *ret, struct error *err)
{
    json_t *list = json_object_get(layer, key);
    json_t *tensor;
    size_t index;

    if (!list)
        return 0;
    if (!json_is_array(list))
        return error_set(err, ERR_CORRUPT, "'%s' is no list", key);
    json_array_foreach (list, index, tensor) {
        struct text name;
        int rc = need_name(reader, tensor, &name, err);

        if (rc == 0)
            rc = read_tensor(reader, tensor, layer_info_add_tensor(reader->info, ret, name), err);
        if (rc < 0)
            return error_context(err, "%s: tensor %zu", key, index);
    }
    return 0;
}

/* A number beyond 63 bits keeps its bits. TensorRT writes hexadecimal text; other writers may write numbers. */
static int read_tactic(struct layer_info_reader *reader, json_t *object, struct layer_info_layer *layer,
                       struct error *err)
{
    json_t *value = json_object_get(object, "TacticValue");
    unsigned long long bits;
    struct text text;
    char *end;

    if (!value)
        return 0;
    layer->has_tactic = true;
    layer->tactic = json_integer_value(value);
    if (json_is_integer(value))
        return 0;
    if (json_reader_text(&reader->json, value, &text, err) < 0)
        return error_context(err, "TacticValue");
    bits = strtoull(text.data, &end, 0);
    if (text.size < 3 || text.size > 18 || strncmp(text.data, "0x", 2) != 0 || !isxdigit((unsigned char)text.data[2]) ||
        *end != '\0')
        return error_set(err, ERR_CORRUPT, "TacticValue '" TEXT_FORMAT "' is not a hexadecimal number of up to 64 bits",
                         TEXT_ARGS(text));
    memcpy(&layer->tactic, &bits, sizeof(layer->tactic));
    return 0;
}

static void add_metadata_node(struct layer_info *info, struct layer_info_layer *layer, struct text piece)
{
    size_t prefix = strlen(NODE_PREFIX), suffix = strlen(NODE_SUFFIX);

    if (piece.size >= prefix + suffix && memcmp(piece.data, NODE_PREFIX, prefix) == 0 &&
        memcmp(piece.data + piece.size - suffix, NODE_SUFFIX, suffix) == 0)
        layer_info_add_node(info, layer, (struct text){piece.data + prefix, piece.size - prefix - suffix});
}

static void add_metadata_nodes(struct layer_info *info, struct layer_info_layer *layer, struct text metadata)
{
    layer->nodes.told = true;
    for (size_t i = 0; i < metadata.size;) {
        size_t end = i;

        while (end < metadata.size && !strchr(NODE_SEPARATORS, metadata.data[end]))
            end++;
        add_metadata_node(info, layer, (struct text){metadata.data + i, end - i});
        i = end + 1;
    }
}

/* "Conv_0 + Relu_1", as long as there is no metadata. Layers that TensorRT adds are made of no node, whatever name of
 * another layer theirs holds. */
static void add_named_nodes(struct layer_info *info, struct layer_info_layer *layer)
{
    static const char *const added[] = {"Reformatting CopyNode for ", "Reformatted "};
    const char *name = layer->name;

    for (size_t i = 0; i < ARRAY_LEN(added); i++)
        if (strncmp(name, added[i], strlen(added[i])) == 0)
            return;
    while (name) {
        const char *end = strstr(name, NAME_SEPARATOR);

        layer_info_add_node(info, layer, (struct text){name, end ? (size_t)(end - name) : strlen(name)});
        name = end ? end + strlen(NAME_SEPARATOR) : NULL;
    }
}

static int read_layer(struct layer_info_reader *reader, json_t *object, struct error *err)
{
    struct layer_info_layer *layer;
    struct text text;
    json_t *stream;
    int rc;

    if (json_is_string(object)) {
        if (json_reader_text(&reader->json, object, &text, err) < 0)
            return err->code;
        add_named_nodes(reader->info, layer_info_add_layer(reader->info, text));
        return 0;
    }
    rc = need_name(reader, object, &text, err);
    if (rc < 0)
        return rc;
    layer = layer_info_add_layer(reader->info, text);
    layer->type = member_copy(reader, object, "LayerType");
    layer->tactic_name = member_copy(reader, object, "TacticName");
    stream = json_object_get(object, "StreamId");
    layer->has_stream = json_is_integer(stream);
    layer->stream = json_integer_value(stream);
    rc = read_tactic(reader, object, layer, err);
    if (rc < 0)
        return rc;
    rc = read_tensors(reader, object, "Inputs", &layer->inputs, err);
    if (rc < 0)
        return rc;
    rc = read_tensors(reader, object, "Outputs", &layer->outputs, err);
    if (rc < 0)
        return rc;
    if (member_text(reader, object, "Metadata", &text))
        add_metadata_nodes(reader->info, layer, text);
    else
        add_named_nodes(reader->info, layer);
    return 0;
}

static enum layer_info_mode mode_of(struct text text)
{
    if (equal_ignoring_case(text, "Input"))
        return LAYER_INFO_INPUT;
    return equal_ignoring_case(text, "Output") ? LAYER_INFO_OUTPUT : LAYER_INFO_MODE_UNKNOWN;
}

/* The names of "Bindings" and the objects of "I/O Tensors". */
static int read_binding(struct layer_info_reader *reader, json_t *value, struct error *err)
{
    struct layer_info_binding *binding;
    struct text name, mode = {0};
    int rc;

    if (json_is_string(value)) {
        if (json_reader_text(&reader->json, value, &name, err) < 0)
            return err->code;
        layer_info_add_binding(reader->info, name, LAYER_INFO_MODE_UNKNOWN);
        return 0;
    }
    rc = need_name(reader, value, &name, err);
    if (rc < 0)
        return rc;
    member_text(reader, value, "IOMode", &mode);
    binding = layer_info_add_binding(reader->info, name, mode_of(mode));
    return read_tensor(reader, value, &binding->tensor, err);
}

static int read_root(struct layer_info_reader *reader, struct error *err)
{
    static const char *const binding_keys[] = {"Bindings", "I/O Tensors"};
    json_t *layers = json_object_get(reader->json.root, "Layers");
    json_t *item;
    size_t index;

    if (!json_is_array(layers))
        return error_set(err, ERR_INVALID,
                         "'%s' is no layer information: it has no list 'Layers', which TensorRT's inspector writes",
                         reader->json.name);
    json_array_foreach (layers, index, item) {
        if (read_layer(reader, item, err) < 0)
            return error_context(err, "'%s': layer %zu", reader->json.name, index);
    }
    for (size_t i = 0; i < ARRAY_LEN(binding_keys); i++) {
        json_array_foreach (json_object_get(reader->json.root, binding_keys[i]), index, item) {
            if (read_binding(reader, item, err) < 0)
                return error_context(err, "'%s': %s: tensor %zu", reader->json.name, binding_keys[i], index);
        }
    }
    return 0;
}

/* `rc` is what opening the reader gave. */
static int read_info_and_close(struct layer_info *ret, struct layer_info_reader *reader, int rc, struct error *err)
{
    struct layer_info info;

    if (rc < 0)
        return rc;
    layer_info_init(&info);
    reader->info = &info;
    rc = read_root(reader, err);
    json_reader_release(&reader->json);
    if (rc < 0)
        layer_info_release(&info);
    else
        *ret = info;
    return rc;
}

int layer_info_open(struct layer_info *ret, const char *path, struct error *err)
{
    struct layer_info_reader reader;
    int rc = json_reader_open(&reader.json, path, err);

    return read_info_and_close(ret, &reader, rc, err);
}

int layer_info_parse(struct layer_info *ret, const void *data, size_t size, const char *name, struct error *err)
{
    struct layer_info_reader reader;
    int rc = json_reader_open_memory(&reader.json, data, size, name, err);

    return read_info_and_close(ret, &reader, rc, err);
}
