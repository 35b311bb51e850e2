/* tests/tensorrt_stand_in/context.c: inferences. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "engine/run/executor.h"
#include "tensor/values/elements.h"
#include "tensorrt_stand_in/engine.h"

/* What the program has said of one input or output. */
struct binding {
    const struct io_tensor *tensor;
    void *address;
    void *allocator;
    struct shape shape; /* of an input */
    bool has_shape, is_shown;
};

struct stand_in_context {
    struct object object;
    struct stand_in_engine *engine;
    struct executor *executor;
    struct binding *bindings; /* all_count of the engine */
    int32_t profile;
    void *profiler, *listener, *recorder;
    bool shows_unfused;
};

static void release_context(void *object)
{
    struct stand_in_context *context = object;

    executor_free(context->executor);
    free(context->bindings);
    context->executor = NULL;
}

struct object *context_new(struct stand_in_engine *engine)
{
    struct stand_in_context *ret = object_new(sizeof(*ret), "VExecutionContext", release_context);
    struct error err = {0};

    ret->engine = engine;
    ret->bindings = memory_alloc_zero(engine->all_count + 1, sizeof(*ret->bindings));
    for (size_t i = 0; i < engine->all_count; i++) {
        ret->bindings[i].tensor = &engine->tensors[i];
        ret->bindings[i].shape = engine->tensors[i].shape;
        ret->bindings[i].has_shape = shape_is_static(&engine->tensors[i].shape);
    }
    if (executor_new(engine->engine, NULL, &ret->executor, &err) < 0) {
        report_error("kFAILED_INITIALIZATION", "ICudaEngine::createExecutionContext: %s", err.message);
        return NULL;
    }
    return &ret->object;
}

static struct binding *find_binding(const void *self, const char *name)
{
    struct stand_in_context *context = object_of(self);
    const struct io_tensor *tensor = engine_tensor(context->engine, name);

    return tensor == NULL ? NULL : &context->bindings[tensor - context->engine->tensors];
}

/* ---- Types ---- */

static void convert_elements(const struct tensor *from, enum data_type type, struct tensor *ret)
{
    struct error err = {0};
    uint8_t *data;

    if (tensor_allocate(type, &from->shape, ret, &err) < 0)
        abort();
    data = tensor_writable(ret);
    for (size_t i = 0; i < tensor_elements(from); i++) {
        double value;

        elements_to_float64(from, i, 1, &value);
        if (type == DATA_INT64)
            ((int64_t *)(void *)data)[i] = (int64_t)value;
        else if (type == DATA_INT32)
            ((int32_t *)(void *)data)[i] = (int32_t)value;
        else if (type == DATA_INT8)
            ((int8_t *)data)[i] = (int8_t)value;
        else if (type == DATA_UINT8 || type == DATA_BOOL)
            data[i] = (uint8_t)value;
        else
            element_store_float(type, value, i, data);
    }
}

/* ---- One inference ---- */

static bool shapes_are_known(const struct stand_in_context *context)
{
    bool known = true;

    for (size_t i = 0; i < context->engine->input_count; i++)
        known = known && context->bindings[i].has_shape;
    return known;
}

/* With zeros in place of values, where only sizes are asked for; values that decide on sizes are looked at. */
static void feed_inputs(const struct stand_in_context *context, bool zeros, struct tensor_list *feed)
{
    for (size_t i = 0; i < context->engine->input_count; i++) {
        const struct binding *binding = &context->bindings[i];
        const struct io_tensor *io = binding->tensor;
        struct tensor given, tensor;
        struct error err = {0};
        size_t size = tensor_bytes(io->type, shape_elements(&binding->shape));

        if (tensor_allocate(io->type, &binding->shape, &given, &err) < 0)
            abort();
        if ((zeros && !io->is_shape) || binding->address == NULL)
            memset(tensor_writable(&given), 0, size);
        else if (size > 0)
            memcpy(tensor_writable(&given), binding->address, size);
        if (io->type != io->computed_type) {
            convert_elements(&given, io->computed_type, &tensor);
            tensor_release(&given);
        } else {
            tensor = given;
        }
        tensor_list_add(feed, text_of(io->name), &tensor);
    }
}

static int run_executor(const struct stand_in_context *context, bool zeros, struct tensor_list *ret, struct error *err)
{
    struct tensor_list feed = {0};
    double seconds;
    int rc;

    feed_inputs(context, zeros, &feed);
    rc = executor_run(context->executor, &feed, NULL, ret, &seconds, err);
    tensor_list_release(&feed);
    return rc;
}

