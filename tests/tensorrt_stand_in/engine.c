/* tests/tensorrt_stand_in/engine.c: the runtime, and what engines say of themselves. */
#include <stdlib.h>
#include <string.h>

#include "backend/model_io.h"
#include "engine/plan/layer_info.h"
#include "tensorrt_stand_in/engine.h"

struct stand_in_runtime_object {
    struct object object;
    bool host_code_allowed;
    int32_t dla_core, threads;
    void *recorder;
};

/* ---- Inputs and outputs ---- */

/* float64 is float32, and up to 9.x int64 is int32. */
static enum data_type type_of_binding(const struct plan_notes *notes, const char *name, enum data_type type)
{
    for (size_t i = 0; i < notes->typed_names.count; i++)
        if (strcmp(notes->typed_names.items[i], name) == 0)
            return (enum data_type)notes->types.items[i];
    if (type == DATA_FLOAT64)
        return DATA_FLOAT32;
    return type == DATA_INT64 && release_before(1000) ? DATA_INT32 : type;
}

/* Whether values, and not only shapes, decide on the size of this one, or of something that it is made of. */
static bool depends_on_data(const struct model *model, uint32_t value, bool *seen)
{
    static const char *const operators[] = {"NonZero", "Unique", "Compress", "NonMaxSuppression"};
    uint32_t producer = model->values.items[value].producer;

    if (producer == NODE_NONE || seen[producer])
        return false;
    seen[producer] = true;
    for (size_t i = 0; i < ARRAY_LEN(operators); i++)
        if (node_is(&model->nodes.items[producer], operators[i]))
            return true;
    for (size_t i = 0; i < node_read_count(&model->nodes.items[producer]); i++) {
        uint32_t read = node_read(model, &model->nodes.items[producer], i);

        if (read != VALUE_NONE && depends_on_data(model, read, seen))
            return true;
    }
    return false;
}

static bool is_debug_name(const struct plan_notes *notes, const char *name)
{
    for (size_t i = 0; i < notes->debug_names.count; i++)
        if (strcmp(notes->debug_names.items[i], name) == 0)
            return true;
    return false;
}

/* A size that an input of sizes decides on: a tensor that an operator takes sizes from. */
static bool is_size_input(const struct model *model, uint32_t value)
{
    for (size_t i = 0; i < model->nodes.count; i++) {
        const struct node *node = &model->nodes.items[i];

        if ((node_is(node, "Reshape") || node_is(node, "Expand") || node_is(node, "Tile")) &&
            node_input(model, node, 1) == value)
            return true;
        if (node_is(node, "ConstantOfShape") && node_input(model, node, 0) == value)
            return true;
    }
    return false;
}

static void add_tensor(struct stand_in_engine *engine, const struct backend_io *io, uint32_t value, bool is_input)
{
    const struct model *model = engine->engine->network->model;
    bool *seen = memory_alloc_zero(model->nodes.count + 1, sizeof(*seen));
    struct io_tensor *tensor = &engine->tensors[engine->all_count++];

    *tensor = (struct io_tensor){.name = memory_strdup(io->name),
                                 .type = type_of_binding(&engine->notes, io->name, io->type),
                                 .computed_type = io->type,
                                 .shape = io->shape,
                                 .is_input = is_input,
                                 .is_shape = is_input && is_size_input(model, value),
                                 .is_debug = is_debug_name(&engine->notes, io->name)};
    tensor->depends_on_data = !is_input && !shape_is_static(&io->shape) && depends_on_data(model, value, seen);
    free(seen);
}

static void list_tensors(struct stand_in_engine *engine)
{
    const struct network *network = engine->engine->network;
    struct backend_io *inputs = engine_inputs_new(engine->engine), *outputs = engine_outputs_new(engine->engine);

    engine->input_count = network->inputs.count;
    engine->tensors = memory_alloc_zero(network->inputs.count + network->outputs.count + 1, sizeof(*engine->tensors));
    for (size_t i = 0; i < network->inputs.count; i++)
        add_tensor(engine, &inputs[i], network->inputs.items[i], true);
    for (size_t i = 0; i < network->outputs.count; i++)
        add_tensor(engine, &outputs[i], network->outputs.items[i], false);
    engine->count = engine->all_count - engine->notes.debug_names.count;
    model_io_free(inputs, network->inputs.count);
    model_io_free(outputs, network->outputs.count);
}

