/* tests/tensorrt_stand_in/plan.c: builds, and plans as bytes.
 *
 * A plan begins as TensorRT's do ("ftrt", the builder's version in bytes 24 to 27), and holds one of the built-in
 * engine's.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/model_io.h"
#include "base/file/file.h"
#include "engine/backend.h"
#include "engine/plan/plan.h"
#include "tensorrt_stand_in/engine.h"

/* Of the header, and of what stands behind it: the built-in engine's plan is mapped. */
enum { ALIGNMENT = 64, AT_VERSION = 24, AT_NOTES_SIZE = 32, CANDIDATE_BUILDS = 6 };

#define LARGEST_FOLDED_CONSTANT ((uint64_t)64 << 20)

const struct onnxrt_settings stand_in_runtime = {.optimization_level = -1, .intra_threads = 1, .inter_threads = 1};

struct override_list {
    struct precision_override *items;
    size_t count, capacity;
};

struct input_profiles {
    struct input_profile *items;
    size_t count, capacity;
};

struct building {
    struct stand_in_network *network;
    struct stand_in_config *config;
    struct engine_settings request;
    struct network *compiled;
    struct engine *engine;
    struct plan_notes notes;
    struct override_list layers, tensors;
    struct input_profiles *profiles;
    size_t *profile_sizes;
    const struct input_profile **profile_items;
    struct word_list outputs;
    struct layer_choices *choices;
    struct tactic_replay replay;
    struct calibration_batches batches; /* of the program's calibrator */
    bool is_cancelled;
};

static void log_line(void *data, enum log_level level, int depth, struct text message)
{
    (void)data;
    (void)depth;
    report(level >= LOG_WARNING ? SEVERITY_WARNING : SEVERITY_VERBOSE, TEXT_FORMAT, TEXT_ARGS(message));
}

static struct log builder_log = {.threshold = LOG_EXTRA_VERBOSE, .write = log_line};

/* The values that the first profile has for an input of sizes; NULL: none. */
static const struct profile_entry *find_values(const struct stand_in_config *config, const char *name)
{
    const struct stand_in_profile *profile = config->profiles.count > 0 ? config->profiles.items[0] : NULL;

    for (size_t i = 0; profile != NULL && i < profile->entries.count; i++)
        if (profile->entries.items[i].has_values && strcmp(profile->entries.items[i].name, name) == 0)
            return &profile->entries.items[i];
    return NULL;
}

static void fill_sample(const struct profile_entry *values, struct tensor *tensor)
{
    size_t count = tensor_elements(tensor);
    uint8_t *data = tensor_writable(tensor);

    memset(data, 0, tensor->size);
    for (size_t i = 0; i < count; i++) {
        int64_t value = values != NULL && i < values->value_count ? values->values[PROFILE_OPTIMUM][i] : 1;

        if (tensor->type == DATA_INT64)
            ((int64_t *)(void *)data)[i] = value;
        else if (tensor->type == DATA_INT32)
            ((int32_t *)(void *)data)[i] = (int32_t)value;
    }
}

/* What the builder runs layers on: zeros, ones, and sizes out of profiles. */
static int feed_sample(void *data, const struct backend_io *inputs, size_t count, int64_t iteration,
                       struct tensor_list *ret, struct error *err)
{
    const struct building *building = data;
    const struct calibration_batches *batches = &building->batches;

    for (size_t i = 0; i < count; i++) {
        const struct named_tensor *given =
            batches->count > 0 ? tensor_list_find(&batches->items[iteration], text_of(inputs[i].name)) : NULL;
        struct shape shape = inputs[i].shape;
        struct tensor tensor;

        for (size_t k = 0; k < shape.rank; k++)
            shape.dims[k] = shape.dims[k] < 0 ? 1 : shape.dims[k];
        if (tensor_allocate(inputs[i].type, given != NULL ? &given->tensor.shape : &shape, &tensor, err) < 0)
            return err->code;
        if (given != NULL)
            memcpy(tensor_writable(&tensor), given->tensor.data, tensor.size);
        else
            fill_sample(find_values(building->config, inputs[i].name), &tensor);
        tensor_list_add(ret, text_of(inputs[i].name), &tensor);
    }
    return 0;
}

/* ---- Settings ---- */

