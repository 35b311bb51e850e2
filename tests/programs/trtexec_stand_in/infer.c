/* tests/programs/trtexec_stand_in/infer.c: an engine at work: bindings, inferences, and the files that are left. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "backend/model_io.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "base/system.h"
#include "engine/run/executor.h"
#include "programs/trtexec_stand_in/stand_in.h"
#include "tensor/values/elements.h"

struct binding {
    const char *name;
    enum data_type type;
    struct shape shape; /* -1 where only a run tells */
    bool is_input, is_dynamic;
    struct tensor values;
};

struct inference {
    struct loaded_engine *loaded;
    struct executor *executor;
    struct binding *bindings; /* inputs, then outputs */
    size_t count;
    size_t enqueued;
};

static const char *type_word(enum data_type type)
{
    static const char *const words[DATA_TYPE_COUNT] = {
        [DATA_FLOAT32] = "fp32",     [DATA_FLOAT16] = "fp16", [DATA_BFLOAT16] = "bf16",  [DATA_INT8] = "int8",
        [DATA_INT32] = "int32",      [DATA_INT64] = "int64",  [DATA_BOOL] = "bool",      [DATA_UINT8] = "uint8",
        [DATA_FLOAT8E4M3FN] = "fp8", [DATA_INT4] = "int4",    [DATA_FLOAT4E2M1] = "fp4",
    };

    return words[type] != NULL ? words[type] : "unknown";
}

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

static void refuse_size(const char *path, size_t wanted, size_t size)
{
    say('E',
        "Uncaught exception detected: Unexpected file size for input file: %s. Note: Input binding size is: %zu bytes "
        "but the file size is %zu bytes. Double check the size and datatype of the provided data.",
        path, wanted, size);
}

/* 8.6 takes any file that is large enough; later ones take twice the size, and read the first half. */
static bool fits(size_t size, size_t wanted)
{
    return size == wanted || (stand_in.version == V8 ? size > wanted : size == 2 * wanted);
}