struct io_tensor *engine_tensor(const struct stand_in_engine *engine, const char *name)
{
    for (size_t i = 0; name != NULL && i < engine->all_count; i++)
        if (strcmp(engine->tensors[i].name, name) == 0)
            return &engine->tensors[i];
    return NULL;
}

static const struct io_tensor *tensor_of(const void *self, const char *name)
{
    return engine_tensor(object_of(self), name);
}

/* ---- Methods of the engine ---- */

static int32_t get_tensor_count(const void *self)
{
    return (int32_t)((struct stand_in_engine *)object_of(self))->count;
}

static const char *get_tensor_name(const void *self, int32_t index)
{
    struct stand_in_engine *engine = object_of(self);

    return index < 0 || (size_t)index >= engine->count ? NULL : engine->tensors[index].name;
}

static int32_t get_tensor_mode(const void *self, const char *name)
{
    const struct io_tensor *tensor = tensor_of(self, name);

    return enum_value("TensorIOMode", tensor == NULL ? "kNONE" : tensor->is_input ? "kINPUT" : "kOUTPUT");
}

static int32_t get_tensor_type(const void *self, const char *name)
{
    const struct io_tensor *tensor = tensor_of(self, name);

    return tensor == NULL ? 0 : enum_of_data_type(tensor->type);
}

static const struct shape *shape_of_tensor(const void *self, const char *name)
{
    const struct io_tensor *tensor = tensor_of(self, name);

    return tensor == NULL ? NULL : &tensor->shape;
}

static struct dims32 get_tensor_shape32(const void *self, const char *name)
{
    return dims32_of(shape_of_tensor(self, name));
}

static struct dims64 get_tensor_shape64(const void *self, const char *name)
{
    return dims64_of(shape_of_tensor(self, name));
}

static bool is_shape_tensor(const void *self, const char *name)
{
    const struct io_tensor *tensor = tensor_of(self, name);

    return tensor != NULL && tensor->is_shape;
}

static int32_t get_tensor_location(const void *self, const char *name)
{
    return enum_value("TensorLocation", is_shape_tensor(self, name) ? "kHOST" : "kDEVICE");
}

static int32_t get_tensor_bytes(const void *self, const char *name)
{
    const struct io_tensor *tensor = tensor_of(self, name);

    return tensor == NULL ? -1 : (int32_t)(data_type_bits(tensor->type) / 8);
}

static int32_t get_tensor_components(const void *self, const char *name)
{
    return tensor_of(self, name) == NULL ? -1 : 1;
}

static int32_t get_tensor_vectorized(const void *self, const char *name)
{
    (void)self;
    (void)name;
    return -1;
}

static int32_t get_tensor_format(const void *self, const char *name)
{
    (void)self;
    (void)name;
    return enum_value("TensorFormat", "kLINEAR");
}

static const char *get_tensor_format_words(const void *self, const char *name)
{
    (void)self;
    (void)name;
    return "Row major linear (kLINEAR)";
}

static bool is_debug_tensor(const void *self, const char *name)
{
    const struct io_tensor *tensor = tensor_of(self, name);

    return tensor != NULL && tensor->is_debug;
}

static int32_t get_profiles(const void *self)
{
    return (int32_t)((struct stand_in_engine *)object_of(self))->engine->profiles.count;
}

static const struct shape *shape_of_profile(const void *self, const char *name, int32_t profile, int32_t selector)
{
    struct stand_in_engine *engine = object_of(self);
    const struct io_tensor *tensor = tensor_of(self, name);
    const struct engine_profile *item;
    const struct shape *shapes;

    if (tensor == NULL || !tensor->is_input || profile < 0 || (size_t)profile >= engine->engine->profiles.count)
        return NULL;
    item = &engine->engine->profiles.items[profile];
    shapes = selector == enum_value("OptProfileSelector", "kMIN")   ? item->minimum
             : selector == enum_value("OptProfileSelector", "kOPT") ? item->optimum
                                                                    : item->maximum;
    return &shapes[tensor - engine->tensors];
}

static struct dims32 get_profile_dims32(const void *self, const char *name, int32_t profile, int32_t selector)
{
    return dims32_of(shape_of_profile(self, name, profile, selector));
}

