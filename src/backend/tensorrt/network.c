/* backend/tensorrt/network.c: see network.h. */
#include "backend/tensorrt/network.h"

#include <dlfcn.h>
#include <string.h>
#include <strings.h>

#include "backend/tensorrt/interfaces.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "base/container/name_map.h"
#include "base/text/names.h"

/* ---- Errors of the parser ---- */

static const char *text_or(const char *text, const char *other)
{
    return text != NULL && text[0] != '\0' ? text : other;
}

static void add_node(void *error, struct string_builder *ret)
{
    int32_t node = TENSORRT_GET(IParserError, node, error);
    const char *name = "", *kind = "";

    if (tensorrt_has(TENSORRT_METHOD(IParserError, nodeName))) {
        name = text_or(TENSORRT_GET(IParserError, nodeName, error), "");
        kind = text_or(TENSORRT_GET(IParserError, nodeOperator, error), "");
    }
    if (node >= 0)
        string_add_format(ret, "node %d", node);
    else
        string_add(ret, "the model");
    if (name[0] != '\0') {
        string_add_char(ret, ' ');
        string_add_quoted(ret, name);
    }
    if (kind[0] != '\0')
        string_add_format(ret, " (%s)", kind);
}

struct words tensorrt_parser_error_functions(void *error)
{
    int32_t count = tensorrt_has(TENSORRT_METHOD(IParserError, localFunctionStackSize))
                        ? TENSORRT_GET(IParserError, localFunctionStackSize, error)
                        : 0;
    const char *const *names = count > 0 ? TENSORRT_GET(IParserError, localFunctionStack, error) : NULL;

    return (struct words){.items = names, .count = names != NULL ? (size_t)count : 0};
}

static void add_functions(void *error, struct string_builder *ret)
{
    struct words names = tensorrt_parser_error_functions(error);

    for (size_t i = 0; i < names.count; i++)
        string_add_format(ret, "%s%s", i == 0 ? ", in the function " : " of ", names.items[i]);
}

int tensorrt_report_parser_error(void *error, int32_t count, const char *what, struct error *err)
{
    SCOPED_STRING(text);

    string_add_format(&text, "%s ", what);
    add_node(error, &text);
    add_functions(error, &text);
    string_add_format(&text, ": %s (code %d)", text_or(TENSORRT_GET(IParserError, desc, error), "it does not say why"),
                      TENSORRT_GET(IParserError, code, error));
    if (count > 1)
        string_add_format(&text, "; and %d more errors", count - 1);
    error_set(err, ERR_BACKEND, "%s", text.data);
    if (err != NULL)
        err->foreign_code = ERROR_OF_PARSER + TENSORRT_GET(IParserError, code, error);
    return ERR_BACKEND;
}

int tensorrt_refuse_model(void *parser, struct error *err)
{
    int32_t count = TENSORRT_GET(IParser, getNbErrors, parser);

    if (count < 1)
        return tensorrt_failure(err, "TensorRT's parser refuses the model");
    return tensorrt_report_parser_error(TENSORRT_CALL(IParser, getError, parser, 0), count, "TensorRT's parser refuses",
                                        err);
}

/* ---- Parsing ---- */

static int load_plugins(const struct tensorrt *trt, const struct tensorrt_settings *settings, struct error *err)
{
    if (trt->register_plugins != NULL)
        trt->register_plugins(tensorrt_logger(settings->log), "");
    for (size_t i = 0; i < settings->plugins.count; i++)
        if (dlopen(settings->plugins.items[i], RTLD_NOW | RTLD_GLOBAL) == NULL)
            return error_set(err, ERR_MISSING, "--plugins: %s", dlerror());
    return 0;
}