/* Whether "LAYER=PATTERN" means this layer with this tactic. */
static bool is_wrong_tactic(const char *rule, const char *layer, const struct tactic *tactic)
{
    const char *pattern = rule != NULL ? strrchr(rule, '=') : NULL;
    SCOPED_STRING(name);

    string_add_format(&name, "%s:%s", tactic->provider->name, tactic->name);
    return pattern != NULL && text_equal_string((struct text){rule, (size_t)(pattern - rule)}, layer) &&
           tactic_rule_covers(pattern + 1, name.data);
}

static bool has_wrong_part(const struct engine *engine)
{
    const char *wrong = getenv("TENSORRT_STAND_IN_WRONG_LAYER");
    const char *rule = getenv("TENSORRT_STAND_IN_WRONG_TACTIC");
    bool found = false;

    for (size_t i = 0; i < engine->network->layers.count; i++) {
        const char *layer = engine->network->layers.items[i].name;

        found = found || (wrong != NULL && strcmp(layer, wrong) == 0) ||
                is_wrong_tactic(rule, layer, &engine->layers[i].tactic);
    }
    return found;
}

/* What a wrong layer or tactic, or the lack of weights, makes of an output. */
static void spoil_output(const struct stand_in_context *context, struct tensor *tensor)
{
    bool stripped = context->engine->notes.is_stripped && !context->engine->is_refitted;
    uint8_t *data = tensor_writable(tensor);

    if (stripped)
        memset(data, 0, tensor->size);
    else if (has_wrong_part(context->engine->engine) && tensor->size > 0)
        data[tensor->size - 1] ^= 0x40; /* the exponent of the last element */
}

static void *allocate_output(const struct binding *binding, size_t size, void *stream)
{
    bool old = release_before(1000);
    struct method_slot method =
        method_of_program(binding->allocator, "IOutputAllocator", old ? "reallocateOutput" : "reallocateOutputAsync");

    if (old)
        return ((void *(*)(void *, const char *, void *, uint64_t, uint64_t))method.call)(
            binding->allocator, binding->tensor->name, binding->address, size, 256);
    return ((void *(*)(void *, const char *, void *, uint64_t, uint64_t, void *))method.call)(
        binding->allocator, binding->tensor->name, binding->address, size, 256, stream);
}

static void notify_shape(const struct binding *binding, const struct shape *shape)
{
    struct method_slot method = method_of_program(binding->allocator, "IOutputAllocator", "notifyShape");
    struct dims32 narrow = dims32_of(shape);
    struct dims64 wide = dims64_of(shape);

    ((void (*)(void *, const char *, const void *))method.call)(
        binding->allocator, binding->tensor->name, release_before(1000) ? (const void *)&narrow : (const void *)&wide);
}

static bool give_output(const struct stand_in_context *context, struct binding *binding, struct tensor *made,
                        void *stream)
{
    void *target = binding->address;
    struct tensor converted = {0};
    const struct tensor *values = made;

    if (binding->tensor->type != made->type) {
        convert_elements(made, binding->tensor->type, &converted);
        values = &converted;
    }
    if (binding->allocator != NULL) {
        target = allocate_output(binding, values->size > 0 ? values->size : 1, stream);
        notify_shape(binding, &values->shape);
    }
    if (target == NULL) {
        report_error("kINVALID_ARGUMENT", "IExecutionContext::enqueueV3: Error Code 3: no memory for output '%s'",
                     binding->tensor->name);
        return false;
    }
    if (values->size > 0)
        memcpy(target, values->data, values->size);
    (void)context;
    tensor_release(&converted);
    return true;
}

/* Debug tensors go to the listener, which may not change them. */
static void show_tensor(const struct stand_in_context *context, const char *name, const struct tensor *values,
                        void *stream)
{
    struct method_slot method = method_of_program(context->listener, "IDebugListener", "processDebugTensor");
    struct dims64 dims = dims64_of(&values->shape);

    if (method.call != NULL)
        ((bool (*)(void *, const void *, int32_t, int32_t, const void *, const char *, void *))method.call)(
            context->listener, values->data, enum_value("TensorLocation", "kDEVICE"), enum_of_data_type(values->type),
            &dims, name, stream);
}

static void report_times(const struct stand_in_context *context)
{
    struct method_slot method = method_of_program(context->profiler, "IProfiler", "reportLayerTime");
    const struct network *network = context->engine->engine->network;

    for (size_t i = 0; method.call != NULL && i < network->layers.count; i++)
        ((void (*)(void *, const char *, float))method.call)(context->profiler, network->layers.items[i].name, 0.01F);
}

