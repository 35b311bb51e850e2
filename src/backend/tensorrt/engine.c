/* backend/tensorrt/engine.c: see engine.h. */
#include "backend/tensorrt/engine.h"

#include <stdlib.h>
#include <string.h>

#include "backend/tensorrt/cuda.h"
#include "backend/tensorrt/feed.h"
#include "backend/tensorrt/refit.h"
#include "backend/worker/message.h"
#include "base/memory.h"
#include "base/system.h"
#include "base/text/number.h"
#include "format/tensorrt/plan_header.h"

#define IS_INPUT 1 /* TensorIOMode::kINPUT */
#define FORMAT_JSON 1
#define FORMAT_LINEAR 0

/* ---- Inputs and outputs ---- */

static struct tensorrt_tensor *add_tensor(struct tensorrt_tensors *list)
{
    struct tensorrt_tensor *ret = &list->items[list->count++];

    *ret = (struct tensorrt_tensor){0};
    tensorrt_output_memory_init(&ret->device);
    return ret;
}

static int describe_tensor(struct tensorrt_engine *engine, const char *name, struct error *err)
{
    union tensorrt_dims dims = TENSORRT_CALL(VCudaEngine, getTensorShape, engine->engine, name);
    bool is_input = TENSORRT_CALL(VCudaEngine, getTensorIOMode, engine->engine, name) == IS_INPUT;
    struct tensorrt_tensor *tensor = add_tensor(is_input ? &engine->inputs : &engine->outputs);
    int32_t format = TENSORRT_CALL(VCudaEngine, getTensorFormat, engine->engine, name);

    tensor->io.name = arena_strdup(&engine->arena, name);
    tensor->io.type = tensorrt_type_from(TENSORRT_CALL(VCudaEngine, getTensorDataType, engine->engine, name));
    tensor->io.has_shape = tensorrt_dims_get(&dims, &tensor->io.shape);
    tensor->io.symbols = arena_alloc_zero(&engine->arena, TENSOR_MAX_RANK, sizeof(*tensor->io.symbols));
    tensor->is_host = TENSORRT_CALL(VCudaEngine, isShapeInferenceIO, engine->engine, name) ||
                      TENSORRT_CALL(VCudaEngine, getTensorLocation, engine->engine, name) == TENSORRT_ON_HOST;
    if (tensor->io.type == DATA_UNDEFINED)
        return error_set(err, ERR_UNSUPPORTED, "'%s' has a type of TensorRT's that is not known here", name);
    if (format != FORMAT_LINEAR)
        return error_set(err, ERR_UNSUPPORTED,
                         "'%s' has the memory format %s, and engines are run with linear ones only: leave out "
                         "--tensor-formats",
                         name, tensorrt_value_name(TENSORRT_TENSOR_FORMAT, format));
    return 0;
}

/* Tensors that are marked by name; what else comes is learned from a run. */
static void add_debug_tensors(struct tensorrt_engine *engine, const struct tensor_list *seen)
{
    for (size_t i = 0; i < seen->count; i++) {
        struct tensorrt_tensor *tensor = add_tensor(&engine->outputs);

        tensor->is_debug = true;
        tensor->io.name = arena_strdup(&engine->arena, seen->items[i].name);
        tensor->io.type = seen->items[i].tensor.type;
        tensor->io.has_shape = true;
        tensor->io.shape = seen->items[i].tensor.shape;
        tensor->io.symbols = arena_alloc_zero(&engine->arena, TENSOR_MAX_RANK, sizeof(*tensor->io.symbols));
    }
}

static int describe_tensors(struct tensorrt_engine *engine, struct error *err)
{
    int32_t count = TENSORRT_GET(VCudaEngine, getNbIOTensors, engine->engine);

    engine->inputs.items = memory_alloc_zero((size_t)count + 1, sizeof(*engine->inputs.items));
    engine->outputs.items = memory_alloc_zero((size_t)count + 1, sizeof(*engine->outputs.items));
    for (int32_t i = 0; i < count; i++)
        if (describe_tensor(engine, TENSORRT_CALL(VCudaEngine, getIOTensorName, engine->engine, i), err) < 0)
            return err->code;
    return 0;
}

