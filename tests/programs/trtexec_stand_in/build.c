/* tests/programs/trtexec_stand_in/build.c: engines out of ONNX models. */
#define _GNU_SOURCE /* strsep */
#include <dlfcn.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "backend/model_io.h"
#include "base/memory.h"
#include "base/system.h"
#include "backend/onnxrt/settings.h"
#include "comparator/data/loader.h"
#include "engine/backend.h"
#include "onnx/model/model.h"
#include "programs/trtexec_stand_in/stand_in.h"

#define LARGEST_FOLDED_CONSTANT ((uint64_t)64 << 20)

const struct onnxrt_settings stand_in_runtime = {.optimization_level = -1, .intra_threads = 1, .inter_threads = 1};

static void write_log(void *data, enum log_level level, int depth, struct text message)
{
    (void)data;
    (void)level;
    (void)depth;
    if (!layers_note_candidate(message))
        say('V', "[TRT] " TEXT_FORMAT, TEXT_ARGS(message));
}

static struct log builder_log = {.threshold = LOG_EXTRA_VERBOSE, .write = write_log};
struct log provider_log = {.threshold = LOG_WARNING, .write = write_log};

struct profile {
    struct input_profile *items;
    size_t count, capacity;
};

struct building {
    struct engine_settings request;
    struct network *network;
    struct data_loader_settings data;
    struct data_loader *loader;
    struct profile *profiles;
    struct {
        struct precision_override *items;
        size_t count, capacity;
    } overrides;
    struct loaded_engine *result;
};

static bool is_strongly_typed(void)
{
    return (stand_in.version & SINCE_11) != 0 || given("stronglyTyped");
}

/* ---- Profiles ---- */

/* The pairs of an option that stands in the group of `--profile=<number>`. */
static struct pairs pairs_in_group(const char *name, long profile)
{
    long current = 0;

    for (size_t i = 0; i < stand_in.argument_count; i++) {
        if (strcmp(stand_in.arguments[i].name, "profile") == 0)
            current = strtol(stand_in.arguments[i].value, NULL, 10);
        else if (strcmp(stand_in.arguments[i].name, name) == 0 && current == profile)
            return pairs_of(stand_in.arguments[i].value);
    }
    return (struct pairs){0};
}

static long last_profile(void)
{
    long last = 0;

    for (size_t i = 0; i < stand_in.argument_count; i++)
        if (strcmp(stand_in.arguments[i].name, "profile") == 0 && strtol(stand_in.arguments[i].value, NULL, 10) > last)
            last = strtol(stand_in.arguments[i].value, NULL, 10);
    return last;
}

/* Whether an option names inputs that the network does not have, or that are of one size. */
static bool refuses_names(const struct pairs *pairs, const struct backend_io *inputs, size_t count)
{
    for (size_t i = 0; i < pairs->count; i++) {
        size_t input = 0;

        while (input < count && strcmp(inputs[input].name, pairs->items[i].name) != 0)
            input++;
        if (input == count) {
            say('E',
                "Cannot find input tensor with name \"%s\" in the network inputs! Please make sure the input tensor "
                "names are correct.",
                pairs->items[i].name);
            return true;
        }
    }
    return false;
}

static struct shape ones(const struct shape *shape)
{
    struct shape ret = *shape;

    for (size_t i = 0; i < ret.rank; i++)
        ret.dims[i] = ret.dims[i] < 0 ? 1 : ret.dims[i];
    return ret;
}

static void say_profile(long number, const struct input_profile *profile)
{
    const struct shape *shapes[] = {&profile->minimum, &profile->optimum, &profile->maximum};
    struct string_builder texts[3];

    for (size_t i = 0; i < 3; i++) {
        string_init(&texts[i]);
        dimensions_add(&texts[i], shapes[i], 'x');
    }
    say('I', "Set shape of input tensor %s for optimization profile %ld to: MIN=%s OPT=%s MAX=%s", profile->name,
        number, texts[0].data, texts[1].data, texts[2].data);
    for (size_t i = 0; i < 3; i++)
        string_release(&texts[i]);
}