static struct dims64 get_profile_dims64(const void *self, const char *name, int32_t profile, int32_t selector)
{
    return dims64_of(shape_of_profile(self, name, profile, selector));
}

static int32_t get_engine_layers(const void *self)
{
    return (int32_t)((struct stand_in_engine *)object_of(self))->engine->network->layers.count;
}

static const char *get_engine_name(const void *self)
{
    return ((struct stand_in_engine *)object_of(self))->notes.name;
}

static bool engine_is_refittable(const void *self)
{
    return ((struct stand_in_engine *)object_of(self))->notes.is_refittable;
}

static int32_t get_engine_verbosity(const void *self)
{
    bool detailed = ((struct stand_in_engine *)object_of(self))->notes.is_detailed;

    return enum_value("ProfilingVerbosity", detailed ? "kDETAILED" : "kLAYER_NAMES_ONLY");
}

static int64_t get_device_memory(const void *self)
{
    (void)self;
    return 64;
}

static int64_t get_zero(const void *self)
{
    (void)self;
    return 0;
}

static bool set_engine_recorder(void *self, void *recorder)
{
    (void)self;
    report_set_recorder(recorder);
    return true;
}

static struct object *serialize_engine(const void *self)
{
    struct stand_in_engine *engine = object_of(self);
    struct plan_notes notes = engine->notes;
    SCOPED_STRING(plan);
    struct error err = {0};

    notes.is_stripped = notes.is_stripped && !engine->is_refitted;
    if (plan_write(engine->engine, &notes, &plan, &err) < 0) {
        report_error("kUNSUPPORTED_STATE", "ICudaEngine::serialize: %s", err.message);
        return NULL;
    }
    return host_memory_new(plan.data, plan.size);
}

struct serialization {
    struct object object;
    uint32_t flags;
};

static struct object *create_serialization(const void *self)
{
    (void)self;
    return object_new(sizeof(struct serialization), "VSerializationConfig", NULL);
}

static bool set_serialization_flag(void *self, int32_t flag)
{
    ((struct serialization *)object_of(self))->flags |= 1U << flag;
    return true;
}

SETTER(set_serialization_flags, uint32_t, struct serialization, flags)

static struct object *serialize_with_config(const void *self, struct object *config)
{
    (void)config;
    return serialize_engine(self);
}

static struct object *create_context(void *self)
{
    return has_fault("null-context") ? NULL : context_new(object_of(self));
}

static struct object *create_refitter(void *self, void *logger)
{
    report_set_logger(logger);
    return refitter_new(object_of(self));
}

static struct object *create_inspector(const void *self)
{
    return inspector_new(object_of(self));
}

static int64_t get_streamable(const void *self)
{
    return ((struct stand_in_engine *)object_of(self))->notes.streams_weights ? 4096 : 0;
}

static bool set_streaming_budget(void *self, int64_t budget)
{
    ((struct stand_in_engine *)object_of(self))->streaming_budget = budget;
    return budget >= 0 && get_streamable(self) > 0;
}

#define LEAST_BUDGET 64

static int64_t get_least_budget(const void *self)
{
    (void)self;
    return LEAST_BUDGET;
}

/* 0: all weights are on the device; -1: the library chooses. */
static bool set_first_streaming_budget(void *self, int64_t budget)
{
    if (budget < -1 || (budget > 0 && (budget < LEAST_BUDGET || budget >= get_streamable(self)))) {
        report_error("kINVALID_ARGUMENT", "ICudaEngine::setWeightStreamingBudget: Error Code 3: %lld is out of range",
                     (long long)budget);
        return false;
    }
    ((struct stand_in_engine *)object_of(self))->streaming_budget = budget;
    return get_streamable(self) > 0;
}

GETTER(get_streaming_budget, int64_t, struct stand_in_engine, streaming_budget)

static int64_t get_automatic_budget(const void *self)
{
    return get_streamable(self) / 2;
}