/* ---- Loading ---- */

static int create_runtime(struct tensorrt_engine *engine, struct error *err)
{
    const struct tensorrt_settings *settings = engine->settings;
    const struct tensorrt *trt = engine->trt;
    void *logger = tensorrt_logger(settings->log);

    if (trt->register_plugins != NULL)
        trt->register_plugins(logger, "");
    engine->runtime = tensorrt_object(trt->create_runtime(logger, trt->number));
    if (engine->runtime == NULL)
        return tensorrt_failure(err, "TensorRT gives no runtime");
    if (settings->lean_runtime != NULL) {
        engine->lean_runtime = engine->runtime;
        engine->runtime =
            tensorrt_object(TENSORRT_CALL(VRuntime, loadRuntime, engine->lean_runtime, settings->lean_runtime));
    }
    if (engine->runtime == NULL)
        return tensorrt_failure(err, "--load-runtime");
    TENSORRT_CALL(VRuntime, setErrorRecorder, engine->runtime, tensorrt_error_recorder());
    if (tensorrt_has(TENSORRT_METHOD(VRuntime, setEngineHostCodeAllowed))) /* version-compatible engines have some */
        TENSORRT_CALL(VRuntime, setEngineHostCodeAllowed, engine->runtime, true);
    if (settings->use_dla && tensorrt_has(TENSORRT_METHOD(VRuntime, setDLACore)))
        TENSORRT_CALL(VRuntime, setDLACore, engine->runtime, 0);
    return 0;
}

#define NOT_STREAMED (-2)
#define AUTOMATIC (-1)

/* TensorRT 10.0 has other words: 0 for all weights on the GPU, -1 for its own choice, and else a budget between a
 * minimum and the size of the weights. */
static bool set_first_streaming_budget(void *engine, int64_t wanted)
{
    int64_t all = TENSORRT_GET(VCudaEngine, getStreamableWeightsSize, engine);
    int64_t least = TENSORRT_GET(VCudaEngine, getMinimumWeightStreamingBudget, engine);
    int64_t budget = wanted < least ? least : wanted;

    if (wanted == AUTOMATIC)
        budget = AUTOMATIC;
    else if (wanted == NOT_STREAMED || budget >= all)
        budget = 0;
    return TENSORRT_CALL(VCudaEngine, setWeightStreamingBudget, engine, budget);
}

static bool set_second_streaming_budget(void *engine, int64_t wanted)
{
    int64_t budget = wanted == AUTOMATIC      ? TENSORRT_GET(VCudaEngine, getWeightStreamingAutomaticBudget, engine)
                     : wanted == NOT_STREAMED ? TENSORRT_GET(VCudaEngine, getStreamableWeightsSize, engine)
                                              : wanted;

    return TENSORRT_CALL(VCudaEngine, setWeightStreamingBudgetV2, engine, budget);
}

/* "-2": not streamed; "-1": TensorRT decides; "50%": of the weights; else bytes. */
static int set_streaming_budget(struct tensorrt_engine *engine, struct error *err)
{
    static const char option[] = "--weight-streaming-budget";
    const char *word = engine->settings->weight_streaming_budget;
    bool has_second = tensorrt_has(TENSORRT_METHOD(VCudaEngine, setWeightStreamingBudgetV2));
    size_t size = word != NULL ? strlen(word) : 0;
    bool is_percent = size > 0 && word[size - 1] == '%', is_set;
    double number;

    if (word == NULL)
        return 0;
    if (!has_second && tensorrt_require(TENSORRT_METHOD(VCudaEngine, setWeightStreamingBudget), option, err) < 0)
        return err->code;
    if (!number_parse_float((struct text){word, size - is_percent}, &number) || number < NOT_STREAMED || number > 1e18)
        return error_set(err, ERR_INVALID, "%s: '%s': expected -2, -1, a number of bytes or a percentage", option,
                         word);
    if (is_percent)
        number *= (double)TENSORRT_GET(VCudaEngine, getStreamableWeightsSize, engine->engine) / 100;
    is_set = has_second ? set_second_streaming_budget(engine->engine, (int64_t)number)
                        : set_first_streaming_budget(engine->engine, (int64_t)number);
    return is_set ? 0 : tensorrt_failure(err, option);
}

