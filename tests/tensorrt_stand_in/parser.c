/* tests/tensorrt_stand_in/parser.c: the parser of ONNX models, and its errors. */
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "backend/onnxrt/settings.h"
#include "backend/type_inference.h"
#include "base/file/file.h"
#include "onnx/model/operators.h"
#include "tensorrt_stand_in/network.h"

struct parser_error {
    struct object object;
    int32_t code, node;
    char *text, *function, *node_name, *operator;
};

struct node_range {
    int64_t *items;
    size_t count, capacity;
    bool supported;
};

struct stand_in_parser {
    struct object object;
    struct stand_in_network *network;
    uint32_t flags;
    struct {
        struct parser_error **items;
        size_t count, capacity;
    } errors;
    struct {
        struct node_range *items;
        size_t count, capacity;
    } ranges; /* of supportsModelV2() */
};

/* Codes are those of nvonnxparser::ErrorCode, which are the same in all releases up to 8. */
enum { INTERNAL_ERROR = 1, DESERIALIZE_FAILED = 3, INVALID_GRAPH = 5, INVALID_NODE = 6 };

static struct parser_error *add_error(struct stand_in_parser *parser, int32_t code, const char *function,
                                      const char *text)
{
    struct parser_error *ret = object_new(sizeof(*ret), "IParserError", NULL);

    ret->code = code;
    ret->node = -1;
    ret->text = memory_strdup(text);
    ret->function = memory_strdup(function);
    ret->node_name = memory_strdup("");
    ret->operator= memory_strdup("");
    *VECTOR_APPEND(&parser->errors) = ret;
    return ret;
}

static void add_node_error(struct stand_in_parser *parser, const struct model *model, uint32_t node, const char *text)
{
    const struct node *item = &model->nodes.items[node];
    struct parser_error *error = add_error(parser, INVALID_NODE, "checkFallbackPluginImporter", text);

    error->node = (int32_t)node;
    error->node_name = memory_copy(item->name.data, item->name.size);
    error->operator= memory_copy(item->op_type.data, item->op_type.size);
    report(SEVERITY_ERROR, "In node %d with name: %s and operator: %s (checkFallbackPluginImporter): INVALID_NODE: %s",
           error->node, error->node_name, error->operator, text);
}

static bool is_refused(struct text op_type)
{
    const char *refused = getenv("TENSORRT_STAND_IN_REFUSED");
    bool found = false;

    for (const char *at = refused; at != NULL && *at != '\0'; at += strcspn(at, ","), at += *at == ',')
        found = found || text_equal(op_type, (struct text){at, strcspn(at, ",")});
    return found || !operator_is_standard(op_type);
}

static bool is_supported(const struct node *node)
{
    return domain_is_standard(node->domain) && !is_refused(node->op_type);
}

static bool infer_types(struct stand_in_parser *parser, struct model *model)
{
    static const struct onnxrt_settings settings = {.optimization_level = -1, .intra_threads = 1, .inter_threads = 1};
    struct backend_request request = {.settings = &settings};
    struct error err = {0};

    if (types_infer(model, NULL, &onnxrt_backend, &request, NULL, &err) == 0)
        return true;
    add_error(parser, INVALID_GRAPH, "parseGraph", err.message);
    report_error("kINVALID_ARGUMENT", "%s", err.message);
    return false;
}

/* Takes bytes and folder over. */
static bool parse_bytes(struct stand_in_parser *parser, char *bytes, size_t size, char *folder)
{
    struct stand_in_network *network = parser->network;
    struct model *model;
    struct error err = {0};

    end_at_stage("parse");
    network->bytes = bytes;
    network->size = size;
    network->folder = folder;
    if (has_fault("parser-fails"))
        return false;
    if (model_parse((struct span){(const uint8_t *)bytes, size}, "model", &model, &err) < 0) {
        add_error(parser, DESERIALIZE_FAILED, "deserializeOnnxModel", err.message);
        return false;
    }
    free(model->folder);
    model->folder = memory_strdup(folder);
    for (uint32_t i = 0; i < model->nodes.count; i++)
        if (!is_supported(&model->nodes.items[i])) {
            add_node_error(parser, model, i,
                           "creator && \"Plugin not found, are the plugin name, version, and namespace correct?\"");
            model_free(model);
            return false;
        }
    if (!infer_types(parser, model)) {
        model_free(model);
        return false;
    }
    network_fill(network, model);
    return true;
}

static bool parse_memory(void *self, const void *data, size_t size, const char *path)
{
    return parse_bytes(object_of(self), memory_copy(data, size), size,
                       path != NULL ? file_folder(path) : memory_strdup("."));
}