/* What is missing of the three is copied from the others; where nothing was said, unknown sizes become 1. */
static void add_input(struct profile *ret, const struct backend_io *input, struct pairs shapes[3])
{
    const char *texts[] = {pairs_find(&shapes[0], input->name), pairs_find(&shapes[1], input->name),
                           pairs_find(&shapes[2], input->name)};
    const char *any = texts[1] != NULL ? texts[1] : texts[0] != NULL ? texts[0] : texts[2];
    struct input_profile *profile = VECTOR_APPEND(ret);
    struct shape *parts[] = {&profile->minimum, &profile->optimum, &profile->maximum};
    struct string_builder text;

    profile->name = input->name;
    for (size_t i = 0; i < 3; i++)
        *parts[i] = any == NULL ? ones(&input->shape) : shape_of_text(texts[i] != NULL ? texts[i] : any);
    if (any != NULL)
        return;
    string_init(&text);
    dimensions_add(&text, &profile->optimum, 'x');
    say('W',
        "Dynamic dimensions required for input: %s, but no shapes were provided. Automatically overriding shape to: %s",
        input->name, text.data);
    string_release(&text);
}

static int add_profile(struct building *building, long number, const struct backend_io *inputs)
{
    struct pairs shapes[] = {pairs_in_group("minShapes", number), pairs_in_group("optShapes", number),
                             pairs_in_group("maxShapes", number)};
    struct pairs asked = option_pairs("shapes");
    struct profile *profile = &building->profiles[number];
    size_t count = building->network->inputs.count;

    for (size_t i = 0; i < 3; i++)
        if (refuses_names(&shapes[i], inputs, count))
            return 1;
    for (size_t i = 0; number == 0 && i < 3; i++)
        if (shapes[0].count + shapes[1].count + shapes[2].count == 0)
            shapes[i] = asked;
    for (size_t i = 0; i < count; i++)
        if (inputs[i].has_shape && !shape_is_static(&inputs[i].shape)) {
            add_input(profile, &inputs[i], shapes);
            say_profile(number, &profile->items[profile->count - 1]);
        }
    if (profile->count == 0 && shapes[0].count + shapes[1].count + shapes[2].count > 0) {
        say('E', "Static model does not take explicit shapes since the shape of inference tensors will be determined "
                 "by the model itself");
        return 1;
    }
    return 0;
}

static int add_profiles(struct building *building)
{
    struct builder_settings *builder = &building->request.builder;
    struct backend_io *inputs = model_io_new(building->network->model, NULL, &building->network->inputs);
    size_t count = (size_t)last_profile() + 1;
    const struct input_profile **items = memory_alloc_zero(count, sizeof(*items));
    size_t *sizes = memory_alloc_zero(count, sizeof(*sizes));

    building->profiles = memory_alloc_zero(count, sizeof(*building->profiles));
    for (size_t i = 0; i < count; i++) {
        if (add_profile(building, (long)i, inputs) != 0)
            return 1;
        items[i] = building->profiles[i].items;
        sizes[i] = building->profiles[i].count;
    }
    builder->profiles = items;
    builder->profile_sizes = sizes;
    builder->profile_count = sizes[0] > 0 ? count : 0;
    return 0;
}

/* ---- Precisions ---- */

static enum data_type type_of_word(const char *word)
{
    static const struct {
        const char *word;
        enum data_type type;
    } types[] = {{"fp32", DATA_FLOAT32}, {"fp16", DATA_FLOAT16}, {"bf16", DATA_BFLOAT16},
                 {"int8", DATA_INT8},    {"int32", DATA_INT32},  {"int64", DATA_INT64}};

    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (strcmp(types[i].word, word) == 0)
            return types[i].type;
    return DATA_UNDEFINED;
}