static bool enqueue_inference(void *self, void *stream)
{
    struct stand_in_context *context = object_of(self);
    struct tensor_list outputs = {0};
    struct error err = {0};
    bool given = true;

    end_at_stage("run");
    if (has_fault("run-fails") || has_fault("out-of-memory") || !shapes_are_known(context)) {
        bool memory = has_fault("out-of-memory");

        report_error(memory ? "kFAILED_ALLOCATION" : "kFAILED_EXECUTION", "IExecutionContext::enqueueV3: Error Code %s",
                     memory ? "2: OutOfMemory (no memory of the device)"
                            : "1: Cuda Runtime (an illegal memory access)");
        return false;
    }
    if (run_executor(context, false, &outputs, &err) < 0) {
        report_error("kFAILED_EXECUTION", "IExecutionContext::enqueueV3: Error Code 7: %s", err.message);
        return false;
    }
    for (size_t i = context->engine->input_count; i < context->engine->all_count; i++) {
        struct binding *binding = &context->bindings[i];
        struct named_tensor *made = tensor_list_find(&outputs, text_of(binding->tensor->name));

        if (made == NULL)
            continue;
        if (binding->tensor->is_debug) {
            if (binding->is_shown)
                show_tensor(context, binding->tensor->name, &made->tensor, stream);
            continue;
        }
        spoil_output(context, &made->tensor);
        given = given && give_output(context, binding, &made->tensor, stream);
    }
    report_times(context);
    tensor_list_release(&outputs);
    return given;
}

/* ---- What the program sets ---- */

static bool set_shape(void *self, const char *name, const void *dims)
{
    struct stand_in_context *context = object_of(self);
    struct binding *binding = find_binding(self, name);
    struct shape shape;

    dims_read(dims, &shape);
    if (binding == NULL || !binding->tensor->is_input || shape.rank != binding->tensor->shape.rank) {
        report_error("kINVALID_ARGUMENT", "IExecutionContext::setInputShape: Error Code 3: no input '%s' of this rank",
                     name);
        return false;
    }
    for (size_t i = 0; i < shape.rank; i++) {
        const struct engine_profile *profile = &context->engine->engine->profiles.items[context->profile];
        size_t input = (size_t)(binding - context->bindings);

        if (shape.dims[i] < profile->minimum[input].dims[i] || shape.dims[i] > profile->maximum[input].dims[i]) {
            report_error("kINVALID_ARGUMENT",
                         "IExecutionContext::setInputShape: Error Code 3: API Usage Error (Parameter check failed, "
                         "condition: engineDims.d[i] == dims.d[i]. Static dimension mismatch while setting input "
                         "shape for %s.)",
                         name);
            return false;
        }
    }
    binding->shape = shape;
    binding->has_shape = true;
    return true;
}

static bool set_address(void *self, const char *name, void *address)
{
    struct binding *binding = find_binding(self, name);

    if (binding == NULL || binding->tensor->is_debug)
        return false;
    binding->address = address;
    return true;
}

static const void *get_address(const void *self, const char *name)
{
    const struct binding *binding = find_binding(self, name);

    return binding == NULL ? NULL : binding->address;
}

static bool set_allocator(void *self, const char *name, void *allocator)
{
    struct binding *binding = find_binding(self, name);

    if (binding == NULL || binding->tensor->is_input)
        return false;
    binding->allocator = allocator;
    return true;
}

static void *get_allocator(const void *self, const char *name)
{
    const struct binding *binding = find_binding(self, name);

    return binding == NULL ? NULL : binding->allocator;
}

/* Sizes of outputs are those of a run with zeros. */
static bool find_output_shape(const struct stand_in_context *context, const struct io_tensor *tensor, struct shape *ret)
{
    struct tensor_list outputs = {0};
    struct error err = {0};
    struct named_tensor *made = NULL;

    *ret = tensor->shape;
    if (tensor->depends_on_data || shape_is_static(&tensor->shape) || !shapes_are_known(context) ||
        run_executor(context, true, &outputs, &err) < 0)
        return false;
    made = tensor_list_find(&outputs, text_of(tensor->name));
    if (made != NULL)
        *ret = made->tensor.shape;
    tensor_list_release(&outputs);
    return made != NULL;
}

static bool find_shape_now(const void *self, const char *name, struct shape *ret)
{
    const struct binding *binding = find_binding(self, name);

    if (binding == NULL)
        return false;
    if (binding->tensor->is_input)
        *ret = binding->shape;
    else
        find_output_shape(object_of(self), binding->tensor, ret);
    return true;
}