static int set_parser_flags(const struct tensorrt_network *network, struct error *err)
{
    const struct words *wanted = &network->settings->onnx_flags;
    int32_t flag;

    if (tensorrt_value_of(TENSORRT_PARSER_FLAG, "NATIVE_INSTANCENORM", &flag)) {
        if (network->settings->plugin_instance_norm)
            TENSORRT_CALL(IParser, clearFlag, network->parser, flag);
        else
            TENSORRT_CALL(IParser, setFlag, network->parser, flag);
    }
    for (size_t i = 0; i < wanted->count; i++) {
        if (tensorrt_value_find(TENSORRT_PARSER_FLAG, wanted->items[i], "--onnx-flags", &flag, err) < 0)
            return err->code;
        TENSORRT_CALL(IParser, setFlag, network->parser, flag);
        if (!TENSORRT_CALL(IParser, getFlag, network->parser, flag))
            return error_set(err, ERR_UNSUPPORTED, "--onnx-flags: this release of TensorRT has no %s",
                             wanted->items[i]);
    }
    return 0;
}

static bool parse_source(void *parser, const struct backend_model *source)
{
    char *place SCOPED_FREE = NULL;

    if (source->path != NULL)
        return TENSORRT_CALL(IParser, parseFromFile, parser, source->path, 0);
    place = file_join(source->external_folder != NULL ? source->external_folder : ".", "model.onnx");
    return TENSORRT_CALL(IParser, parse, parser, source->data, source->size, place);
}

static uint32_t network_flags(const struct tensorrt_settings *settings)
{
    uint32_t flags = 0;
    int32_t flag;

    if (tensorrt_value_of(TENSORRT_NETWORK_FLAG, "EXPLICIT_BATCH", &flag))
        flags |= 1u << flag;
    if (settings->strongly_typed && tensorrt_value_of(TENSORRT_NETWORK_FLAG, "STRONGLY_TYPED", &flag))
        flags |= 1u << flag;
    return flags;
}

static int create_objects(const struct tensorrt *trt, struct tensorrt_network *network, struct error *err)
{
    void *logger = tensorrt_logger(network->settings->log);
    SCOPED_STRING(text);

    if (trt->create_builder == NULL || trt->create_parser == NULL) {
        tensorrt_describe(trt, &text);
        return trt->create_builder == NULL
                   ? error_set(err, ERR_UNSUPPORTED, "%s ('%s') runs engines, and builds none", text.data,
                               trt->place.path)
                   : error_set(err, ERR_MISSING,
                               "the ONNX parser of %s was not found, neither beside '%s' nor by the system's loader",
                               text.data, trt->place.path);
    }
    network->builder = tensorrt_object(trt->create_builder(logger, trt->number));
    if (network->builder == NULL)
        return tensorrt_failure(err, "TensorRT gives no builder");
    TENSORRT_CALL(VBuilder, setErrorRecorder, network->builder, tensorrt_error_recorder());
    network->network =
        tensorrt_object(TENSORRT_CALL(VBuilder, createNetworkV2, network->builder, network_flags(network->settings)));
    if (network->network == NULL)
        return tensorrt_failure(err, "TensorRT gives no network");
    network->parser = tensorrt_object(trt->create_parser(network->network, logger, trt->parser_number));
    return network->parser != NULL ? 0 : tensorrt_failure(err, "TensorRT gives no parser");
}

/* ---- Layers and tensors ---- */

const char *tensorrt_layer_type(void *layer)
{
    const char *name = tensorrt_value_name(TENSORRT_LAYER_TYPE, TENSORRT_GET(VLayer, getType, layer));

    return name != NULL ? name : "?";
}

/* Metadata of layers are "[ONNX Layer: NAME]", and several of these where layers were merged. */
bool tensorrt_layer_is(void *layer, const char *name)
{
    static const char mark[] = "[ONNX Layer: ";
    const char *own = TENSORRT_GET(VLayer, getName, layer);
    const char *metadata =
        tensorrt_has(TENSORRT_METHOD(VLayer, getMetadata)) ? TENSORRT_GET(VLayer, getMetadata, layer) : NULL;
    size_t size = strlen(name);

    if (own != NULL && text_matches_pattern(text_of(own), text_of(name)))
        return true;
    while (metadata != NULL && (metadata = strstr(metadata, mark)) != NULL) {
        metadata += sizeof(mark) - 1;
        if (strncmp(metadata, name, size) == 0 && metadata[size] == ']')
            return true;
    }
    return false;
}

static bool has_tensor_name(void *tensor, const char *name)
{
    const char *own = tensor != NULL ? TENSORRT_GET(VTensor, getName, tensor) : NULL;

    return own != NULL && strcmp(own, name) == 0;
}