const struct method_row engine_methods[] = {
    {"VCudaEngine", "getNbIOTensors", "8.5..9.3:45 10.0..10.16:30 11.0..11.1:26 rtx:26", CALL(get_tensor_count)},
    {"VCudaEngine", "getIOTensorName", "8.5..9.3:46 10.0..10.16:31 11.0..11.1:27 rtx:27", CALL(get_tensor_name)},
    {"VCudaEngine", "getTensorIOMode", "8.5..9.3:38 10.0..10.16:23 11.0..11.1:19 rtx:19", CALL(get_tensor_mode)},
    {"VCudaEngine", "getTensorDataType", "8.5..9.3:35 10.0..10.16:20 11.0..11.1:16 rtx:16", CALL(get_tensor_type)},
    {"VCudaEngine", "getTensorShape", "8.5..9.3:34", CALL(get_tensor_shape32)},
    {"VCudaEngine", "getTensorShape", "10.0..10.16:19 11.0..11.1:15 rtx:15", CALL(get_tensor_shape64)},
    {"VCudaEngine", "isShapeInferenceIO", "8.5..9.3:37 10.0..10.16:22 11.0..11.1:18 rtx:18", CALL(is_shape_tensor)},
    {"VCudaEngine", "getTensorLocation", "8.5..9.3:36 10.0..10.16:21 11.0..11.1:17 rtx:17", CALL(get_tensor_location)},
    {"VCudaEngine", "getTensorBytesPerComponent", "8.5..9.3:39 10.0..10.16:24 11.0..11.1:20 rtx:20",
     CALL(get_tensor_bytes)},
    {"VCudaEngine", "getTensorComponentsPerElement", "8.5..9.3:40 10.0..10.16:25 11.0..11.1:21 rtx:21",
     CALL(get_tensor_components)},
    {"VCudaEngine", "getTensorVectorizedDim", "8.5..9.3:43 10.0..10.16:28 11.0..11.1:24 rtx:24",
     CALL(get_tensor_vectorized)},
    {"VCudaEngine", "getTensorFormat", "8.5..9.3:41 10.0..10.16:26 11.0..11.1:22 rtx:22", CALL(get_tensor_format)},
    {"VCudaEngine", "getTensorFormatDesc", "8.5..9.3:42 10.0..10.16:27 11.0..11.1:23 rtx:23",
     CALL(get_tensor_format_words)},
    {"VCudaEngine", "getTensorBytesPerComponentV2", "8.6..9.3:50 10.0..10.16:34 11.0..11.1:30 rtx:30",
     CALL(get_tensor_bytes)},
    {"VCudaEngine", "getTensorComponentsPerElementV2", "8.6..9.3:51 10.0..10.16:35 11.0..11.1:31 rtx:31",
     CALL(get_tensor_components)},
    {"VCudaEngine", "getTensorVectorizedDimV2", "8.6..9.3:54 10.0..10.16:38 11.0..11.1:34 rtx:34",
     CALL(get_tensor_vectorized)},
    {"VCudaEngine", "getTensorFormatV2", "8.6..9.3:52 10.0..10.16:36 11.0..11.1:32 rtx:32", CALL(get_tensor_format)},
    {"VCudaEngine", "getTensorFormatDescV2", "8.6..9.3:53 10.0..10.16:37 11.0..11.1:33 rtx:33",
     CALL(get_tensor_format_words)},
    {"VCudaEngine", "isDebugTensor", "10.0..10.16:47 11.0..11.1:39 rtx:39", CALL(is_debug_tensor)},
    {"VCudaEngine", "getNbOptimizationProfiles", "8.5..9.3:22 10.0..10.16:10 11.0..11.1:8 rtx:8", CALL(get_profiles)},
    {"VCudaEngine", "getProfileShape", "8.5..9.3:44", CALL(get_profile_dims32)},
    {"VCudaEngine", "getProfileShape", "10.0..10.16:29 11.0..11.1:25 rtx:25", CALL(get_profile_dims64)},
    {"VCudaEngine", "getNbLayers", "8.5..9.3:9 10.0..11.1:3 rtx:3", CALL(get_engine_layers)},
    {"VCudaEngine", "getName", "8.5..9.3:21 10.0..10.16:9 11.0..11.1:7 rtx:7", CALL(get_engine_name)},
    {"VCudaEngine", "isRefittable", "8.5..9.3:15 10.0..10.16:8 11.0..11.1:6 rtx:6", CALL(engine_is_refittable)},
    {"VCudaEngine", "getProfilingVerbosity", "8.5..9.3:32 10.0..10.16:17 11.0..11.1:13 rtx:13",
     CALL(get_engine_verbosity)},
    {"VCudaEngine", "getDeviceMemorySize", "8.5..9.3:14 10.0..10.16:7", CALL(get_device_memory)},
    {"VCudaEngine", "getDeviceMemorySizeV2", "10.1..10.16:52 11.0..11.1:44 rtx:44", CALL(get_device_memory)},
    {"VCudaEngine", "getEngineCapability", "8.5..9.3:27 10.0..10.16:12 11.0..11.1:9 rtx:9", CALL(get_zero)},
    {"VCudaEngine", "getHardwareCompatibilityLevel", "8.6..9.3:47 10.0..10.16:32 11.0..11.1:28 rtx:28", CALL(get_zero)},
    {"VCudaEngine", "getTacticSources", "8.5..9.3:31 10.0..10.16:16 11.0..11.1:12 rtx:12", CALL(get_zero)},
    {"VCudaEngine", "getNbAuxStreams", "8.6..9.3:49 10.0..10.16:33 11.0..11.1:29 rtx:29", CALL(get_zero)},
    {"VCudaEngine", "hasImplicitBatchDimension", "8.5..9.3:30 10.0..10.16:15", CALL(answer_false)},
    {"VCudaEngine", "setErrorRecorder", "8.5..9.3:28 10.0..10.16:13 11.0..11.1:10 rtx:10", CALL(set_engine_recorder)},
    {"VCudaEngine", "serialize", "8.5..9.3:10 10.0..11.1:4 rtx:4", CALL(serialize_engine)},
    {"VCudaEngine", "createSerializationConfig", "9.3:55 10.0..10.16:39 11.0..11.1:35 rtx:35",
     CALL(create_serialization)},
    {"VCudaEngine", "serializeWithConfig", "9.3:56 10.0..10.16:40 11.0..11.1:36 rtx:36", CALL(serialize_with_config)},
    {"VCudaEngine", "createExecutionContext", "10.0..11.1:5 rtx:5", CALL(create_context)},
    {"VCudaEngine", "createExecutionContext", "8.5..9.3:11", CALL(create_context)},
    {"VCudaEngine", "createExecutionContextWithoutDeviceMemory", "8.5..9.3:13 10.0..10.16:6", CALL(create_context)},
    {"VCudaEngine", "createRefitter", "10.0..10.16:42 11.0..11.1:37 rtx:37", CALL(create_refitter)},
    {"VCudaEngine", "createEngineInspector", "8.5..9.3:33 10.0..10.16:18 11.0..11.1:14 rtx:14", CALL(create_inspector)},
    {"VCudaEngine", "getStreamableWeightsSize", "10.0..10.16:46 11.0..11.1:38 rtx:38", CALL(get_streamable)},
    {"VCudaEngine", "setWeightStreamingBudgetV2", "10.1..10.16:48 11.0..11.1:40 rtx:40", CALL(set_streaming_budget)},
    {"VCudaEngine", "getWeightStreamingBudgetV2", "10.1..10.16:49 11.0..11.1:41 rtx:41", CALL(get_streaming_budget)},
    {"VCudaEngine", "setWeightStreamingBudget", "10.0..10.16:43", CALL(set_first_streaming_budget)},
    {"VCudaEngine", "getWeightStreamingBudget", "10.0..10.16:44", CALL(get_streaming_budget)},
    {"VCudaEngine", "getMinimumWeightStreamingBudget", "10.0..10.16:45", CALL(get_least_budget)},
    {"VCudaEngine", "getWeightStreamingAutomaticBudget", "10.1..10.16:50 11.0..11.1:42 rtx:42",
     CALL(get_automatic_budget)},
    {"VSerializationConfig", "setFlags", "9.3..11.1:2 rtx:2", CALL(set_serialization_flags)},
    {"VSerializationConfig", "setFlag", "9.3..11.1:5 rtx:5", CALL(set_serialization_flag)},
    {NULL, NULL, NULL, {NULL}},
};