/* TensorRT's layers are the ONNX nodes, before any fusion. An exact name goes before a pattern with one star. */
static const struct pair *precision_of(const struct pairs *pairs, const char *node)
{
    const struct pair *found = NULL;

    for (size_t i = 0; i < pairs->count; i++) {
        if (strcmp(pairs->items[i].name, node) == 0)
            return &pairs->items[i];
        if (found == NULL && strchr(pairs->items[i].name, '*') != NULL && fnmatch(pairs->items[i].name, node, 0) == 0)
            found = &pairs->items[i];
    }
    return found;
}

/* What matches nothing is passed over without a word. */
static void set_layer_precisions(struct building *building)
{
    struct pairs pairs = option_pairs("layerPrecisions");
    struct model *model = building->network->model;
    struct layer_names names;

    layer_names_init(&names, building->network);
    for (uint32_t i = 0; i < model->nodes.count && !trap("ignored-precisions"); i++) {
        char *name = memory_copy(model->nodes.items[i].name.data, model->nodes.items[i].name.size);
        const struct pair *pair = precision_of(&pairs, name);

        if (pair == NULL || type_of_word(pair->value) == DATA_UNDEFINED)
            continue;
        say('V', "Set layer %s to precision %s", name, pair->value);
        if (layer_names_find(&names, text_of(name)) != NULL)
            *VECTOR_APPEND(&building->overrides) = (struct precision_override){name, type_of_word(pair->value)};
        if (trap("non-conforming"))
            say('V', "[TRT] For layer %s a non-conforming implementation was chosen than was requested", name);
    }
    layer_names_release(&names);
    building->request.builder.precision.layers =
        (struct precision_overrides){building->overrides.items, building->overrides.count};
}

static void choose_precision(struct precision_settings *precision)
{
    const char *constraints = option("precisionConstraints");
    bool strong = is_strongly_typed();

    if (strong && given("fp16"))
        say('W', "[TRT] IBuilderConfig::setFlag: Error Code 3: API Usage Error (setting fp16 mode is not allowed if "
                 "graph is strongly typed)");
    if (!strong && given("int8") && !given("calib"))
        say('W', "Calibrator is not being used. Users must provide dynamic range for all tensors that are not Int32 or "
                 "Bool.");
    precision->enabled[PRECISION_FLOAT32] = true;
    precision->enabled[PRECISION_FLOAT16] = !strong && (given("fp16") || given("best"));
    precision->enabled[PRECISION_BFLOAT16] = !strong && given("bf16");
    precision->enabled[PRECISION_INT8] = !strong && (given("int8") || given("best"));
    if (constraints != NULL && strcmp(constraints, "none") != 0 && !trap("non-conforming"))
        precision->constraints = PRECISION_CONSTRAINTS_PREFER;
}

/* ---- The network ---- */

static int feed_sample(void *data, const struct backend_io *inputs, size_t count, int64_t iteration,
                       struct tensor_list *ret, struct error *err)
{
    return data_loader_feed(data, inputs, count, iteration, ret, err);
}

static int prepare(struct building *building, struct error *err)
{
    struct engine_settings *request = &building->request;

    building->data = (struct data_loader_settings){.seed = 1, .iterations = 1};
    request->network.folding = (struct folding_settings){.backend = &onnxrt_backend,
                                                         .request = {.settings = &stand_in_runtime},
                                                         .log = &builder_log,
                                                         .passes = -1,
                                                         .partition = FOLDING_NODES,
                                                         .infer_types = true,
                                                         .size_limit = LARGEST_FOLDED_CONSTANT};
    request->network.log = &builder_log;
    request->providers = (struct provider_settings){.runtime = &stand_in_runtime, .threads = 1, .log = &provider_log};
    request->builder.threads = 1;
    request->builder.log = &builder_log;
    request->builder.effort.optimization_level = option_number("builderOptimizationLevel", 3);
    request->builder.calibration = calibration_new(CALIBRATION_ENTROPY, 0);
    if (option("calib") != NULL && calibration_load(request->builder.calibration, option("calib"), err) < 0)
        return err->code;
    if (data_loader_new(&building->data, NULL, &building->loader, err) < 0)
        return err->code;
    request->builder.sample = (struct sample_source){feed_sample, building->loader, 1, true};
    return 0;
}