static bool is_user_managed(const struct tensorrt_engine *engine)
{
    const char *strategy = engine->settings->allocation_strategy;

    return strategy != NULL && strcmp(strategy, "runtime") == 0;
}

static int create_context(struct tensorrt_engine *engine, struct error *err)
{
    const char *strategy = engine->settings->allocation_strategy;
    const char *name = strategy == NULL || strcmp(strategy, "static") == 0 ? "STATIC"
                       : strcmp(strategy, "profile") == 0                  ? "ON_PROFILE_CHANGE"
                                                                           : "USER_MANAGED";
    int32_t value = 0;

    if (strategy != NULL &&
        tensorrt_value_find(TENSORRT_ALLOCATION_STRATEGY, name, "--allocation-strategy", &value, err) < 0)
        return err->code = ERR_UNSUPPORTED;
    engine->context = tensorrt_object(TENSORRT_CALL(VCudaEngine, createExecutionContext, engine->engine, value));
    return engine->context != NULL ? 0 : tensorrt_failure(err, "TensorRT gives no execution context");
}

static int choose_profile(const struct tensorrt_engine *engine, struct error *err)
{
    int32_t profiles = TENSORRT_GET(VCudaEngine, getNbOptimizationProfiles, engine->engine);
    int64_t wanted = engine->settings->optimization_profile;

    if (wanted < 0 || (wanted > 0 && wanted >= profiles))
        return error_set(err, ERR_INVALID,
                         "--optimization-profile: there is no profile %lld; the engine has %d, from 0",
                         (long long)wanted, profiles);
    if (wanted == 0)
        return 0;
    if (!TENSORRT_CALL(VExecutionContext, setOptimizationProfileAsync, engine->context, (int32_t)wanted,
                       engine->stream))
        return tensorrt_failure(err, "--optimization-profile");
    return cuda_wait(engine->stream, err);
}

static bool has_debug(const struct tensorrt_settings *settings)
{
    return settings->mark_unfused || settings->mark_debug.count > 0;
}

/* Zeros in the shapes that the profile is optimized for. */
static int make_zeros(const struct tensorrt_engine *engine, struct tensor_list *ret, struct error *err)
{
    VECTOR_EACH (const struct tensorrt_tensor, input, engine->inputs) {
        struct shape shape = input->io.shape;
        struct tensor tensor;

        if (!shape_is_static(&shape)) {
            union tensorrt_dims dims =
                TENSORRT_CALL(VCudaEngine, getProfileShape, engine->engine, input->io.name,
                              (int32_t)engine->settings->optimization_profile, 1 /* OptProfileSelector::kOPT */);

            tensorrt_dims_get(&dims, &shape);
        }
        if (tensor_allocate(input->io.type, &shape, &tensor, err) < 0)
            return err->code;
        memset(tensor_writable(&tensor), 0, tensor.size);
        tensor_list_add(ret, text_of(input->io.name), &tensor);
    }
    return 0;
}

/* Which tensors inside of the engine come out is seen in a run only. */
static int learn_debug_tensors(struct tensorrt_engine *engine, struct error *err)
{
    struct tensor_list zeros SCOPED(tensor_list_release) = {0};
    struct tensor_list seen SCOPED(tensor_list_release) = {0};
    struct tensor_list outputs SCOPED(tensor_list_release) = {0};
    struct words none = {0};
    int rc = make_zeros(engine, &zeros, err);

    engine->seen = &seen;
    if (rc == 0)
        rc = tensorrt_engine_run(engine, &zeros, &none, &outputs, NULL, err);
    engine->seen = NULL;
    engine->outputs.items =
        memory_resize(engine->outputs.items, engine->outputs.count + seen.count + 1, sizeof(*engine->outputs.items));
    if (rc == 0)
        add_debug_tensors(engine, &seen);
    return rc;
}