static void note_progress(void *context, const char *layer, size_t done, size_t all)
{
    struct building *building = context;
    void *monitor = building->config->monitor;
    struct method_slot step = method_of_program(monitor, "IProgressMonitor", "stepComplete");

    (void)all;
    if (step.call != NULL && layer != NULL &&
        !((bool (*)(void *, const char *, int32_t))step.call)(monitor, "Building Engine", (int32_t)done))
        building->is_cancelled = true;
}

static void set_basics(struct building *building)
{
    struct engine_settings *request = &building->request;

    request->network.folding = (struct folding_settings){.backend = &onnxrt_backend,
                                                         .request = {.settings = &stand_in_runtime},
                                                         .log = &builder_log,
                                                         .passes = -1,
                                                         .partition = FOLDING_NODES,
                                                         .infer_types = true,
                                                         .size_limit = LARGEST_FOLDED_CONSTANT};
    request->network.log = &builder_log;
    request->network.keep_nodes_apart = strstr(building->config->build_route, "-cask_fusion=off") != NULL;
    request->providers = (struct provider_settings){.runtime = &stand_in_runtime, .threads = 1, .log = &builder_log};
    request->builder.threads = 1;
    request->builder.log = &builder_log;
    request->builder.effort.optimization_level = 3;
    request->builder.deterministic = true;
    request->builder.progress = note_progress;
    request->builder.progress_context = building;
    request->builder.calibration = calibration_new(CALIBRATION_ENTROPY, 0);
    request->builder.sample = (struct sample_source){feed_sample, building, 1, true};
}

static void set_precision(struct building *building)
{
    struct precision_settings *precision = &building->request.builder.precision;
    const struct stand_in_config *config = building->config;
    bool strong = network_is_strongly_typed(building->network);
    bool constrained = config_has_flag(config, "kOBEY_PRECISION_CONSTRAINTS") ||
                       config_has_flag(config, "kPREFER_PRECISION_CONSTRAINTS");

    precision->enabled[PRECISION_FLOAT32] = true;
    precision->enabled[PRECISION_FLOAT16] = !strong && config_has_flag(config, "kFP16");
    precision->enabled[PRECISION_BFLOAT16] = !strong && config_has_flag(config, "kBF16");
    precision->enabled[PRECISION_INT8] = !strong && config_has_flag(config, "kINT8") && config->calibrator != NULL;
    if (!constrained)
        return;
    precision->constraints = PRECISION_CONSTRAINTS_PREFER;
    for (size_t i = 0; i < building->network->layers.count; i++) {
        const struct stand_in_layer *layer = building->network->layers.items[i];
        char *node = node_layer_name(building->network->model, layer->node);

        if (layer->precision == DATA_UNDEFINED)
            continue;
        if (has_fault("non-conforming"))
            report(SEVERITY_VERBOSE, "For layer %s a non-conforming implementation was chosen than was requested",
                   layer->name);
        else
            *VECTOR_APPEND(&building->layers) = (struct precision_override){node, layer->precision};
    }
    precision->layers = (struct precision_overrides){building->layers.items, building->layers.count};
}

static void set_outputs(struct building *building)
{
    struct stand_in_network *network = building->network;
    const struct model *model = network->model;

    for (size_t i = 0; i < network->outputs.count; i++) {
        struct text name = model->values.items[network->outputs.items[i]->value].name;

        *VECTOR_APPEND(&building->outputs) = memory_copy(name.data, name.size);
    }
    for (uint32_t i = 0; i < model->values.count; i++)
        if (network->tensors[i] != NULL && network->tensors[i]->is_debug && !network->tensors[i]->is_output) {
            const char *name = memory_copy(model->values.items[i].name.data, model->values.items[i].name.size);

            *VECTOR_APPEND(&building->outputs) = name;
            *VECTOR_APPEND(&building->notes.debug_names) = name;
        }
    building->request.network.outputs.names = (struct words){building->outputs.items, building->outputs.count};
}

static void note_types(struct building *building, const struct tensor_objects *tensors)
{
    for (size_t i = 0; i < tensors->count; i++)
        if (tensors->items[i]->has_type) {
            *VECTOR_APPEND(&building->notes.typed_names) = tensors->items[i]->name;
            *VECTOR_APPEND(&building->notes.types) = (int32_t)tensors->items[i]->type;
        }
}