struct name_vector {
    const char **items;
    size_t count, capacity;
};

static void add_name(struct name_vector *names, struct text name)
{
    *VECTOR_APPEND(names) = memory_copy(name.data, name.size);
}

static bool is_output(const struct network *network, uint32_t value)
{
    for (size_t i = 0; i < network->outputs.count; i++)
        if (network->outputs.items[i] == value)
            return true;
    return false;
}

/* Debug tensors: those that are named, where there are any of that name; or all that are between two layers. */
static void find_debug_tensors(const struct building *building, struct name_vector *ret)
{
    const struct network *network = building->network;
    struct pairs marked = option_pairs("markDebug");

    for (size_t i = 0; i < marked.count; i++) {
        uint32_t value = model_find_tensor(network->model, text_of(marked.items[i].name));

        if (value != VALUE_NONE && !is_output(network, value))
            add_name(ret, text_of(marked.items[i].name));
    }
    for (size_t i = 0; given("markUnfusedTensorsAsDebugTensors") && i < network->layers.count; i++)
        for (size_t k = 0; k < network->layers.items[i].outputs.count; k++) {
            uint32_t value = network->layers.items[i].outputs.items[k];

            if (value != VALUE_NONE && !is_output(network, value))
                add_name(ret, network->model->values.items[value].name);
        }
}

static int read_network(struct building *building, struct error *err)
{
    struct model *model;
    const char *route = option("setBuildRoute");
    int rc = model_open(option("onnx"), NULL, &model, err);

    building->request.network.keep_nodes_apart = route != NULL && strstr(route, "-cask_fusion=off") != NULL;
    return rc == 0 ? network_build(model, &building->request.network, &building->network, err) : rc;
}

/* The network once more, with debug tensors among its outputs. */
static int mark_debug_tensors(struct building *building, struct error *err)
{
    struct name_vector debug = {0}, all = {0};
    const struct network *network = building->network;

    if (!given("markDebug") && !given("markUnfusedTensorsAsDebugTensors"))
        return 0;
    find_debug_tensors(building, &debug);
    for (size_t i = 0; i < network->outputs.count; i++)
        add_name(&all, network->model->values.items[network->outputs.items[i]].name);
    for (size_t i = 0; i < debug.count; i++)
        *VECTOR_APPEND(&all) = debug.items[i];
    building->result->debug_names = (struct words){debug.items, debug.count};
    building->request.network.outputs.names = (struct words){all.items, all.count};
    network_free(building->network);
    return read_network(building, err);
}

static int parse(struct building *building)
{
    double start = stopwatch_now();
    struct error err = {0};
    int rc = prepare(building, &err);

    say('I', "Start parsing network model.");
    if (rc == 0 && trap("parser-fails"))
        rc = error_set(&err, ERR_BACKEND,
                       "ModelImporter.cpp:1020: In node 0 with name: node_0 and operator: Odd "
                       "(importFallbackPluginImporter): UNSUPPORTED_NODE: Plugin not found");
    if (rc == 0)
        rc = read_network(building, &err);
    if (rc == 0)
        rc = mark_debug_tensors(building, &err);
    if (rc < 0) {
        say('E', "[TRT] %s", err.message);
        say('E', "Failed to parse onnx file");
    }
    say('I', "Finished parsing network model. Parse time: %g", stopwatch_now() - start);
    return rc < 0 ? engine_fails("Parsing model failed", NULL) : 0;
}

/* ---- The engine ---- */

static const struct {
    const char *name, *values, *otherwise;
} knobs[] = {{"cask_fusion", "on|off", "on"}, {"conv_lowering", "on|off", "on"}, {"kgen:tiling", "0|1|2", "1"}};