/* ---- The inspector ---- */

struct stand_in_inspector {
    struct object object;
    struct stand_in_engine *engine;
    char *text;
};

struct object *inspector_new(struct stand_in_engine *engine)
{
    struct stand_in_inspector *ret = object_new(sizeof(*ret), "VEngineInspector", NULL);

    ret->engine = engine;
    return &ret->object;
}

/* As NVIDIA's, an engine that was not built to be inspected in detail says names only. */
static const char *inspect_engine(const void *self, int32_t format)
{
    struct stand_in_inspector *inspector = object_of(self);
    struct layer_info info, names;
    SCOPED_STRING(text);

    engine_layer_info_make(inspector->engine->engine, &info);
    if (!inspector->engine->notes.is_detailed) {
        layer_info_init(&names);
        for (size_t i = 0; i < info.layers.count; i++)
            layer_info_add_layer(&names, text_of(info.layers.items[i].name));
        for (size_t i = 0; i < info.bindings.count; i++)
            layer_info_add_binding(&names, text_of(info.bindings.items[i].tensor.name), info.bindings.items[i].mode);
        layer_info_release(&info);
        info = names;
    }
    if (format == enum_value("LayerInformationFormat", "kJSON"))
        layer_info_write(&info, release_before(1100) ? LAYER_INFO_SCHEMA_8_TO_10 : LAYER_INFO_SCHEMA_11, &text);
    else
        for (size_t i = 0; i < info.layers.count; i++)
            string_add_format(&text, "Layer(%s): %s\n", "builtin", info.layers.items[i].name);
    layer_info_release(&info);
    free(inspector->text);
    inspector->text = string_take(&text);
    return inspector->text;
}