void *tensorrt_network_find(const struct tensorrt_network *network, const char *name)
{
    int32_t inputs = TENSORRT_GET(VNetworkDefinition, getNbInputs, network->network);
    int32_t layers = TENSORRT_GET(VNetworkDefinition, getNbLayers, network->network);

    for (int32_t i = 0; i < inputs; i++) {
        void *tensor = TENSORRT_CALL(VNetworkDefinition, getInput, network->network, i);

        if (has_tensor_name(tensor, name))
            return tensor;
    }
    for (int32_t i = 0; i < layers; i++) {
        void *layer = TENSORRT_CALL(VNetworkDefinition, getLayer, network->network, i);
        int32_t outputs = TENSORRT_GET(VLayer, getNbOutputs, layer);

        for (int32_t k = 0; k < outputs; k++) {
            void *tensor = TENSORRT_CALL(VLayer, getOutput, layer, k);

            if (has_tensor_name(tensor, name))
                return tensor;
        }
    }
    return NULL;
}

/* ---- Outputs ---- */

static int refuse_name(const struct tensorrt_network *network, const char *option, const char *name, struct error *err)
{
    int32_t layers = TENSORRT_GET(VNetworkDefinition, getNbLayers, network->network);
    struct close_names close;
    SCOPED_STRING(text);

    close_names_start(&close, text_of(name));
    for (int32_t i = 0; i < layers; i++) {
        void *layer = TENSORRT_CALL(VNetworkDefinition, getLayer, network->network, i);

        for (int32_t k = 0; k < TENSORRT_GET(VLayer, getNbOutputs, layer); k++) {
            void *tensor = TENSORRT_CALL(VLayer, getOutput, layer, k);

            if (tensor != NULL)
                close_names_offer(&close, text_of(TENSORRT_GET(VTensor, getName, tensor)));
        }
    }
    close_names_add_to(&close, &text);
    return error_set(err, ERR_INVALID, "%s: TensorRT's network has no tensor '%s'%s", option, name,
                     text.size > 0 ? text.data : "");
}

static void unmark_outputs(const struct tensorrt_network *network)
{
    for (int32_t i = TENSORRT_GET(VNetworkDefinition, getNbOutputs, network->network); i-- > 0;)
        TENSORRT_CALL(VNetworkDefinition, unmarkOutput, network->network,
                      TENSORRT_CALL(VNetworkDefinition, getOutput, network->network, i));
}

static void mark_tensor(const struct tensorrt_network *network, void *tensor)
{
    if (!TENSORRT_GET(VTensor, isNetworkOutput, tensor))
        TENSORRT_CALL(VNetworkDefinition, markOutput, network->network, tensor);
}

/* Marks the outputs of a layer whose names match. Returns whether there are any. */
static bool mark_layer(const struct tensorrt_network *network, void *layer, const char *pattern)
{
    bool any = false;

    for (int32_t k = 0; k < TENSORRT_GET(VLayer, getNbOutputs, layer); k++) {
        void *tensor = TENSORRT_CALL(VLayer, getOutput, layer, k);

        if (tensor == NULL || !TENSORRT_GET(VTensor, isExecutionTensor, tensor) ||
            !text_matches_pattern(text_of(TENSORRT_GET(VTensor, getName, tensor)), text_of(pattern)))
            continue;
        mark_tensor(network, tensor);
        any = true;
    }
    return any;
}

/* Every output of every layer, but those inside of loops, which TensorRT does not give out, and constants. */
static void mark_all_tensors(const struct tensorrt_network *network)
{
    static const char *const loop_starts[] = {"TRIP_LIMIT", "ITERATOR", "RECURRENCE"};
    int32_t layers = TENSORRT_GET(VNetworkDefinition, getNbLayers, network->network);
    bool is_in_loop = false;

    for (int32_t i = 0; i < layers; i++) {
        void *layer = TENSORRT_CALL(VNetworkDefinition, getLayer, network->network, i);
        const char *type = tensorrt_layer_type(layer);

        if (text_is_one_of(text_of(type), loop_starts, ARRAY_LEN(loop_starts)))
            is_in_loop = true;
        else if (strcmp(type, "LOOP_OUTPUT") == 0)
            is_in_loop = false;
        if (is_in_loop || strcmp(type, "CONSTANT") == 0)
            continue;
        mark_layer(network, layer, "*");
    }
}