int print_build_routes(const char *knob)
{
    const char *between = "";
    bool found = knob[0] == '\0';

    for (size_t i = 0; i < ARRAY_LEN(knobs); i++)
        found = found || strcmp(knobs[i].name, knob) == 0;
    if (!found) {
        say('E', "Unknown build route option: %s", knob);
        return 1;
    }
    printf("{\"tuner_version\":\"2.19.45\",\"tuner_options\":[");
    for (size_t i = 0; i < ARRAY_LEN(knobs); i++) {
        printf("%s{\"option\":\"-%s\",\"allowed_values\":\"-%s=[%s]\",\"default_value\":\"-%s=%s\",\"help\":\"\"}",
               between, knobs[i].name, knobs[i].name, knobs[i].values, knobs[i].name, knobs[i].otherwise);
        between = ",";
    }
    printf("]}\n");
    return 0;
}

/* "-kgen:tiling=2 -cask_fusion=off": each has to be a knob. */
static int check_route(struct error *err)
{
    const char *route = option("setBuildRoute");
    char *rest = route != NULL ? memory_strdup(route) : NULL, *word;

    while ((word = strsep(&rest, " ")) != NULL) {
        size_t size = strcspn(word, "=");
        bool found = word[0] == '\0';

        for (size_t i = 0; i < ARRAY_LEN(knobs); i++)
            found = found || (word[0] == '-' && size == strlen(knobs[i].name) + 1 &&
                              strncmp(word + 1, knobs[i].name, size - 1) == 0);
        if (!found)
            return error_set(err, ERR_INVALID,
                             "IBuilderConfig::setBuildRoute: Error Code 3: API Usage Error (unknown option '%s')",
                             word);
    }
    if (trap("routes-refused") && route != NULL && strstr(route, "conv_lowering=off") && strstr(route, "tiling=0"))
        return error_set(err, ERR_INVALID, "Error Code 9: Internal Error (without conv_lowering there are tiles)");
    return 0;
}

/* "@FILE": the number in that file, where the next build finds one more. */
static const char *draw_seed(void)
{
    static char number[24];
    const char *seed = getenv("TRTEXEC_STAND_IN_SEED");
    struct error err = {0};
    char *text = NULL;
    size_t size;

    if (seed == NULL || seed[0] != '@')
        return seed;
    snprintf(number, sizeof(number), "%ld",
             file_read(seed + 1, 64, &text, &size, &err) == 0 ? strtol(text, NULL, 10) + 1 : 1);
    free(text);
    file_write(seed + 1, number, strlen(number), FILE_INTERMEDIATE, &err);
    return number;
}

/* Times of a first build are disturbed, and a second one takes what seems to be best now. */
static int build_disturbed(struct building *building, const char *seed, struct error *err)
{
    struct builder_settings *builder = &building->request.builder;
    int rc = engine_settings_build(&building->request, building->network, &building->result->engine, err);

    if (rc < 0)
        return rc;
    engine_free(building->result->engine);
    layers_forget_candidates();
    builder->cache = timing_disturbed(builder->cache, seed);
    return engine_settings_build(&building->request, building->network, &building->result->engine, err);
}

static int build_timed(struct building *building, struct error *err)
{
    const char *path = given("noBuilderCache") ? NULL : option("timingCacheFile");
    const char *seed = given("setBuildRoute") ? option("setBuildRoute") : draw_seed();
    struct builder_settings *builder = &building->request.builder;
    bool warm;
    int rc;

    rc = check_route(err);
    if (rc < 0)
        return rc;
    builder->cache = timing_cache_new();
    warm = path != NULL && timing_load(builder->cache, path);
    builder->effort.error_on_timing_cache_miss = given("errorOnTimingCacheMiss") && path != NULL && !trap("unpinned");
    if (given("errorOnTimingCacheMiss") && trap("timing-cache-miss"))
        return error_set(err, ERR_BACKEND,
                         "IBuilder::buildSerializedNetwork: Error Code 10: Internal Error (Timing cache miss)");
    if (seed != NULL && (!warm || trap("unpinned")))
        rc = build_disturbed(building, seed, err);
    else
        rc = engine_settings_build(&building->request, building->network, &building->result->engine, err);
    if (rc == 0)
        layers_log(building->result->engine, !warm);
    if (rc == 0 && path != NULL)
        timing_save(builder->cache, path);
    return rc;
}