static bool parse_memory_alone(void *self, const void *data, size_t size)
{
    return parse_memory(self, data, size, NULL);
}

static bool parse_file(void *self, const char *path, int32_t verbosity)
{
    struct file_map map;
    struct error err = {0};
    bool parsed;

    (void)verbosity;
    if (file_map_open(path, &map, &err) < 0) {
        add_error(object_of(self), DESERIALIZE_FAILED, "parseFromFile", err.message);
        return false;
    }
    parsed = parse_memory(self, map.data, map.size, path);
    file_map_release(&map);
    return parsed;
}

static bool supports_operator(const void *self, const char *operator)
{
    (void)self;
    return !is_refused(text_of(operator));
}

/* As NVIDIA's parser: the first refused node is an error; subgraphs are the runs of nodes between refused ones, and are
 * flagged as supported only where the model as a whole is. */
static bool supports_model(void *self, const void *data, size_t size, const char *path)
{
    struct stand_in_parser *parser = object_of(self);
    struct model *model;
    struct error err = {0};
    bool all = true, is_new = true;

    (void)path;
    if (model_parse((struct span){data, size}, "model", &model, &err) < 0) {
        add_error(parser, DESERIALIZE_FAILED, "supportsModel", err.message);
        return false;
    }
    parser->ranges.count = 0;
    for (uint32_t i = 0; i < model->nodes.count; i++) {
        if (!is_supported(&model->nodes.items[i])) {
            if (all)
                add_node_error(parser, model, i, "Plugin not found");
            is_new = true;
            all = false;
            continue;
        }
        if (is_new)
            *VECTOR_APPEND(&parser->ranges) = (struct node_range){0};
        is_new = false;
        *VECTOR_APPEND(&parser->ranges.items[parser->ranges.count - 1]) = i;
    }
    for (size_t i = 0; i < parser->ranges.count; i++)
        parser->ranges.items[i].supported = all;
    model_free(model);
    return all;
}

static int64_t get_range_count(const void *self)
{
    return (int64_t)((struct stand_in_parser *)object_of(self))->ranges.count;
}

static bool range_is_supported(const void *self, int64_t index)
{
    return ((struct stand_in_parser *)object_of(self))->ranges.items[index].supported;
}

static int64_t *get_range_nodes(const void *self, int64_t index, int64_t *ret_count)
{
    struct node_range *range = &((struct stand_in_parser *)object_of(self))->ranges.items[index];

    *ret_count = (int64_t)range->count;
    return range->items;
}

static int32_t get_error_count(const void *self)
{
    return (int32_t)((struct stand_in_parser *)object_of(self))->errors.count;
}

static const void *get_error(const void *self, int32_t index)
{
    struct stand_in_parser *parser = object_of(self);

    return index < 0 || (size_t)index >= parser->errors.count ? NULL : &parser->errors.items[index]->object.methods;
}

static void clear_errors(void *self)
{
    ((struct stand_in_parser *)object_of(self))->errors.count = 0;
}

static void set_parser_flags(void *self, uint32_t flags)
{
    ((struct stand_in_parser *)object_of(self))->flags = flags;
}

GETTER(get_parser_flags, uint32_t, struct stand_in_parser, flags)

static void clear_parser_flag(void *self, int32_t flag)
{
    ((struct stand_in_parser *)object_of(self))->flags &= ~(1U << flag);
}

static void set_parser_flag(void *self, int32_t flag)
{
    ((struct stand_in_parser *)object_of(self))->flags |= 1U << flag;
}

static bool get_parser_flag(const void *self, int32_t flag)
{
    return (get_parser_flags(self) >> flag & 1) != 0;
}

static const char *const *get_plugin_libraries(const void *self, int64_t *ret_count)
{
    (void)self;
    *ret_count = 0;
    return NULL;
}

/* ---- Errors ---- */

GETTER(get_code, int32_t, struct parser_error, code)
GETTER(get_text, const char *, struct parser_error, text)

static const char *get_file(const void *self)
{
    (void)self;
    return "ModelImporter.cpp";
}

static int32_t get_line(const void *self)
{
    (void)self;
    return 1;
}

GETTER(get_function, const char *, struct parser_error, function)
GETTER(get_node, int32_t, struct parser_error, node)
GETTER(get_node_name, const char *, struct parser_error, node_name)
GETTER(get_node_operator, const char *, struct parser_error, operator)

static const char *const *get_function_stack(const void *self)
{
    (void)self;
    return NULL;
}

static int32_t get_function_depth(const void *self)
{
    (void)self;
    return 0;
}

