/* tests/programs/trtexec_stand_in/infer.c: an engine at work: bindings and inferences. */
#include <stdlib.h>
#include <string.h>

#include "backend/model_io.h"
#include "base/memory.h"
#include "base/system.h"
#include "engine/run/executor.h"
#include "programs/trtexec_stand_in/stand_in.h"
#include "tensor/values/elements.h"

/* ---- Inputs ---- */

/* From a generator that is new for each input: all inputs of one type get the same numbers. */
static void fill_at_random(struct tensor *tensor)
{
    uint64_t state = 1;
    size_t count = tensor_elements(tensor);
    uint8_t *data = tensor_writable(tensor);

    for (size_t i = 0; i < count; i++) {
        double unit;

        state = state * 16807 % 2147483647;
        unit = (double)state / 2147483647.0;
        if (tensor->type == DATA_FLOAT32)
            ((float *)(void *)data)[i] = (float)(2 * unit - 1);
        else if (tensor->type == DATA_FLOAT16)
            ((uint16_t *)(void *)data)[i] = float32_to_float16((float)(2 * unit - 1));
        else if (tensor->type == DATA_INT32)
            ((int32_t *)(void *)data)[i] = (int32_t)(256 * unit) - 128;
        else if (tensor->type == DATA_INT64)
            ((int64_t *)(void *)data)[i] = (int64_t)(256 * unit) - 128;
        else if (tensor->type == DATA_BOOL)
            data[i] = state % 2;
        else
            data[i % tensor->size] = (uint8_t)(256 * unit);
    }
}

/* 8.6 takes any file that is large enough; later ones take twice the size, and read the first half. */
static bool fits(size_t size, size_t wanted)
{
    return size == wanted || (stand_in.version == V8 ? size > wanted : size == 2 * wanted);
}

/* The file stays mapped as long as the process lives. */
static int load_input(struct binding *binding, const char *path)
{
    static const char nothing[1];
    struct file_map map;
    struct error err = {0};
    size_t wanted = tensor_bytes(binding->type, shape_elements(&binding->shape));

    if (file_map_open(path, &map, &err) < 0) {
        say('E', "Uncaught exception detected: Cannot open file %s!", path);
        return 1;
    }
    if (!fits(map.size, wanted)) {
        say('E',
            "Uncaught exception detected: Unexpected file size for input file: %s. Note: Input binding size is: %zu "
            "bytes but the file size is %zu bytes. Double check the size and datatype of the provided data.",
            path, wanted, map.size);
        return 1;
    }
    say('I', "Using values loaded from %s for input %s", path, binding->name);
    tensor_borrow(binding->type, &binding->shape, map.data != NULL ? (const void *)map.data : nothing, wanted,
                  &binding->values);
    return 0;
}

static int fill_input(struct binding *binding, const char *path)
{
    struct error err = {0};

    if (path != NULL && !trap("ignored-inputs"))
        return load_input(binding, path);
    if (tensor_allocate(binding->type, &binding->shape, &binding->values, &err) < 0) {
        say('E', "%s", err.message);
        return 1;
    }
    say('I', "Using random values for input %s", binding->name);
    fill_at_random(&binding->values);
    return 0;
}

/* ---- Bindings ---- */

static void say_binding(const struct binding *binding)
{
    struct string_builder shape;

    if (binding->is_dynamic) {
        say('I', "Output binding for %s is dynamic and will be created during execution using OutputAllocator.",
            binding->name);
        return;
    }
    string_init(&shape);
    dimensions_add(&shape, &binding->shape, 'x');
    say('I', "%s binding for %s with dimensions %s and type %s is created.", binding->is_input ? "Input" : "Output",
        binding->name, shape.data, type_word(binding->type));
    string_release(&shape);
}

/* What was asked for, else what the engine has, else the optimum of its profile. */
static int settle_shape(struct inference *inference, size_t input, const struct pairs *shapes)
{
    struct binding *binding = &inference->bindings[input];
    const struct engine *engine = inference->loaded->engine;
    size_t profile = (size_t)option_number("useProfile", 0);
    const char *asked = pairs_find(shapes, binding->name);
    struct string_builder text;

    if (profile >= engine->profiles.count) {
        say('E', "[TRT] IExecutionContext::setOptimizationProfileAsync: Error Code 3: API Usage Error (profile %zu)",
            profile);
        return 1;
    }
    if (asked != NULL) {
        struct shape shape = shape_of_text(asked);

        if (shape_is_static(&binding->shape) && !shape_equal(&shape, &binding->shape)) {
            say('E', "Static model does not take explicit shapes since the shape of inference tensors will be "
                     "determined by the model itself");
            return 1;
        }
        binding->shape = shape;
        return 0;
    }
    if (shape_is_static(&binding->shape))
        return 0;
    binding->shape = engine->profiles.items[profile].optimum[input];
    string_init(&text);
    dimensions_add(&text, &binding->shape, 'x');
    say('W', "Shape missing for input with dynamic shape: %sAutomatically setting shape to: %s", binding->name,
        text.data);
    string_release(&text);
    return 0;
}