static int prepare_context(struct tensorrt_engine *engine, struct error *err)
{
    if (choose_profile(engine, err) < 0)
        return err->code;
    if (engine->settings->profile)
        TENSORRT_CALL(VExecutionContext, setProfiler, engine->context, tensorrt_profiler(&engine->times));
    if (!has_debug(engine->settings))
        return 0;
    if (tensorrt_require(TENSORRT_METHOD(VExecutionContext, setAllTensorsDebugState), "--mark-debug", err) < 0)
        return err->code;
    TENSORRT_CALL(VExecutionContext, setAllTensorsDebugState, engine->context, true);
    if (engine->settings->mark_unfused)
        TENSORRT_CALL(VExecutionContext, setUnfusedTensorsDebugState, engine->context, true);
    return learn_debug_tensors(engine, err);
}

/* An engine of another release has bytes that mean something else to this one, whatever its error says. */
static int refuse_plan(const struct tensorrt *trt, struct span plan, struct error *err)
{
    struct plan_header built;
    SCOPED_STRING(name);
    SCOPED_STRING(what);

    string_add(&what, "TensorRT does not load the engine");
    tensorrt_describe(trt, &name);
    if (plan_header_parse(plan, &built, err) < 0)
        return error_context(err, "%s", what.data);
    if (built.is_rtx != (trt->place.flavour == TENSORRT_RTX) || built.major != (unsigned)trt->major ||
        built.minor != (unsigned)trt->minor || built.patch != (unsigned)trt->patch)
        string_add_format(&what,
                          ": it was built by TensorRT%s %u.%u.%u, and the library is %s (install that release, or "
                          "build with --version-compatible)",
                          built.is_rtx ? "-RTX" : "", built.major, built.minor, built.patch, name.data);
    else
        string_add(&what, ", which is of the library's release, so it may be truncated or damaged");
    return tensorrt_failure(err, what.data);
}

static int deserialize_plan(struct tensorrt_engine *engine, struct error *err)
{
    struct span plan = engine->plan;

    engine->engine =
        tensorrt_object(TENSORRT_CALL(VRuntime, deserializeCudaEngine, engine->runtime, plan.data, plan.size, NULL));
    return engine->engine != NULL ? 0 : refuse_plan(engine->trt, plan, err);
}

static int take_weights(struct tensorrt_engine *engine, struct error *err)
{
    return engine->weights != NULL
               ? tensorrt_refit(engine->trt, engine->engine, engine->weights, engine->settings->log, err)
               : 0;
}

static int create_stream(struct tensorrt_engine *engine, struct error *err)
{
    return cuda_make_stream(&engine->stream, err);
}

typedef int engine_step(struct tensorrt_engine *engine, struct error *err);

int tensorrt_engine_load(const struct tensorrt *trt, const struct tensorrt_settings *settings, struct span plan,
                         const struct backend_model *weights, struct tensorrt_engine *ret, struct error *err)
{
    static engine_step *const steps[] = {create_runtime,       deserialize_plan, take_weights,   describe_tensors,
                                         set_streaming_budget, create_stream,    create_context, prepare_context};
    int rc;

    *ret = (struct tensorrt_engine){.settings = settings, .trt = trt, .plan = plan, .weights = weights};
    tensorrt_errors_clear();
    rc = cuda_use_device(trt->place.path, settings->device, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < ARRAY_LEN(steps) && rc == 0; i++)
        rc = steps[i](ret, err);
    ret->plan = (struct span){0};
    ret->weights = NULL;
    if (rc < 0)
        tensorrt_engine_release(ret);
    return rc;
}

static void release_tensors(struct tensorrt_tensors *tensors)
{
    for (size_t i = 0; i < tensors->count; i++) {
        tensorrt_output_memory_release(&tensors->items[i].device);
        tensor_release(&tensors->items[i].host);
    }
    free(tensors->items);
}