/* Marks the outputs of layers that match a pattern. Returns whether there are any. */
static bool mark_matching(const struct tensorrt_network *network, const char *pattern)
{
    int32_t layers = TENSORRT_GET(VNetworkDefinition, getNbLayers, network->network);
    bool any = false;

    for (int32_t i = 0; i < layers; i++)
        any |= mark_layer(network, TENSORRT_CALL(VNetworkDefinition, getLayer, network->network, i), pattern);
    return any;
}

static int mark_named(const struct tensorrt_network *network, const struct words *names, const char *option,
                      struct error *err)
{
    for (size_t i = 0; i < names->count; i++) {
        bool may_miss = names->items[i][0] == NAME_MAY_MISS;
        void *tensor = tensorrt_network_find(network, names->items[i] + may_miss);

        if (tensor == NULL && !may_miss && output_name_is_pattern(names->items[i]) &&
            mark_matching(network, names->items[i]))
            continue;
        if (tensor == NULL && !may_miss)
            return refuse_name(network, option, names->items[i], err);
        if (tensor != NULL)
            mark_tensor(network, tensor);
    }
    return 0;
}

static int refuse_layer_type(const struct tensorrt_network *network, const char *type, struct error *err)
{
    int32_t layers = TENSORRT_GET(VNetworkDefinition, getNbLayers, network->network);
    SCOPED_NAME_MAP(seen);
    SCOPED_STRING(text);

    for (int32_t i = 0; i < layers; i++) {
        void *layer = TENSORRT_CALL(VNetworkDefinition, getLayer, network->network, i);
        struct text known = text_of(tensorrt_layer_type(layer));

        if (name_map_find(&seen, known) != NAME_MAP_NONE)
            continue;
        name_map_add(&seen, known, 0);
        string_add_format(&text, " " TEXT_FORMAT, TEXT_ARGS(known));
    }
    return error_set(err, ERR_INVALID,
                     "--trt-outputs-by-type: No TensorRT layer type '%s' was found in the network, which has%s", type,
                     text.data);
}

static bool mark_layer_type(const struct tensorrt_network *network, const char *type)
{
    int32_t layers = TENSORRT_GET(VNetworkDefinition, getNbLayers, network->network);
    bool any = false;

    for (int32_t i = 0; i < layers; i++) {
        void *layer = TENSORRT_CALL(VNetworkDefinition, getLayer, network->network, i);

        any |= strcasecmp(tensorrt_layer_type(layer), type) == 0 && mark_layer(network, layer, "*");
    }
    return any;
}

/* An attention is one object, which its boundary layers refer to: behind the fields of ILayer, theirs have a pointer to
 * the implementation of the boundary (NvInfer.h, IAttentionBoundaryLayer). */
static int mark_attentions(const struct tensorrt_network *network, struct error *err)
{
    int32_t layers = TENSORRT_GET(VNetworkDefinition, getNbLayers, network->network);

    if (tensorrt_require(TENSORRT_METHOD(VAttention, setDecomposable), "--decomposable-attentions", err) < 0)
        return err->code;
    for (int32_t i = 0; i < layers; i++) {
        void **layer = TENSORRT_CALL(VNetworkDefinition, getLayer, network->network, i);
        void *attention;

        if (strcmp(tensorrt_layer_type(layer), "ATTENTION_INPUT") != 0)
            continue;
        attention = tensorrt_object(TENSORRT_GET(VAttentionBoundaryLayer, getAttention, layer + 1));
        if (attention == NULL || !TENSORRT_CALL(VAttention, setDecomposable, attention, true))
            return tensorrt_failure(err, "--decomposable-attentions");
    }
    return 0;
}

/* As --trt-outputs says; then the outputs of layers of certain types become the only ones. */
static int mark_wanted(const struct tensorrt_network *network, const struct tensorrt_settings *settings,
                       struct error *err)
{
    const struct words *types = &settings->output_types;