static int fill_input(struct binding *binding, const char *path)
{
    struct error err = {0};
    char *bytes = NULL;
    size_t size = 0;

    if (tensor_allocate(binding->type, &binding->shape, &binding->values, &err) < 0) {
        say('E', "%s", err.message);
        return 1;
    }
    if (path == NULL) {
        say('I', "Using random values for input %s", binding->name);
        fill_at_random(&binding->values);
    } else if (file_read(path, SIZE_MAX, &bytes, &size, &err) < 0) {
        say('E', "Uncaught exception detected: Cannot open file %s!", path);
        return 1;
    } else if (!fits(size, binding->values.size)) {
        refuse_size(path, binding->values.size, size);
        free(bytes);
        return 1;
    } else {
        say('I', "Using values loaded from %s for input %s", path, binding->name);
        memcpy(tensor_writable(&binding->values), bytes, binding->values.size);
    }
    free(bytes);
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
static int settle_shape(struct inference *inference, size_t input, const char *asked)
{
    struct binding *binding = &inference->bindings[input];
    const struct engine *engine = inference->loaded->engine;
    struct string_builder text;

    if (asked != NULL) {
        binding->shape = shape_of_text(asked);
        return 0;
    }
    if (shape_is_static(&binding->shape))
        return 0;
    binding->shape = engine->profiles.items[0].optimum[input];
    string_init(&text);
    dimensions_add(&text, &binding->shape, 'x');
    say('W', "Shape missing for input with dynamic shape: %sAutomatically setting shape to: %s", binding->name,
        text.data);
    string_release(&text);
    return 0;
}

static int set_up(struct inference *inference)
{
    const struct engine *engine = inference->loaded->engine;
    const struct network *network = engine->network;
    struct backend_io *inputs = engine_inputs_new(engine), *outputs = engine_outputs_new(engine);
    struct pairs files = option_pairs("loadInputs"), shapes = option_pairs("shapes");

    inference->count = network->inputs.count + network->outputs.count;
    inference->bindings = memory_alloc_zero(inference->count, sizeof(*inference->bindings));
    for (size_t i = 0; i < inference->count; i++) {
        bool is_input = i < network->inputs.count;
        const struct backend_io *io = is_input ? &inputs[i] : &outputs[i - network->inputs.count];

        inference->bindings[i] =
            (struct binding){.name = io->name, .type = io->type, .shape = io->shape, .is_input = is_input};
        if (is_input && (settle_shape(inference, i, pairs_find(&shapes, io->name)) != 0 ||
                         fill_input(&inference->bindings[i], pairs_find(&files, io->name)) != 0))
            return 1;
        if (is_input)
            say_binding(&inference->bindings[i]);
    }
    return 0;
}

/* ---- Running ---- */

static int run_once(struct inference *inference)
{
    struct tensor_list feed = {0}, outputs = {0};
    struct error err = {0};
    double seconds;
    int rc;

    for (size_t i = 0; i < inference->count; i++)
        if (inference->bindings[i].is_input) {
            struct tensor tensor;
            const struct tensor *values = &inference->bindings[i].values;

            tensor_borrow(values->type, &values->shape, values->data, values->size, &tensor);
            tensor_list_add(&feed, text_of(inference->bindings[i].name), &tensor);
        }
    rc = executor_run(inference->executor, &feed, NULL, &outputs, &seconds, &err);
    tensor_list_release(&feed);
    if (rc < 0) {
        say('E', "[TRT] IExecutionContext::enqueueV3: Error Code 3: API Usage Error (%s)", err.message);
        say('E', "Error occurred during inference");
        return 1;
    }
    for (size_t i = 0; i < inference->count; i++) {
        struct binding *binding = &inference->bindings[i];
        struct named_tensor *made = binding->is_input ? NULL : tensor_list_find(&outputs, text_of(binding->name));

        if (made == NULL)
            continue;
        tensor_release(&binding->values);
        tensor_copy(&made->tensor, &binding->values, &err);
        binding->shape = binding->values.shape;
        binding->type = binding->values.type;
    }
    tensor_list_release(&outputs);
    inference->enqueued++;
    return 0;
}

/* ---- Raw files ---- */

static void add_safe(struct string_builder *text, const char *name)
{
    for (const char *c = name; *c != '\0'; c++)
        string_add_char(text, isalnum((unsigned char)*c) || strchr("._,-", *c) != NULL ? *c : '_');
}

static void dump_raw(const struct binding *binding)
{
    const char *kind = binding->is_input ? "input" : "output";
    struct string_builder name, shape;
    struct error err = {0};

    string_init(&name);
    string_init(&shape);
    dimensions_add(&shape, &binding->shape, '.');
    add_safe(&name, binding->name);
    if (stand_in.version != V8 && name.size > 150) {
        char *tail = memory_strdup(name.data + name.size - 73);

        string_truncate(&name, 74);
        string_add_format(&name, "...%s", tail);
        free(tail);
    }
    string_add_format(&name, ".%s.%s.%s.raw", kind, shape.data, type_word(binding->type));
    say('I', "Writing file for %s binding %s (with datatype %s and dimensions %s) to %s", kind, binding->name,
        type_word(binding->type), shape.data, name.data);
    if (file_write(name.data, binding->values.data, binding->values.size, FILE_INTERMEDIATE, &err) < 0)
        say('E', "%s", err.message);
    string_release(&name);
    string_release(&shape);
}

/* ---- All of it ---- */

int infer(struct loaded_engine *loaded)
{
    struct inference inference = {.loaded = loaded};
    struct error err = {0};
    int status = 0;

    say('I', "Setting persistentCacheLimit to 0 bytes.");
    say('I', "Created execution context with device memory size: 0 MiB");
    if (executor_new(loaded->engine, NULL, &inference.executor, &err) < 0) {
        say('E', "[TRT] %s", err.message);
        say('E', "Inference set up failed");
        return 1;
    }
    status = set_up(&inference);
    if (status == 0)
        status = run_once(&inference);
    for (size_t i = 0; status == 0 && i < inference.count; i++)
        if (!inference.bindings[i].is_input)
            say_binding(&inference.bindings[i]);
    if (status != 0)
        return status;
    say('I', "Starting inference");
    if (given("dumpRawBindingsToFile")) {
        say('I', "Dumping I/O Bindings to RAW Files:");
        for (size_t i = inference.count; i-- > 0;)
            dump_raw(&inference.bindings[i]);
    }
    return 0;
}