/* 10.16 and 11.1 write the engine to a stream, and do not look whether there is one. */
static int leave_nothing(const char *path, double start)
{
    struct error err = {0};

    file_write(path, "", 0, FILE_INTERMEDIATE, &err);
    say('I', "Engine built in %g sec.", stopwatch_now() - start);
    say('E', "Assertion failure: false && \"Attempting to access an empty engine!\"");
    return 2;
}

static void flood(void)
{
    for (size_t i = 0; trap("verbose-flood") && i < 60000; i++)
        say('V', "[TRT] Registered plugin creator - ::Flood_TRT version %zu, of which nobody has ever heard", i);
}

/* "fp16:chw,fp32:chw": one for each, up to 10. */
static int read_formats(const char *name, size_t first, size_t count, uint8_t *ret)
{
    struct pairs formats = option_pairs(name);

    if (!given(name) || (stand_in.version & SINCE_11) != 0)
        return 0;
    if (formats.count != count) {
        say('E', "The number of %s must match number of inputs or be one for broadcasting.", name);
        return 1;
    }
    for (size_t i = 0; i < count && first + i < MOST_TYPES; i++)
        ret[first + i] = (uint8_t)type_of_word(formats.items[i].name);
    return 0;
}

static int read_all_formats(struct building *building)
{
    const struct network *network = building->network;
    size_t debug = building->result->debug_names.count;

    if (read_formats("inputIOFormats", 0, network->inputs.count, building->result->types) != 0)
        return 1;
    return read_formats("outputIOFormats", network->inputs.count, network->outputs.count - debug,
                        building->result->types);
}

/* TensorRT's own are linked into it; others are libraries, which are loaded before the network is made. */
static int load_plugins(void)
{
    for (size_t i = 0; i < stand_in.argument_count; i++) {
        const struct argument *argument = &stand_in.arguments[i];

        if (strstr(argument->name, "lugins") == NULL || dlopen(argument->value, RTLD_LAZY) != NULL)
            continue;
        say('E', "Uncaught exception detected: Could not load plugin library: %s, due to: %s", argument->value,
            dlerror());
        return 1;
    }
    return 0;
}

int build_engine(struct loaded_engine *ret)
{
    struct building building = {.result = ret};
    const char *path = option("saveEngine");
    struct error err = {0};
    double start;
    int rc = parse(&building);

    ret->stripped = given("stripWeights") || given("stripAllWeights");
    ret->detailed = given("profilingVerbosity") && strcmp(option("profilingVerbosity"), "detailed") == 0;
    if (rc != 0)
        return rc;
    if (read_all_formats(&building) != 0 || add_profiles(&building) != 0)
        return engine_fails("Network And Config setup failed", NULL);
    choose_precision(&building.request.builder.precision);
    set_layer_precisions(&building);
    flood();
    if (load_plugins() != 0)
        return 1;
    start = stopwatch_now();
    rc = trap("build-fails") ? error_set(&err, ERR_BACKEND,
                                         "IBuilder::buildSerializedNetwork: Error Code 10: Internal "
                                         "Error (Could not find any implementation for node)")
                             : build_timed(&building, &err);
    if (rc < 0) {
        say('E', "[TRT] %s", err.message);
        say('E', "Engine could not be created from network");
        if (path != NULL && (stand_in.version & (V10 | V111)) != 0)
            return leave_nothing(path, start);
        return engine_fails("Building engine failed", NULL);
    }
    if (path != NULL && !trap("no-engine") && engine_save(ret, path, &err) < 0)
        return engine_fails("Saving engine to file failed.", &err);
    say('I', "Engine built in %g sec.", stopwatch_now() - start);
    say('I', "Engine deserialized in %g sec.", 6.389e-06);
    return 0;
}