    if (settings->outputs.mark_all || settings->outputs.names.count + types->count > 0)
        unmark_outputs(network);
    if (types->count == 0 && settings->outputs.mark_all)
        mark_all_tensors(network);
    else if (types->count == 0)
        return mark_named(network, &settings->outputs.names, "--trt-outputs", err);
    for (size_t i = 0; i < types->count; i++)
        if (!mark_layer_type(network, types->items[i]))
            return refuse_layer_type(network, types->items[i], err);
    return 0;
}

static int mark_outputs(const struct tensorrt_network *network, struct error *err)
{
    const struct tensorrt_settings *settings = network->settings;
    int rc = mark_wanted(network, settings, err);

    for (size_t i = 0; i < settings->excluded_outputs.count && rc == 0; i++) {
        void *tensor = tensorrt_network_find(network, settings->excluded_outputs.items[i]);

        if (tensor == NULL || !TENSORRT_GET(VTensor, isNetworkOutput, tensor))
            rc = error_set(err, ERR_INVALID, "--trt-exclude-outputs: '%s' is no output",
                           settings->excluded_outputs.items[i]);
        else
            TENSORRT_CALL(VNetworkDefinition, unmarkOutput, network->network, tensor);
    }
    if (rc == 0)
        rc = mark_named(network, &settings->barriers, "outputs that keep layers apart", err);
    return rc;
}

static int mark_debug_tensors(const struct tensorrt_network *network, struct error *err)
{
    const struct tensorrt_settings *settings = network->settings;

    if (settings->mark_debug.count > 0 &&
        tensorrt_require(TENSORRT_METHOD(VNetworkDefinition, markDebug), "--mark-debug", err) < 0)
        return err->code;
    for (size_t i = 0; i < settings->mark_debug.count; i++) {
        void *tensor = tensorrt_network_find(network, settings->mark_debug.items[i]);

        if (tensor == NULL)
            return refuse_name(network, "--mark-debug", settings->mark_debug.items[i], err);
        if (!TENSORRT_CALL(VNetworkDefinition, markDebug, network->network, tensor))
            return tensorrt_failure(err, "--mark-debug");
    }
    if (!settings->mark_unfused)
        return 0;
    if (tensorrt_require(TENSORRT_METHOD(VNetworkDefinition, markUnfusedTensorsAsDebugTensors),
                         "--mark-unfused-tensors-as-debug-tensors", err) < 0)
        return err->code;
    return TENSORRT_GET(VNetworkDefinition, markUnfusedTensorsAsDebugTensors, network->network)
               ? 0
               : tensorrt_failure(err, "--mark-unfused-tensors-as-debug-tensors");
}

/* ---- All of it ---- */

int tensorrt_network_create(const struct tensorrt *trt, const struct tensorrt_settings *settings,
                            struct tensorrt_network *ret, struct error *err)
{
    struct tensorrt_network network = {.settings = settings};
    int rc;

    tensorrt_errors_clear();
    rc = load_plugins(trt, settings, err);
    if (rc == 0)
        rc = create_objects(trt, &network, err);
    if (rc < 0)
        goto done;
    rc = set_parser_flags(&network, err);
done:
    if (rc < 0)
        tensorrt_network_release(&network);
    else
        *ret = network;
    return rc;
}

int tensorrt_network_open(const struct tensorrt *trt, const struct tensorrt_settings *settings,
                          const struct backend_model *source, struct tensorrt_network *ret, struct error *err)
{
    struct tensorrt_network network;
    int rc = tensorrt_network_create(trt, settings, &network, err);

    if (rc < 0)
        return rc;
    rc =
        parse_source(network.parser, source) ? mark_outputs(&network, err) : tensorrt_refuse_model(network.parser, err);
    if (rc == 0)
        rc = mark_debug_tensors(&network, err);
    if (rc == 0 && settings->decomposable_attentions)
        rc = mark_attentions(&network, err);
    if (rc < 0)
        tensorrt_network_release(&network);
    else
        *ret = network;
    return rc;
}

/* The parser refers to the network, which refers to the builder. */
void tensorrt_network_release(struct tensorrt_network *network)
{
    if (network->parser != NULL)
        TENSORRT_GET(IParser, destructor, network->parser);
    tensorrt_delete(network->network);
    tensorrt_delete(network->builder);
    *network = (struct tensorrt_network){0};
}