void tensorrt_engine_release(struct tensorrt_engine *engine)
{
    release_tensors(&engine->inputs);
    release_tensors(&engine->outputs);
    tensorrt_delete(engine->context);
    tensorrt_delete(engine->engine);
    tensorrt_delete(engine->runtime);
    tensorrt_delete(engine->lean_runtime);
    cuda_free(engine->workspace);
    cuda_remove_stream(engine->stream);
    tensorrt_layer_times_release(&engine->times);
    arena_release(&engine->arena);
    *engine = (struct tensorrt_engine){0};
}

/* ---- Running ---- */

static int refuse_shape(const char *name, const struct shape *shape, struct error *err)
{
    SCOPED_STRING(what);

    string_add(&what, "the shape ");
    shape_to_text(shape, &what);
    string_add_format(&what,
                      " of the input '%s' does not fit the engine's profile (--trt-min-shapes and --trt-max-shapes of "
                      "the build)",
                      name);
    return tensorrt_failure(err, what.data);
}

static int set_input(struct tensorrt_engine *engine, struct tensorrt_tensor *input, const struct tensor *given,
                     struct error *err)
{
    const char *name = input->io.name;
    union tensorrt_dims dims;
    const struct tensor *tensor;
    int rc = tensorrt_feed_fit(&input->io, given, &input->host, &tensor, err);

    if (rc < 0)
        return rc;
    if (!shape_is_static(&input->io.shape) &&
        (!tensorrt_dims_set(&tensor->shape, &dims) ||
         !TENSORRT_CALL(VExecutionContext, setInputShape, engine->context, name, &dims)))
        return refuse_shape(name, &tensor->shape, err);
    if (input->is_host)
        return TENSORRT_CALL(VExecutionContext, setTensorAddress, engine->context, name,
                             (void *)(uintptr_t)tensor->data)
                   ? 0
                   : tensorrt_failure(err, "TensorRT does not take the values of an input");
    rc = tensorrt_output_memory_reserve(&input->device, tensor->size, err);
    if (rc == 0)
        rc = cuda_copy(input->device.memory, tensor->data, tensor->size, CUDA_TO_DEVICE, engine->stream, err);
    if (rc == 0 && !TENSORRT_CALL(VExecutionContext, setTensorAddress, engine->context, name, input->device.memory))
        rc = tensorrt_failure(err, "TensorRT does not take an input");
    return rc;
}

/* Where sizes depend on values, TensorRT asks for memory when it knows them. */
static int prepare_output(const struct tensorrt_engine *engine, struct tensorrt_tensor *output, struct error *err)
{
    const char *name = output->io.name;
    union tensorrt_dims dims = TENSORRT_CALL(VExecutionContext, getTensorShape, engine->context, name);
    struct tensorrt_output_memory *device = &output->device;
    bool taken;
    int rc;

    device->failure.code = 0;
    device->has_shape = tensorrt_dims_get(&dims, &device->shape) && shape_is_static(&device->shape);
    if (!device->has_shape) {
        taken = TENSORRT_CALL(VExecutionContext, setOutputAllocator, engine->context, name, device);
        return taken ? 0 : tensorrt_failure(err, "TensorRT takes no memory for an output");
    }
    if (output->is_host) {
        tensor_release(&output->host);
        rc = tensor_allocate(output->io.type, &device->shape, &output->host, err);
    } else {
        rc = tensorrt_output_memory_reserve(device, tensor_bytes(output->io.type, shape_elements(&device->shape)), err);
    }
    if (rc < 0)
        return rc;
    taken = TENSORRT_CALL(VExecutionContext, setTensorAddress, engine->context, name,
                          output->is_host ? tensor_writable(&output->host) : device->memory);
    return taken ? 0 : tensorrt_failure(err, "TensorRT takes no memory for an output");
}