static void note_flags(struct building *building)
{
    const struct stand_in_config *config = building->config;
    struct plan_notes *notes = &building->notes;

    notes->name = building->network->name;
    notes->is_detailed = config->numbers[CONFIG_VERBOSITY] == enum_value("ProfilingVerbosity", "kDETAILED");
    notes->is_stripped = config_has_flag(config, "kSTRIP_PLAN");
    notes->is_refittable = notes->is_stripped || config_has_flag(config, "kREFIT");
    notes->is_version_compatible = config_has_flag(config, "kVERSION_COMPATIBLE");
    notes->streams_weights = config_has_flag(config, "kWEIGHT_STREAMING");
    notes->unfused_are_debug = building->network->unfused_are_debug;
    note_types(building, &building->network->inputs);
    note_types(building, &building->network->outputs);
}

static bool set_profiles(struct building *building)
{
    struct builder_settings *builder = &building->request.builder;
    size_t count = building->config->profiles.count;

    for (size_t i = 0; count == 0 && i < building->network->inputs.count; i++)
        if (!shape_is_static(&building->network->inputs.items[i]->shape)) {
            report_error("kINVALID_CONFIG",
                         "Error Code 4: API Usage Error (Network has dynamic or shape inputs, but no "
                         "optimization profile has been defined.)");
            return false;
        }
    building->profiles = memory_alloc_zero(count + 1, sizeof(*building->profiles));
    building->profile_items = memory_alloc_zero(count + 1, sizeof(*building->profile_items));
    building->profile_sizes = memory_alloc_zero(count + 1, sizeof(*building->profile_sizes));
    for (size_t i = 0; i < count; i++) {
        const struct stand_in_profile *profile = building->config->profiles.items[i];

        for (size_t k = 0; k < profile->entries.count; k++) {
            const struct profile_entry *entry = &profile->entries.items[k];

            if (entry->given[PROFILE_OPTIMUM])
                *VECTOR_APPEND(&building->profiles[i]) =
                    (struct input_profile){entry->name, entry->shapes[PROFILE_MINIMUM], entry->shapes[PROFILE_OPTIMUM],
                                           entry->shapes[PROFILE_MAXIMUM]};
        }
        building->profile_items[i] = building->profiles[i].items;
        building->profile_sizes[i] = building->profiles[i].count;
    }
    builder->profiles = building->profile_items;
    builder->profile_sizes = building->profile_sizes;
    builder->profile_count = building->profile_sizes[0] > 0 ? count : 0;
    return true;
}

/* ---- Tactics ---- */

static void note_choices(struct building *building)
{
    const struct engine *engine = building->engine;

    for (size_t i = 0; i < engine->network->layers.count; i++) {
        struct layer_choices *choices = &building->choices[i];
        const struct tactic *tactic = &engine->layers[i].tactic;
        size_t k = 0;

        while (k < choices->tactics.count && (choices->tactics.items[k].implementation != tactic->implementation ||
                                              choices->tactics.items[k].number != tactic->number))
            k++;
        if (k == choices->tactics.count)
            tactic_copy(VECTOR_APPEND(&choices->tactics), tactic, &engine->network->layers.items[i]);
    }
}

static int build_once(struct building *building, struct error *err)
{
    engine_free(building->engine);
    building->engine = NULL;
    return engine_settings_build(&building->request, building->compiled, &building->engine, err);
}

static void explore(struct building *building, uint64_t seed)
{
    struct builder_settings *builder = &building->request.builder;

    builder->deterministic = false;
    builder->explore = true;
    builder->explore_within = 1e6;
    builder->seed = seed;
}

static int find_choices(struct building *building, struct error *err)
{
    int rc;

    building->choices = memory_alloc_zero(building->compiled->layers.count, sizeof(*building->choices));
    rc = build_once(building, err);
    for (uint64_t seed = 0; rc == 0 && seed < CANDIDATE_BUILDS; seed++) {
        note_choices(building);
        explore(building, seed);
        rc = build_once(building, err);
    }
    return rc;
}

/* Timing caches say which tactic it was. False: a layer is missing, and that is an error. */
static bool apply_cache(struct building *building)
{
    const struct stand_in_timing_cache *cache = building->config->timing_cache;

    for (size_t i = 0; cache != NULL && i < building->compiled->layers.count; i++) {
        const char *layer = building->compiled->layers.items[i].name;
        struct layer_choices *choices = &building->choices[i];
        struct timing_key key = timing_key_of(layer);
        const struct timing_entry *entry = timing_entry_find(cache, &key);

        if (entry == NULL && config_has_flag(building->config, "kERROR_ON_TIMING_CACHE_MISS")) {
            report_error("kINVALID_STATE",
                         "IBuilder::buildSerializedNetwork: Error Code 10: Internal Error (timing cache miss for %s)",
                         layer);
            return false;
        }
        for (size_t k = 0; entry != NULL && k < choices->tactics.count; k++)
            if ((uint64_t)choices->tactics.items[k].number == entry->value.tactic)
                choices->chosen = k;
    }
    return true;
}