static bool is_debug_tensor(const struct loaded_engine *loaded, const char *name)
{
    for (size_t i = 0; i < loaded->debug_names.count; i++)
        if (strcmp(loaded->debug_names.items[i], name) == 0)
            return true;
    return false;
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

/* TensorRT computes no float64, and up to 8.6 no int64. */
static enum data_type binding_type(const struct inference *inference, enum data_type type)
{
    if (inference->count < MOST_TYPES && inference->loaded->types[inference->count] != 0)
        return (enum data_type)inference->loaded->types[inference->count];
    if (type == DATA_FLOAT64)
        return DATA_FLOAT32;
    return type == DATA_INT64 && stand_in.version == V8 ? DATA_INT32 : type;
}

static int add_inputs(struct inference *inference, const struct backend_io *inputs)
{
    struct pairs files = option_pairs("loadInputs"), shapes = option_pairs("shapes");
    const struct network *network = inference->loaded->engine->network;

    for (size_t i = 0; i < shapes.count; i++) {
        bool found = false;

        for (size_t k = 0; k < network->inputs.count; k++)
            found = found || strcmp(inputs[k].name, shapes.items[i].name) == 0;
        if (!found) {
            say('E',
                "Cannot find input tensor with name \"%s\" in the engine bindings! Please make sure the input "
                "tensor names are correct.",
                shapes.items[i].name);
            return 1;
        }
    }
    for (size_t i = 0; i < network->inputs.count; i++) {
        struct binding *binding = &inference->bindings[inference->count];

        *binding = (struct binding){.name = inputs[i].name,
                                    .type = binding_type(inference, inputs[i].type),
                                    .shape = inputs[i].shape,
                                    .is_input = true};
        inference->count++;
        if (settle_shape(inference, i, &shapes) != 0 || fill_input(binding, pairs_find(&files, binding->name)) != 0)
            return 1;
        say_binding(binding);
    }
    return 0;
}

static int run_once(struct inference *inference, bool counts);

/* Sizes that the shapes of inputs decide on are known to TensorRT before a run. Here a run tells them. */
static void settle_outputs(struct inference *inference)
{
    bool known = true;

    for (size_t i = 0; i < inference->count; i++)
        known = known && (inference->bindings[i].is_dynamic || shape_is_static(&inference->bindings[i].shape));
    if (!known)
        run_once(inference, false);
}

static int set_up(struct inference *inference)
{
    const struct engine *engine = inference->loaded->engine;
    const struct network *network = engine->network;
    struct backend_io *outputs = engine_outputs_new(engine);
    size_t inputs = network->inputs.count;

    inference->bindings = memory_alloc_zero(inputs + network->outputs.count, sizeof(*inference->bindings));
    if (add_inputs(inference, engine_inputs_new(engine)) != 0)
        return 1;
    for (size_t i = 0; i < network->outputs.count; i++) {
        bool *seen = memory_alloc_zero(network->model->nodes.count, sizeof(*seen));
        struct binding binding = {
            .name = outputs[i].name, .type = binding_type(inference, outputs[i].type), .shape = outputs[i].shape};

        binding.is_dynamic =
            !shape_is_static(&binding.shape) && depends_on_data(network->model, network->outputs.items[i], seen);
        free(seen);
        if (!is_debug_tensor(inference->loaded, binding.name))
            inference->bindings[inference->count++] = binding;
    }
    settle_outputs(inference);
    for (size_t i = inputs; i < inference->count; i++)
        say_binding(&inference->bindings[i]);
    return 0;
}

/* ---- Running ---- */

/* Between the type of a binding and that of the engine. */
static void convert(const struct tensor *from, enum data_type type, struct tensor *ret)
{
    struct error err = {0};
    uint8_t *data;

    if (tensor_allocate(type, &from->shape, ret, &err) < 0)
        exit(1);
    data = tensor_writable(ret);
    for (size_t i = 0; i < tensor_elements(from); i++) {
        double value;

        elements_to_float64(from, i, 1, &value);
        if (type == DATA_INT64)
            ((int64_t *)(void *)data)[i] = (int64_t)value;
        else if (type == DATA_INT32)
            ((int32_t *)(void *)data)[i] = (int32_t)value;
        else if (type == DATA_FLOAT64)
            ((double *)(void *)data)[i] = value;
        else if (type == DATA_FLOAT16)
            ((uint16_t *)(void *)data)[i] = float64_to_float16(value);
        else
            ((float *)(void *)data)[i] = (float)value;
    }
}

static void feed_inputs(const struct inference *inference, struct tensor_list *feed)
{
    const struct network *network = inference->loaded->engine->network;

    for (size_t i = 0; i < network->inputs.count; i++) {
        const struct tensor *values = &inference->bindings[i].values;
        enum data_type type = network_type(network, network->inputs.items[i]);
        struct tensor tensor;

        if (type != values->type)
            convert(values, type, &tensor);
        else
            tensor_borrow(values->type, &values->shape, values->data, values->size, &tensor);
        tensor_list_add(feed, text_of(inference->bindings[i].name), &tensor);
    }
}

/* An engine without its weights, which nobody has given back, computes nothing, and does not say so. */
static void clear(struct tensor *values)
{
    struct tensor zeros;
    struct error err = {0};

    if (tensor_allocate(values->type, &values->shape, &zeros, &err) < 0)
        exit(1);
    memset(tensor_writable(&zeros), 0, zeros.size);
    tensor_release(values);
    *values = zeros;
}

/* The fault of a fusion: the layer of this name, which TensorRT makes of several nodes as a rule, computes wrongly. */
static bool has_wrong_layer(const struct network *network)
{
    const char *wrong = getenv("TRTEXEC_STAND_IN_WRONG_LAYER");
    bool found = false;

    for (size_t i = 0; wrong != NULL && i < network->layers.count; i++)
        found = found || strcmp(network->layers.items[i].name, wrong) == 0;
    return found;
}

/* The exponent of its last element. */
static void spoil(struct tensor *values)
{
    struct tensor copy;
    struct error err = {0};
    uint8_t *data;

    if (tensor_copy(values, &copy, &err) < 0)
        exit(1);
    data = tensor_writable(&copy);
    if (copy.size > 0)
        data[copy.size - 1] ^= 0x40;
    tensor_release(values);
    *values = copy;
}

static void take_outputs(struct inference *inference, struct tensor_list *outputs)
{
    for (size_t i = 0; i < inference->count; i++) {
        struct binding *binding = &inference->bindings[i];
        struct named_tensor *made = binding->is_input ? NULL : tensor_list_find(outputs, text_of(binding->name));

        if (made == NULL)
            continue;
        tensor_release(&binding->values);
        if (binding->type != made->tensor.type) {
            convert(&made->tensor, binding->type, &binding->values);
        } else {
            binding->values = made->tensor;
            made->tensor = (struct tensor){0};
        }
        if (inference->loaded->stripped)
            clear(&binding->values);
        if (has_wrong_layer(inference->loaded->engine->network))
            spoil(&binding->values);
        if (!binding->is_dynamic)
            binding->shape = binding->values.shape;
    }
}

/* Debug tensors are only made for those who save them. */
static struct words wanted_names(const struct inference *inference)
{
    bool debug = given("saveAllDebugTensors") || given("saveDebugTensors");
    size_t most = inference->count + inference->loaded->debug_names.count;
    const char **names = memory_alloc_zero(most + 1, sizeof(*names));
    struct words words = {names, 0};

    for (size_t i = 0; i < inference->count; i++)
        if (!inference->bindings[i].is_input)
            names[words.count++] = inference->bindings[i].name;
    for (size_t i = 0; debug && i < inference->loaded->debug_names.count; i++)
        names[words.count++] = inference->loaded->debug_names.items[i];
    return words;
}

/* `counts`: it is one that TensorRT does, too. */
static int run_once(struct inference *inference, bool counts)
{
    struct tensor_list feed = {0}, outputs = {0};
    struct error err = {0};
    struct words names = wanted_names(inference);
    struct words wanted = {names.items, names.count};
    struct query *query;
    double start = stopwatch_now();
    double seconds;
    int rc;

    feed_inputs(inference, &feed);
    rc = executor_run(inference->executor, &feed, &wanted, &outputs, &seconds, &err);
    tensor_list_release(&feed);
    free((void *)(uintptr_t)names.items);
    if (rc < 0 && counts) {
        say('E', "[TRT] IExecutionContext::enqueueV3: Error Code 3: API Usage Error (%s)", err.message);
        say('E', "Error occurred during inference");
    }
    if (rc < 0)
        return 1;
    if (counts) {
        query = VECTOR_APPEND(&inference->queries);
        *query = (struct query){start - stand_in.start, seconds};
        save_debug_tensors(inference->loaded, &outputs);
    }
    take_outputs(inference, &outputs);
    tensor_list_release(&outputs);
    return 0;
}

/* 11.1 adds one inference to those that were asked for. */
static int run_often(struct inference *inference, double *ret_wall)
{
    size_t iterations = (size_t)option_number("iterations", 10) + (stand_in.version == V111 ? 1 : 0);
    double seconds = (double)option_number("duration", 3), start = stopwatch_now();
    int status = 0;

    inference->queries.count = 0;
    while (status == 0 && (inference->queries.count < iterations || seconds < 0 || stopwatch_now() - start < seconds))
        status = run_once(inference, true);
    *ret_wall = stopwatch_now() - start;
    return status;
}

static int warm_up(struct inference *inference, size_t *ret_count)
{
    double seconds = (double)option_number("warmUp", 200) / 1000, start = stopwatch_now();
    int status = 0;

    while (status == 0 && stopwatch_now() - start < seconds)
        status = run_once(inference, true);
    *ret_count = inference->queries.count;
    return status;
}

/* Up to 10 host memory is only filled when data are transferred; 11.0 does so when asked, 11.1 once in any case. */
static void forget_outputs(struct inference *inference)
{
    bool filled = (stand_in.version & UNTIL_10) != 0 ? !given("noDataTransfers")
                                                     : given("includeDataTransfers") || stand_in.version == V111;

    for (size_t i = 0; !filled && i < inference->count; i++) {
        struct tensor *values = &inference->bindings[i].values, fresh;
        struct error err = {0};

        if (inference->bindings[i].is_input || tensor_allocate(values->type, &values->shape, &fresh, &err) < 0)
            continue;
        memset(tensor_writable(&fresh), 0xAA, fresh.size);
        tensor_release(values);
        *values = fresh;
    }
}

static bool captures_graph(void)
{
    return (stand_in.version & SINCE_11) != 0 ? !given("noCudaGraph") : given("useCudaGraph");
}

static int run_all(struct inference *inference)
{
    bool profiles = given("dumpProfile") || given("exportProfile");
    bool apart = profiles && ((stand_in.version & SINCE_11) != 0 || given("separateProfileRun"));
    size_t warm_ups = 0;
    double wall;

    say('I', "Starting inference");
    if (captures_graph() && inference->loaded->debug_names.count > 0 &&
        (given("saveAllDebugTensors") || given("saveDebugTensors"))) {
        fprintf(stderr, "Cuda failure: operation not permitted when stream is capturing\n");
        return 2;
    }
    executor_set_profiling(inference->executor, profiles && !apart);
    if (warm_up(inference, &warm_ups) != 0 || run_often(inference, &wall) != 0)
        return 1;
    if (!profiles || apart) {
        report_performance(inference, warm_ups, wall);
        if (given("exportTimes"))
            export_times(inference, option("exportTimes"));
    } else {
        say('I', "The e2e network timing is not reported since it is inaccurate due to the extra synchronizations when "
                 "the profiler is enabled.");
        say('I', "To show e2e network timing report, add --separateProfileRun to profile layer timing in a separate "
                 "run or remove --dumpProfile to disable the profiler.");
    }
    forget_outputs(inference);
    if (given("dumpOutput"))
        dump_outputs(inference);
    if (given("exportOutput"))
        export_outputs(inference, option("exportOutput"));
    if (given("dumpRawBindingsToFile"))
        dump_raw(inference);
    executor_set_profiling(inference->executor, profiles);
    if (apart && run_often(inference, &wall) != 0)
        return 1;
    if (profiles)
        report_profile(inference);
    return 0;
}

int infer(struct loaded_engine *loaded)
{
    struct inference inference = {.loaded = loaded};
    struct error err = {0};
    int status;

    say('I', "Setting persistentCacheLimit to 0 bytes.");
    say('I', "Created execution context with device memory size: 0 MiB");
    if (executor_new(loaded->engine, NULL, &inference.executor, &err) < 0) {
        say('E', "[TRT] %s", err.message);
        say('E', "Inference set up failed");
        return 1;
    }
    if (set_up(&inference) != 0)
        return 1;
    layers_export(loaded);
    status = run_all(&inference);
    if (status == 0)
        finish_debug_tensors();
    return status;
}