static int set_workspace(struct tensorrt_engine *engine, struct error *err)
{
    int64_t size;

    if (!is_user_managed(engine))
        return 0;
    size = TENSORRT_GET(VExecutionContext, updateDeviceMemorySizeForShapes, engine->context);
    cuda_free(engine->workspace);
    engine->workspace = NULL;
    if (cuda_allocate((size_t)size, &engine->workspace, err) < 0)
        return err->code;
    if (tensorrt_has(TENSORRT_METHOD(VExecutionContext, setDeviceMemoryV2)))
        TENSORRT_CALL(VExecutionContext, setDeviceMemoryV2, engine->context, engine->workspace, size);
    else
        TENSORRT_CALL(VExecutionContext, setDeviceMemory, engine->context, engine->workspace);
    return 0;
}

static int prepare_run(struct tensorrt_engine *engine, const struct tensor_list *feed, struct error *err)
{
    VECTOR_EACH (struct tensorrt_tensor, input, engine->inputs) {
        const struct named_tensor *given = tensor_list_find(feed, text_of(input->io.name));

        if (given == NULL)
            return error_set(err, ERR_MISSING, "there are no data for input '%s'", input->io.name);
        if (set_input(engine, input, &given->tensor, err) < 0)
            return err->code;
    }
    for (size_t i = 0; i < engine->outputs.count; i++)
        if (!engine->outputs.items[i].is_debug && prepare_output(engine, &engine->outputs.items[i], err) < 0)
            return err->code;
    return set_workspace(engine, err);
}

/* Why an output got no memory, if one did not. */
static int check_output_memory(const struct tensorrt_engine *engine, struct error *err)
{
    for (size_t i = 0; i < engine->outputs.count; i++)
        if (engine->outputs.items[i].device.failure.code != 0) {
            *err = engine->outputs.items[i].device.failure;
            return err->code;
        }
    return 0;
}

static int run_inference(const struct tensorrt_engine *engine, double *seconds, struct error *err)
{
    double begin = stopwatch_now();
    bool done = TENSORRT_CALL(VExecutionContext, enqueueV3, engine->context, engine->stream);
    int rc = check_output_memory(engine, err);

    if (rc == 0)
        rc = done ? cuda_wait(engine->stream, err) : tensorrt_failure(err, "TensorRT fails at inference");
    if (seconds != NULL)
        *seconds = stopwatch_now() - begin;
    return rc;
}

static int take_output(const struct tensorrt_engine *engine, struct tensorrt_tensor *output, struct tensor *ret,
                       struct error *err)
{
    const struct tensorrt_output_memory *device = &output->device;
    void *data = NULL;
    int rc;

    if (output->is_host && output->host.data != NULL) {
        *ret = output->host;
        output->host = (struct tensor){0};
        return 0;
    }
    if (!device->has_shape || !shape_is_static(&device->shape))
        return error_set(err, ERR_BACKEND, "TensorRT does not tell the shape of output '%s'", output->io.name);
    rc = message_allocate_tensor(output->io.type, &device->shape, ret, &data, err);
    if (rc == 0 && ret->size > device->size && ret->size > 0)
        rc = error_set(err, ERR_BACKEND, "TensorRT asked for %zu bytes for output '%s', which has %zu", device->size,
                       output->io.name, ret->size);
    if (rc == 0)
        rc = cuda_copy(data, device->memory, ret->size, CUDA_TO_HOST, engine->stream, err);
    return rc;
}

static struct tensorrt_tensor *find_output(const struct tensorrt_engine *engine, const char *name)
{
    for (size_t i = 0; i < engine->outputs.count; i++)
        if (strcmp(engine->outputs.items[i].io.name, name) == 0)
            return &engine->outputs.items[i];
    return NULL;
}

static int take_debug_tensor(struct tensor_list *seen, const char *name, struct tensor *ret, struct error *err)
{
    struct named_tensor *found = tensor_list_find(seen, text_of(name));

    if (found == NULL)
        return error_set(err, ERR_BACKEND, "TensorRT did not give out '%s', which is marked", name);
    *ret = found->tensor;
    found->tensor = (struct tensor){0};
    return 0;
}