static void draw_choices(struct building *building)
{
    const char *seed = draw_seed();

    for (size_t i = 0; seed != NULL && i < building->compiled->layers.count; i++) {
        struct layer_choices *choices = &building->choices[i];
        SCOPED_STRING(text);

        string_add_format(&text, "%s %s", seed, building->compiled->layers.items[i].name);
        choices->chosen = (size_t)(hash_bytes(text.data, text.size).low >> 8) % choices->tactics.count;
    }
}

static void make_replay(struct building *building)
{
    tactic_replay_init(&building->replay);
    for (size_t i = 0; i < building->compiled->layers.count; i++) {
        const struct layer_choices *choices = &building->choices[i];
        const struct tactic *tactic = &choices->tactics.items[choices->chosen];
        struct tactic_algorithm *algorithm =
            tactic_replay_set(&building->replay, building->compiled->layers.items[i].name);

        algorithm->implementation = tactic->implementation;
        algorithm->tactic = tactic->number;
        if (building->config->timing_cache != NULL && !config_has_flag(building->config, "kDISABLE_TIMING_CACHE"))
            timing_entry_set(building->config->timing_cache, building->compiled->layers.items[i].name,
                             tactic->implementation, tactic->number);
    }
    building->request.builder.replay = &building->replay;
}

static int build_chosen(struct building *building, struct error *err)
{
    void *selector = has_fault("unpinned") ? NULL : building->config->selector;
    int rc;

    if (building->config->selector == NULL && building->config->timing_cache == NULL &&
        getenv("TENSORRT_STAND_IN_SEED") == NULL)
        return build_once(building, err);
    rc = find_choices(building, err);
    if (rc < 0)
        return rc;
    draw_choices(building);
    if (!has_fault("unpinned") && !apply_cache(building))
        return ERR_BACKEND;
    if (selector != NULL && !select_tactics(selector, building->engine, building->choices))
        return ERR_BACKEND;
    make_replay(building);
    building->request.builder.explore = false;
    building->request.builder.deterministic = true;
    rc = build_once(building, err);
    if (rc == 0 && building->config->selector != NULL)
        report_tactics(building->config->selector, building->engine, building->choices);
    return rc;
}

/* ---- Bytes ---- */

static void add_note(struct string_builder *notes, const char *key, const char *value)
{
    string_add_format(notes, "%s\t%s\n", key, value);
}

static void write_notes(const struct plan_notes *notes, struct string_builder *ret)
{
    const struct {
        const char *key;
        bool set;
    } flags[] = {{"detailed", notes->is_detailed},     {"stripped", notes->is_stripped},
                 {"refittable", notes->is_refittable}, {"compatible", notes->is_version_compatible},
                 {"streams", notes->streams_weights},  {"unfused", notes->unfused_are_debug}};

    add_note(ret, "name", notes->name);
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (flags[i].set)
            add_note(ret, flags[i].key, "");
    for (size_t i = 0; i < notes->debug_names.count; i++)
        add_note(ret, "debug", notes->debug_names.items[i]);
    for (size_t i = 0; i < notes->types.count; i++) {
        char key[16];

        snprintf(key, sizeof(key), "type%d", notes->types.items[i]);
        add_note(ret, key, notes->typed_names.items[i]);
    }
    while (ret->size % ALIGNMENT != 0)
        string_add_char(ret, '\n');
}