static const char *inspect_layer(const void *self, int32_t index, int32_t format)
{
    struct stand_in_inspector *inspector = object_of(self);
    SCOPED_STRING(text);

    (void)format;
    string_add_format(&text, "\"%s\"", inspector->engine->engine->network->layers.items[index].name);
    free(inspector->text);
    inspector->text = string_take(&text);
    return inspector->text;
}

const struct method_row inspector_methods[] = {
    {"VEngineInspector", "setExecutionContext", "8.5..9.3:2 10.0..11.1:3 rtx:3", CALL(answer_true)},
    {"VEngineInspector", "getEngineInformation", "8.5..9.3:5 10.0..11.1:6 rtx:6", CALL(inspect_engine)},
    {"VEngineInspector", "getLayerInformation", "8.5..9.3:4 10.0..11.1:5 rtx:5", CALL(inspect_layer)},
    {NULL, NULL, NULL, {NULL}},
};

/* ---- The runtime ---- */

static void release_engine(void *object)
{
    struct stand_in_engine *engine = object;

    engine_free(engine->engine);
    free(engine->bytes);
    engine->engine = NULL;
}

static struct object *deserialize_bytes(void *self, char *bytes, size_t size)
{
    struct stand_in_runtime_object *runtime = object_of(self);
    struct stand_in_engine *ret;
    struct error err = {0};

    end_at_stage("load");
    ret = object_new(sizeof(*ret), "VCudaEngine", release_engine);
    ret->bytes = bytes;
    ret->size = size;
    if (plan_read((struct span){(const uint8_t *)bytes, size}, runtime->host_code_allowed, &ret->notes, &ret->engine,
                  &err) < 0) {
        report_error("kINVALID_ARGUMENT", "%s", err.message);
        delete_object(&ret->object);
        return NULL;
    }
    list_tensors(ret);
    return &ret->object;
}

static struct object *deserialize_memory(void *self, const void *data, size_t size)
{
    return deserialize_bytes(self, memory_copy(data, size), size);
}

static struct object *read_stream(void *self, void *reader, const char *class_name)
{
    struct method_slot read = method_of_program(reader, class_name, "read");
    struct string_builder bytes;
    int64_t count;
    size_t size;

    string_init(&bytes);
    do {
        char *room = string_reserve(&bytes, 65536);

        count = ((int64_t(*)(void *, void *, int64_t, void *))read.call)(reader, room, 65536, NULL);
        bytes.size += count > 0 ? (size_t)count : 0;
    } while (count > 0);
    size = bytes.size;
    return deserialize_bytes(self, string_take(&bytes), size);
}

static struct object *deserialize_stream(void *self, void *reader)
{
    return read_stream(self, reader, "IStreamReader");
}

static struct object *deserialize_stream2(void *self, void *reader)
{
    return read_stream(self, reader, "IStreamReaderV2");
}

SETTER(allow_host_code, bool, struct stand_in_runtime_object, host_code_allowed)
GETTER(get_host_code_allowed, bool, struct stand_in_runtime_object, host_code_allowed)
SETTER(set_runtime_core, int32_t, struct stand_in_runtime_object, dla_core)
GETTER(get_runtime_core, int32_t, struct stand_in_runtime_object, dla_core)