static struct dims32 get_shape_now32(const void *self, const char *name)
{
    struct shape shape;

    return dims32_of(find_shape_now(self, name, &shape) ? &shape : NULL);
}

static struct dims64 get_shape_now64(const void *self, const char *name)
{
    struct shape shape;

    return dims64_of(find_shape_now(self, name, &shape) ? &shape : NULL);
}

static bool find_strides(const void *self, const char *name, struct shape *ret)
{
    int64_t stride = has_fault("wrong-strides") ? 2 : 1;

    if (!find_shape_now(self, name, ret) || !shape_is_static(ret))
        return false;
    for (size_t i = ret->rank; i-- > 0;) {
        int64_t size = ret->dims[i];

        ret->dims[i] = stride;
        stride *= size;
    }
    return true;
}

static struct dims32 get_strides32(const void *self, const char *name)
{
    struct shape strides;

    return dims32_of(find_strides(self, name, &strides) ? &strides : NULL);
}

static struct dims64 get_strides64(const void *self, const char *name)
{
    struct shape strides;

    return dims64_of(find_strides(self, name, &strides) ? &strides : NULL);
}

/* -1 where a value decides on the size. */
static int64_t get_most_bytes(const void *self, const char *name)
{
    const struct binding *binding = find_binding(self, name);
    struct shape shape;

    if (binding == NULL || binding->tensor->depends_on_data || !find_shape_now(self, name, &shape) ||
        !shape_is_static(&shape))
        return -1;
    return (int64_t)tensor_bytes(binding->tensor->type, shape_elements(&shape));
}

static int32_t infer_shapes(const void *self, int32_t most, const char **names)
{
    struct stand_in_context *context = object_of(self);
    int32_t count = 0;

    for (size_t i = 0; i < context->engine->input_count; i++)
        if (!context->bindings[i].has_shape && count++ < most && names != NULL)
            names[count - 1] = context->bindings[i].tensor->name;
    return count;
}

static bool all_shapes_known(const void *self)
{
    return shapes_are_known(object_of(self));
}

static bool set_profile(void *self, int32_t profile, void *stream)
{
    struct stand_in_context *context = object_of(self);

    (void)stream;
    if (profile < 0 || (size_t)profile >= context->engine->engine->profiles.count) {
        report_error("kINVALID_ARGUMENT",
                     "IExecutionContext::setOptimizationProfileAsync: Error Code 3: API Usage Error (profile %d)",
                     profile);
        return false;
    }
    context->profile = profile;
    return true;
}

GETTER(get_profile, int32_t, struct stand_in_context, profile)
SETTER(set_profiler, void *, struct stand_in_context, profiler)
SETTER(set_listener, void *, struct stand_in_context, listener)

static bool set_debug_state(void *self, const char *name, bool on)
{
    struct binding *binding = find_binding(self, name);

    if (binding == NULL || !binding->tensor->is_debug)
        return false;
    binding->is_shown = on;
    return true;
}

static bool set_debug_states(void *self, bool on)
{
    struct stand_in_context *context = object_of(self);

    for (size_t i = 0; i < context->engine->all_count; i++)
        context->bindings[i].is_shown = on;
    return true;
}

static bool set_unfused_state(void *self, bool on)
{
    struct stand_in_context *context = object_of(self);

    context->shows_unfused = on;
    return context->engine->notes.unfused_are_debug && set_debug_states(self, on);
}

static bool set_context_recorder(void *self, void *recorder)
{
    ((struct stand_in_context *)object_of(self))->recorder = recorder;
    report_set_recorder(recorder);
    return true;
}

static struct object *get_engine(const void *self)
{
    return &((struct stand_in_context *)object_of(self))->engine->object;
}