int plan_write(const struct engine *engine, const struct plan_notes *notes, struct string_builder *ret,
               struct error *err)
{
    const struct release *release = release_get();
    uint8_t header[ALIGNMENT] = {0};
    char *beside = file_join(getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp", "tensorrt_stand_in.plan");
    char *path = file_temporary_name(beside), *data = NULL;
    SCOPED_STRING(text);
    size_t size = 0;
    int rc = plan_save(engine, path, err);

    if (rc == 0)
        rc = file_read(path, SIZE_MAX, &data, &size, err);
    unlink(path);
    free(path);
    free(beside);
    if (rc < 0)
        return rc;
    write_notes(notes, &text);
    memcpy(header, release->is_rtx ? "vtrt" : "ftrt", 4);
    header[AT_VERSION] = (uint8_t)(release->number / 100);
    header[AT_VERSION + 1] = (uint8_t)(release->number % 100);
    header[AT_VERSION + 2] = (uint8_t)release->patch;
    memcpy(header + AT_NOTES_SIZE, &text.size, sizeof(text.size));
    string_add_bytes(ret, header, sizeof(header));
    string_add_bytes(ret, text.data, text.size);
    string_add_bytes(ret, data, size);
    free(data);
    return 0;
}

static void read_note(const char *key, const char *value, struct plan_notes *ret)
{
    struct {
        const char *key;
        bool *flag;
    } flags[] = {{"detailed", &ret->is_detailed},     {"stripped", &ret->is_stripped},
                 {"refittable", &ret->is_refittable}, {"compatible", &ret->is_version_compatible},
                 {"streams", &ret->streams_weights},  {"unfused", &ret->unfused_are_debug}};

    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (strcmp(key, flags[i].key) == 0)
            *flags[i].flag = true;
    if (strcmp(key, "name") == 0)
        ret->name = memory_strdup(value);
    else if (strcmp(key, "debug") == 0)
        *VECTOR_APPEND(&ret->debug_names) = memory_strdup(value);
    else if (strncmp(key, "type", 4) == 0) {
        *VECTOR_APPEND(&ret->typed_names) = memory_strdup(value);
        *VECTOR_APPEND(&ret->types) = (int32_t)strtol(key + 4, NULL, 10);
    }
}

static void read_notes(const char *text, size_t size, struct plan_notes *ret)
{
    char *copy = memory_copy(text, size);

    *ret = (struct plan_notes){0};
    for (char *line = copy; *line != '\0';) {
        char *end = line + strcspn(line, "\n"), *tab = memchr(line, '\t', (size_t)(end - line));
        bool last = *end == '\0';

        *end = '\0';
        if (tab != NULL) {
            *tab = '\0';
            read_note(line, tab + 1, ret);
        }
        line = last ? end : end + 1;
    }
    free(copy);
}

int plan_read(struct span bytes, bool host_code_allowed, struct plan_notes *ret_notes, struct engine **ret,
              struct error *err)
{
    struct provider_settings providers = {.runtime = &stand_in_runtime, .threads = 1, .log = &builder_log};
    const struct release *release = release_get();
    uint64_t size = 0;
    bool same;