/* Adds what is wanted, in that order. */
static int take_outputs(struct tensorrt_engine *engine, const struct words *wanted, struct tensor_list *seen,
                        struct tensor_list *ret, struct error *err)
{
    size_t count = wanted != NULL ? wanted->count : engine->outputs.count;

    for (size_t i = 0; i < count; i++) {
        struct tensorrt_tensor *output =
            wanted != NULL ? find_output(engine, wanted->items[i]) : &engine->outputs.items[i];
        struct tensor tensor = {0};
        int rc;

        if (output == NULL)
            return error_set(err, ERR_MISSING, "the engine has no output '%s'", wanted->items[i]);
        rc = output->is_debug ? take_debug_tensor(seen, output->io.name, &tensor, err)
                              : take_output(engine, output, &tensor, err);
        if (rc < 0) {
            tensor_release(&tensor);
            return rc;
        }
        tensor_list_add(ret, text_of(output->io.name), &tensor);
    }
    return cuda_wait(engine->stream, err);
}

int tensorrt_engine_run(struct tensorrt_engine *engine, const struct tensor_list *feed, const struct words *wanted,
                        struct tensor_list *ret, double *seconds, struct error *err)
{
    struct tensor_list own = {0}, *seen = engine->seen != NULL ? engine->seen : &own;
    struct error failure = {0};
    int rc;

    tensorrt_errors_clear();
    tensorrt_layer_times_release(&engine->times);
    if (has_debug(engine->settings))
        TENSORRT_CALL(VExecutionContext, setDebugListener, engine->context,
                      tensorrt_debug_listener(seen, engine->stream, &failure));
    rc = prepare_run(engine, feed, err);
    if (rc == 0)
        rc = run_inference(engine, seconds, err);
    if (failure.code != 0) {
        *err = failure;
        rc = failure.code;
    }
    if (rc == 0)
        rc = take_outputs(engine, wanted, seen, ret, err);
    tensor_list_release(&own);
    return rc;
}

/* ---- What the engine is made of ---- */

int tensorrt_engine_layers(const struct tensorrt_engine *engine, struct string_builder *ret, struct error *err)
{
    void *inspector = tensorrt_object(TENSORRT_GET(VCudaEngine, createEngineInspector, engine->engine));
    const char *text =
        inspector != NULL ? TENSORRT_CALL(VEngineInspector, getEngineInformation, inspector, FORMAT_JSON) : NULL;

    if (text != NULL)
        string_add(ret, text);
    tensorrt_delete(inspector);
    return text != NULL ? 0 : tensorrt_failure(err, "TensorRT gives no layer information");
}

static int compare_times(const void *a, const void *b)
{
    double first = ((const struct tensorrt_layer_time *)a)->milliseconds;
    double second = ((const struct tensorrt_layer_time *)b)->milliseconds;

    return (first < second) - (first > second);
}

void tensorrt_engine_log_times(struct tensorrt_engine *engine)
{
    struct tensorrt_layer_times *times = &engine->times;
    char number[NUMBER_TEXT_SIZE];
    SCOPED_STRING(text);
    double total = 0;

    if (times->count == 0 || !log_shows(engine->settings->log, LOG_INFO))
        return;
    qsort(times->items, times->count, sizeof(*times->items), compare_times);
    for (size_t i = 0; i < times->count; i++)
        total += times->items[i].milliseconds;
    string_add_format(&text, "Profile of %zu layers of the last run: %s ms\n       ms      %%  layer", times->count,
                      number_to_text_short(total, number));
    for (size_t i = 0; i < times->count; i++) {
        string_add_format(&text, "\n%9.4f %6.2f  ", times->items[i].milliseconds,
                          total > 0 ? 100 * times->items[i].milliseconds / total : 0);
        string_add_visible(&text, text_of(times->items[i].name));
    }
    log_text(engine->settings->log, LOG_INFO, (struct text){text.data, text.size});
}