const struct method_row context_methods[] = {
    {"VExecutionContext", "setInputShape", "8.5..9.3:29 10.0..10.16:21 11.0..11.1:20 rtx:20", CALL(set_shape)},
    {"VExecutionContext", "getTensorShape", "8.5..9.3:30", CALL(get_shape_now32)},
    {"VExecutionContext", "getTensorShape", "10.0..10.16:22 11.0..11.1:21 rtx:21", CALL(get_shape_now64)},
    {"VExecutionContext", "getTensorStrides", "8.5..9.3:31", CALL(get_strides32)},
    {"VExecutionContext", "getTensorStrides", "10.0..10.16:23 11.0..11.1:22 rtx:22", CALL(get_strides64)},
    {"VExecutionContext", "setTensorAddress", "8.5..9.3:32 10.0..10.16:24 11.0..11.1:23 rtx:23", CALL(set_address)},
    {"VExecutionContext", "getTensorAddress", "8.5..9.3:33 10.0..10.16:25 11.0..11.1:24 rtx:24", CALL(get_address)},
    {"VExecutionContext", "setInputTensorAddress", "8.5..9.3:34 10.0..10.16:26 11.0..11.1:25 rtx:25",
     CALL(set_address)},
    {"VExecutionContext", "setOutputTensorAddress", "10.0..10.16:27 11.0..11.1:26 rtx:26", CALL(set_address)},
    {"VExecutionContext", "getOutputTensorAddress", "8.5..9.3:38 10.0..10.16:31 11.0..11.1:30 rtx:30",
     CALL(get_address)},
    {"VExecutionContext", "setOutputAllocator", "8.5..9.3:39 10.0..10.16:32 11.0..11.1:31 rtx:31", CALL(set_allocator)},
    {"VExecutionContext", "getOutputAllocator", "8.5..9.3:40 10.0..10.16:33 11.0..11.1:32 rtx:32", CALL(get_allocator)},
    {"VExecutionContext", "getMaxOutputSize", "8.5..9.3:41 10.0..10.16:34 11.0..11.1:33 rtx:33", CALL(get_most_bytes)},
    {"VExecutionContext", "inferShapes", "8.5..9.3:35 10.0..10.16:28 11.0..11.1:27 rtx:27", CALL(infer_shapes)},
    {"VExecutionContext", "allInputDimensionsSpecified", "8.5..9.3:19 10.0..11.1:12 rtx:12", CALL(all_shapes_known)},
    {"VExecutionContext", "allInputShapesSpecified", "8.5..9.3:20 10.0..10.16:13", CALL(all_shapes_known)},
    {"VExecutionContext", "setOptimizationProfileAsync", "8.5..9.3:25 10.0..10.16:17 11.0..11.1:16 rtx:16",
     CALL(set_profile)},
    {"VExecutionContext", "getOptimizationProfile", "8.5..9.3:14 10.0..11.1:11 rtx:11", CALL(get_profile)},
    {"VExecutionContext", "enqueueV3", "8.5..9.3:44 10.0..10.16:37 11.0..11.1:36 rtx:36", CALL(enqueue_inference)},
    {"VExecutionContext", "setProfiler", "8.5..9.3:6 10.0..11.1:5 rtx:5", CALL(set_profiler)},
    {"VExecutionContext", "setEnqueueEmitsProfile", "8.5..9.3:26 10.0..10.16:18 11.0..11.1:17 rtx:17",
     CALL(answer_true)},
    {"VExecutionContext", "reportToProfiler", "8.5..9.3:28 10.0..10.16:20 11.0..11.1:19 rtx:19", CALL(answer_true)},
    {"VExecutionContext", "setDebugListener", "10.0..10.16:43 11.0..11.1:42 rtx:42", CALL(set_listener)},
    {"VExecutionContext", "setTensorDebugState", "10.0..10.16:45 11.0..11.1:44 rtx:44", CALL(set_debug_state)},
    {"VExecutionContext", "setAllTensorsDebugState", "10.0..10.16:47 11.0..11.1:46 rtx:46", CALL(set_debug_states)},
    {"VExecutionContext", "setUnfusedTensorsDebugState", "10.12..10.16:51 11.0..11.1:50 rtx:50",
     CALL(set_unfused_state)},
    {"VExecutionContext", "setErrorRecorder", "8.5..9.3:21 10.0..10.16:14 11.0..11.1:13 rtx:13",
     CALL(set_context_recorder)},
    {"VExecutionContext", "setNvtxVerbosity", "8.5..9.3:47 10.0..10.16:40 11.0..11.1:39 rtx:39", CALL(answer_true)},
    {"VExecutionContext", "setDebugSync", "8.5..9.3:4 10.0..11.1:3 rtx:3", CALL(answer_true)},
    {"VExecutionContext", "setName", "8.5..9.3:9 10.0..11.1:8 rtx:8", CALL(answer_true)},
    {"VExecutionContext", "setTemporaryStorageAllocator", "8.5..9.3:42 10.0..10.16:35 11.0..11.1:34 rtx:34",
     CALL(answer_true)},
    {"VExecutionContext", "getEngine", "8.5..9.3:8 10.0..11.1:7 rtx:7", CALL(get_engine)},
    {NULL, NULL, NULL, {NULL}},
};