    if (bytes.size > ALIGNMENT)
        memcpy(&size, bytes.data + AT_NOTES_SIZE, sizeof(size));
    if (bytes.size <= ALIGNMENT || memcmp(bytes.data, release->is_rtx ? "vtrt" : "ftrt", 4) != 0 ||
        size > bytes.size - ALIGNMENT)
        return error_set(err, ERR_CORRUPT,
                         "IRuntime::deserializeCudaEngine: Error Code 1: Serialization (Serialization assertion "
                         "header.magicTag == kMAGIC_TAG failed.)");
    read_notes((const char *)bytes.data + ALIGNMENT, size, ret_notes);
    same = bytes.data[AT_VERSION] == release->number / 100 && bytes.data[AT_VERSION + 1] == release->number % 100;
    if (!same && !(ret_notes->is_version_compatible && host_code_allowed))
        return error_set(err, ERR_CORRUPT,
                         "IRuntime::deserializeCudaEngine: Error Code 1: Serialization (Serialization assertion "
                         "stdVersionRead == kSERIALIZATION_VERSION failed.Version tag does not match)");
    if (ret_notes->is_version_compatible && !host_code_allowed)
        return error_set(
            err, ERR_CORRUPT,
            "IRuntime::deserializeCudaEngine: Error Code 4: API Usage Error (engines with host code are not "
            "allowed: call setEngineHostCodeAllowed(true))");
    return plan_parse((struct span){bytes.data + ALIGNMENT + size, bytes.size - ALIGNMENT - size}, "the plan",
                      &providers, ret, err);
}

/* ---- Builds ---- */

static int read_network(struct building *building, struct error *err)
{
    struct model *model;
    int rc = model_parse((struct span){(const uint8_t *)building->network->bytes, building->network->size}, "model",
                         &model, err);

    if (rc < 0)
        return rc;
    free(model->folder);
    model->folder = memory_strdup(building->network->folder);
    return network_build(model, &building->request.network, &building->compiled, err);
}

static bool is_named(const struct word_list *words, struct text name)
{
    bool found = false;

    for (size_t i = 0; i < words->count; i++)
        found = found || text_equal_string(name, words->items[i]);
    return found;
}

/* All that lies between two layers, as the builder has just formed them, becomes a debug tensor. */
static void mark_unfused(struct building *building)
{
    const struct network *network = building->compiled;

    for (size_t i = 0; i < network->layers.count; i++)
        for (size_t k = 0; k < network->layers.items[i].outputs.count; k++) {
            uint32_t value = network->layers.items[i].outputs.items[k];
            struct text name = value != VALUE_NONE ? network->model->values.items[value].name : (struct text){NULL, 0};

            if (name.size > 0 && !is_named(&building->outputs, name)) {
                *VECTOR_APPEND(&building->outputs) = memory_copy(name.data, name.size);
                *VECTOR_APPEND(&building->notes.debug_names) = memory_copy(name.data, name.size);
            }
        }
    building->request.network.outputs.names = (struct words){building->outputs.items, building->outputs.count};
}

static int compile_network(struct building *building, struct error *err)
{
    int rc = read_network(building, err);

    if (rc < 0 || !building->network->unfused_are_debug)
        return rc;
    mark_unfused(building);
    network_free(building->compiled);
    building->compiled = NULL;
    return read_network(building, err);
}

static void call_monitor(struct building *building, bool starts)
{
    void *monitor = building->config->monitor;
    struct method_slot method = method_of_program(monitor, "IProgressMonitor", starts ? "phaseStart" : "phaseFinish");

    if (method.call == NULL)
        return;
    if (starts)
        ((void (*)(void *, const char *, const char *, int32_t))method.call)(monitor, "Building Engine", NULL,
                                                                             (int32_t)building->compiled->layers.count);
    else
        ((void (*)(void *, const char *))method.call)(monitor, "Building Engine");
}

/* A build that ends only when the progress monitor says so, which is recorded. */
static void build_for_ever(struct building *building)
{
    record_line("endless");
    while (!building->is_cancelled) {
        poll(NULL, 0, 10);
        note_progress(building, "layer", 0, 1);
    }
    record_line("cancelled");
}

/* What ends a build before anything is timed. */
static bool build_is_doomed(void)
{
    if (has_fault("build-fails"))
        report_error("kUNSUPPORTED_STATE", "IBuilder::buildSerializedNetwork: Error Code 10: Internal Error (Could not "
                                           "find any implementation for node)");
    else if (has_fault("build-assertion"))
        report_error("kINTERNAL_ERROR", "IBuilder::buildSerializedNetwork: Error Code 2: Internal Error (Assertion "
                                        "false failed. )");
    else if (has_fault("out-of-memory"))
        report_error("kFAILED_ALLOCATION",
                     "IBuilder::buildSerializedNetwork: Error Code 2: OutOfMemory (Requested size "
                     "was 1073741824 bytes.)");
    else
        return false;
    return true;
}

bool plan_build(struct stand_in_network *network, struct stand_in_config *config, struct string_builder *ret)
{
    struct building building = {.network = network, .config = config};
    struct error err = {0};
    int rc;

    record_build(network, config);
    end_at_stage("build");
    if (network->model == NULL || build_is_doomed())
        return false;
    set_basics(&building);
    set_precision(&building);
    set_outputs(&building);
    note_flags(&building);
    read_calibration(config, network, building.request.builder.calibration, &building.batches);
    if (building.batches.count > 0)
        building.request.builder.sample =
            (struct sample_source){feed_sample, &building, (int64_t)building.batches.count, false};
    if (!set_profiles(&building))
        return false;
    rc = compile_network(&building, &err);
    if (rc == 0) {
        call_monitor(&building, true);
        if (has_fault("endless-build"))
            build_for_ever(&building);
        else
            rc = build_chosen(&building, &err);
        call_monitor(&building, false);
    }
    if (rc == 0 && building.is_cancelled)
        rc = error_set(&err, ERR_INTERRUPTED, "the progress monitor ended the build");
    if (rc == 0 && building.batches.count > 0)
        write_calibration(config, building.request.builder.calibration);
    if (rc == 0)
        rc = plan_write(building.engine, &building.notes, ret, &err);
    if (rc < 0)
        report_error("kUNSUPPORTED_STATE", "IBuilder::buildSerializedNetwork: Error Code 10: Internal Error (%s)",
                     err.message);
    engine_free(building.engine);
    network_free(building.compiled);
    return rc == 0;
}