const struct method_row parser_methods[] = {
    {"IParser", "parse", "8.5..11.1:0 rtx:0", CALL(parse_memory)},
    {"IParser", "parseFromFile", "8.5..11.1:1 rtx:1", CALL(parse_file)},
    {"IParser", "parseWithWeightDescriptors", "8.5..10.16:3", CALL(parse_memory_alone)},
    {"IParser", "supportsOperator", "8.5..10.16:4 11.0..11.1:2 rtx:2", CALL(supports_operator)},
    {"IParser", "destroy", "8.5..9.3:5", CALL(delete_interface)},
    {"IParser", "getNbErrors", "8.5..9.3:6 10.0..10.16:5 11.0..11.1:3 rtx:3", CALL(get_error_count)},
    {"IParser", "getError", "8.5..9.3:7 10.0..10.16:6 11.0..11.1:4 rtx:4", CALL(get_error)},
    {"IParser", "clearErrors", "8.5..9.3:8 10.0..10.16:7 11.0..11.1:5 rtx:5", CALL(clear_errors)},
    {"IParser", "~IParser", "8.5..9.3:10 10.0..10.16:9 11.0..11.1:7 rtx:7", CALL(delete_interface)},
    {"IParser", "getUsedVCPluginLibraries", "8.6..9.3:11 10.0..10.16:10 11.0..11.1:8 rtx:8",
     CALL(get_plugin_libraries)},
    {"IParser", "setFlags", "8.6..9.3:12 10.0..10.16:11 11.0..11.1:9 rtx:9", CALL(set_parser_flags)},
    {"IParser", "getFlags", "8.6..9.3:13 10.0..10.16:12 11.0..11.1:10 rtx:10", CALL(get_parser_flags)},
    {"IParser", "clearFlag", "8.6..9.3:14 10.0..10.16:13 11.0..11.1:11 rtx:11", CALL(clear_parser_flag)},
    {"IParser", "setFlag", "8.6..9.3:15 10.0..10.16:14 11.0..11.1:12 rtx:12", CALL(set_parser_flag)},
    {"IParser", "getFlag", "8.6..9.3:16 10.0..10.16:15 11.0..11.1:13 rtx:13", CALL(get_parser_flag)},
    {"IParser", "supportsModelV2", "10.8..10.16:17 11.0..11.1:15 rtx:15", CALL(supports_model)},
    {"IParser", "getNbSubgraphs", "10.8..10.16:18 11.0..11.1:16 rtx:16", CALL(get_range_count)},
    {"IParser", "isSubgraphSupported", "10.8..10.16:19 11.0..11.1:17 rtx:17", CALL(range_is_supported)},
    {"IParser", "getSubgraphNodes", "10.8..10.16:20 11.0..11.1:18 rtx:18", CALL(get_range_nodes)},
    {"IParser", "setBuilderConfig", "10.16:24 11.0..11.1:22 rtx:22", CALL(answer_true)},
    {"IParserError", "code", "8.5..11.1:0 rtx:0", CALL(get_code)},
    {"IParserError", "desc", "8.5..11.1:1 rtx:1", CALL(get_text)},
    {"IParserError", "file", "8.5..11.1:2 rtx:2", CALL(get_file)},
    {"IParserError", "line", "8.5..11.1:3 rtx:3", CALL(get_line)},
    {"IParserError", "func", "8.5..11.1:4 rtx:4", CALL(get_function)},
    {"IParserError", "node", "8.5..11.1:5 rtx:5", CALL(get_node)},
    {"IParserError", "nodeName", "10.0..11.1:6 rtx:6", CALL(get_node_name)},
    {"IParserError", "nodeOperator", "10.0..11.1:7 rtx:7", CALL(get_node_operator)},
    {"IParserError", "localFunctionStack", "10.0..11.1:8 rtx:8", CALL(get_function_stack)},
    {"IParserError", "localFunctionStackSize", "10.0..11.1:9 rtx:9", CALL(get_function_depth)},
    {NULL, NULL, NULL, {NULL}},
};

__attribute__((visibility("default"))) void *createNvOnnxParser_INTERNAL(struct object *network, void *logger,
                                                                         int32_t version);
void *createNvOnnxParser_INTERNAL(struct object *network, void *logger, int32_t version)
{
    struct stand_in_parser *ret;

    report_set_logger(logger);
    if (version != release_get()->parser_version || has_fault("null-parser")) {
        report_error("kINVALID_ARGUMENT", "the parser's version is %d, not %d", release_get()->parser_version, version);
        return NULL;
    }
    ret = object_new(sizeof(*ret), "IParser", NULL);
    ret->network = (struct stand_in_network *)network;
    ret->flags = 1;
    return &ret->object.methods;
}

__attribute__((visibility("default"))) int32_t getNvOnnxParserVersion(void);
int32_t getNvOnnxParserVersion(void)
{
    return release_get()->parser_version;
}