static bool set_runtime_recorder(void *self, void *recorder)
{
    ((struct stand_in_runtime_object *)object_of(self))->recorder = recorder;
    report_set_recorder(recorder);
    return true;
}

GETTER(get_runtime_recorder, void *, struct stand_in_runtime_object, recorder)
SETTER(set_runtime_threads, int32_t, struct stand_in_runtime_object, threads)
GETTER(get_runtime_threads, int32_t, struct stand_in_runtime_object, threads)

static void *get_runtime_logger(const void *self)
{
    (void)self;
    return report_logger();
}

static int32_t get_no_cores(const void *self)
{
    (void)self;
    return 0;
}

/* A lean runtime of another release, which is none of this library's. */
static struct object *load_runtime(void *self, const char *path)
{
    (void)self;
    report_error("kINVALID_ARGUMENT", "IRuntime::loadRuntime: cannot load '%s'", path);
    return NULL;
}

void *runtime_new(void)
{
    struct stand_in_runtime_object *ret = object_new(sizeof(*ret), "VRuntime", NULL);

    ret->dla_core = -1;
    ret->threads = 1;
    return &ret->object;
}

const struct method_row runtime_methods[] = {
    {"VRuntime", "deserializeCudaEngine", "8.5..9.3:2", CALL(deserialize_memory)},
    {"VRuntime", "deserializeCudaEngine", "10.0..11.1:3 rtx:3", CALL(deserialize_memory)},
    {"VRuntime", "deserializeCudaEngine", "10.0..10.16:4", CALL(deserialize_stream)},
    {"VRuntime", "deserializeCudaEngineV2", "10.7..10.16:23 11.0..11.1:22 rtx:22", CALL(deserialize_stream2)},
    {"VRuntime", "setDLACore", "8.5..9.3:3 10.0..10.16:5 11.0..11.1:4 rtx:4", CALL(set_runtime_core)},
    {"VRuntime", "getDLACore", "8.5..9.3:4 10.0..10.16:6 11.0..11.1:5 rtx:5", CALL(get_runtime_core)},
    {"VRuntime", "getNbDLACores", "8.5..9.3:5 10.0..10.16:7 11.0..11.1:6 rtx:6", CALL(get_no_cores)},
    {"VRuntime", "setGpuAllocator", "8.5..9.3:6 10.0..10.16:8 11.0..11.1:7 rtx:7", CALL(answer_true)},
    {"VRuntime", "setErrorRecorder", "8.5..9.3:7 10.0..10.16:9 11.0..11.1:8 rtx:8", CALL(set_runtime_recorder)},
    {"VRuntime", "getErrorRecorder", "8.5..9.3:8 10.0..10.16:10 11.0..11.1:9 rtx:9", CALL(get_runtime_recorder)},
    {"VRuntime", "getLogger", "8.5..9.3:9 10.0..10.16:11 11.0..11.1:10 rtx:10", CALL(get_runtime_logger)},
    {"VRuntime", "setMaxThreads", "8.5..9.3:10 10.0..10.16:12 11.0..11.1:11 rtx:11", CALL(set_runtime_threads)},
    {"VRuntime", "getMaxThreads", "8.5..9.3:11 10.0..10.16:13 11.0..11.1:12 rtx:12", CALL(get_runtime_threads)},
    {"VRuntime", "setTemporaryDirectory", "8.6..9.3:12 10.0..10.16:14 11.0..11.1:13 rtx:13", CALL(answer_true)},
    {"VRuntime", "setTempfileControlFlags", "8.6..9.3:14 10.0..10.16:16 11.0..11.1:15 rtx:15", CALL(answer_true)},
    {"VRuntime", "setEngineHostCodeAllowed", "8.6..9.3:20 10.0..10.16:21 11.0..11.1:20 rtx:20", CALL(allow_host_code)},
    {"VRuntime", "getEngineHostCodeAllowed", "8.6..9.3:21 10.0..10.16:22 11.0..11.1:21 rtx:21",
     CALL(get_host_code_allowed)},
    {"VRuntime", "loadRuntime", "8.6..9.3:19 10.0..10.16:20 11.0..11.1:19 rtx:19", CALL(load_runtime)},
    {NULL, NULL, NULL, {NULL}},
};
