/* tests/programs/trtexec_stand_in/build.c: engines out of ONNX models, and engine files. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/backend.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "base/system.h"
#include "comparator/data/loader.h"
#include "engine/backend.h"
#include "engine/plan/plan.h"
#include "programs/trtexec_stand_in/stand_in.h"

/* A plan begins at a multiple of this, for it is mapped. */
#define HEADER_SIZE 64

enum { AT_VERSION = 24, AT_NOTES_SIZE = 32, AT_DETAILED = 40 };

static const struct backend_request runtime = {.optimization_level = -1, .intra_threads = 1, .inter_threads = 1};

/* What goes on between the lines: verbose for those who look for it. */
static void write_log(void *data, enum log_level level, int depth, struct text message)
{
    (void)data;
    (void)depth;
    say(level >= LOG_WARNING ? 'W' : 'V', "[TRT] " TEXT_FORMAT, TEXT_ARGS(message));
}

static struct log builder_log = {.threshold = LOG_EXTRA_VERBOSE, .write = write_log};

static int fail(const char *stage, const struct error *err)
{
    if (err != NULL)
        say('E', "[TRT] %s", err->message);
    say('E', "%s", stage);
    say('E', "Failed to create engine from model or file.");
    say('E', "Engine set up failed");
    return 1;
}

/* ---- Engine files ---- */

static int save(const struct engine *engine, const struct words *debug_names, const char *path, struct error *err)
{
    struct string_builder notes;
    char *plan = file_temporary_name(path), *bytes = NULL;
    uint8_t header[HEADER_SIZE] = "ftrt";
    struct file_writer writer = {0};
    size_t size = 0;
    int rc = plan_save(engine, plan, err);

    string_init(&notes);
    for (size_t i = 0; i < debug_names->count; i++)
        string_add_bytes(&notes, debug_names->items[i], strlen(debug_names->items[i]) + 1);
    while (notes.size % HEADER_SIZE != 0)
        string_add_char(&notes, '\0');
    memcpy(header + AT_VERSION, stand_in.numbers, 4);
    memcpy(header + AT_NOTES_SIZE, &notes.size, sizeof(notes.size));
    header[AT_DETAILED] = option("profilingVerbosity") != NULL && strcmp(option("profilingVerbosity"), "detailed") == 0;
    if (rc == 0)
        rc = file_read(plan, SIZE_MAX, &bytes, &size, err);
    if (rc == 0)
        rc = file_writer_open(&writer, path, err);
    if (rc == 0) {
        file_writer_add(&writer, header, sizeof(header), err);
        file_writer_add(&writer, notes.data, notes.size, err);
        file_writer_add(&writer, bytes, size, err);
        rc = file_writer_commit(&writer, FILE_INTERMEDIATE, err);
    }
    say('I', "Created engine with size: %g MiB", (double)(size + sizeof(header)) / (1 << 20));
    unlink(plan);
    free(bytes);
    free(plan);
    string_release(&notes);
    return rc;
}

int load_engine(const char *path, struct loaded_engine *ret)
{
    struct provider_settings providers = {.request = runtime, .threads = 1, .log = &builder_log};
    double start = stopwatch_now();
    struct error err = {0};
    uint64_t notes_size = 0;
    int rc = file_map_open(path, &ret->map, &err);

    if (rc < 0) {
        say('E', "Error opening engine file: %s", path);
        return fail("Engine deserialization failed", NULL);
    }
    if (ret->map.size == 0) {
        say('E', "Assertion failure: false && \"Attempting to access an empty engine!\"");
        exit(1);
    }
    if (ret->map.size > HEADER_SIZE && memcmp(ret->map.data, "ftrt", 4) == 0 &&
        memcmp(ret->map.data + AT_VERSION, stand_in.numbers, 2) == 0)
        memcpy(&notes_size, ret->map.data + AT_NOTES_SIZE, sizeof(notes_size));
    else
        rc = error_set(&err, ERR_CORRUPT,
                       "IRuntime::deserializeCudaEngine: Error Code 1: Serialization (Serialization "
                       "assertion stdVersionRead == kSERIALIZATION_VERSION failed.)");
    if (rc == 0 && notes_size > ret->map.size - HEADER_SIZE)
        rc = error_set(&err, ERR_CORRUPT, "IRuntime::deserializeCudaEngine: Error Code 1: Serialization");
    if (rc == 0)
        rc = plan_parse(
            (struct span){ret->map.data + HEADER_SIZE + notes_size, ret->map.size - HEADER_SIZE - notes_size}, path,
            &providers, &ret->engine, &err);
    if (rc < 0) {
        say('E', "[TRT] %s", err.message);
        if (given("skipInference")) {
            say('E', "Engine deserialization failed");
            return 0;
        }
        return fail("Engine deserialization failed", NULL);
    }
    ret->detailed = ret->map.data[AT_DETAILED] != 0;
    for (const char *name = (const char *)ret->map.data + HEADER_SIZE, *end = name + notes_size;
         name < end && *name != '\0'; name += strlen(name) + 1) {
        const char **names =
            memory_resize((void *)(uintptr_t)ret->debug_names.items, ret->debug_names.count + 1, sizeof(*names));

        names[ret->debug_names.count++] = name;
        ret->debug_names.items = names;
    }
    say('I', "Engine deserialized in %g sec.", stopwatch_now() - start);
    return 0;
}

/* ---- Building ---- */

struct building {
    struct engine_request request;
    struct data_loader *loader;
    struct data_loader_settings data;
    struct pairs least, best, most;
    struct words debug_names;
};

static int feed_sample(void *data, const struct backend_io *inputs, size_t count, int64_t iteration,
                       struct tensor_list *ret, struct error *err)
{
    return data_loader_feed(data, inputs, count, iteration, ret, err);
}

static void choose_precision(struct precision_settings *precision)
{
    bool strong = (stand_in.version & SINCE_11) != 0 || given("stronglyTyped");
    const char *constraints = option("precisionConstraints");

    precision->enabled[PRECISION_FLOAT32] = true;
    precision->enabled[PRECISION_FLOAT16] = !strong && (given("fp16") || given("best"));
    precision->enabled[PRECISION_BFLOAT16] = !strong && given("bf16");
    precision->enabled[PRECISION_INT8] = !strong && (given("int8") || given("best"));
    if (constraints != NULL && strcmp(constraints, "none") != 0)
        precision->constraints =
            strcmp(constraints, "obey") == 0 ? PRECISION_CONSTRAINTS_OBEY : PRECISION_CONSTRAINTS_PREFER;
}

static int prepare(struct building *building, struct error *err)
{
    struct engine_request *request = &building->request;

    building->data = (struct data_loader_settings){.seed = 1, .iterations = 1};
    request->network.folding = (struct folding_settings){.backend = &onnxrt_backend,
                                                         .request = runtime,
                                                         .log = &builder_log,
                                                         .passes = -1,
                                                         .partition = FOLDING_NODES,
                                                         .infer_types = true,
                                                         .size_limit = (uint64_t)64 << 20};
    request->network.log = &builder_log;
    request->providers = (struct provider_settings){.request = runtime, .threads = 1, .log = &builder_log};
    request->builder.threads = 1;
    request->builder.log = &builder_log;
    request->builder.optimization_level = option_number("builderOptimizationLevel", 3);
    choose_precision(&request->builder.precision);
    if (data_loader_new(&building->data, &builder_log, &building->loader, err) < 0)
        return err->code;
    request->builder.sample = (struct sample_source){feed_sample, building->loader, 1, true};
    return 0;
}

static int parse(struct building *building, struct network **ret, struct error *err)
{
    double start = stopwatch_now();
    struct model *model;
    int rc;

    say('I', "Start parsing network model.");
    rc = model_open(option("onnx"), NULL, &model, err);
    if (rc < 0)
        return rc;
    rc = network_build(model, &building->request.network, ret, err);
    if (rc == 0)
        say('I', "Finished parsing network model. Parse time: %g", stopwatch_now() - start);
    return rc;
}

int build_engine(struct loaded_engine *ret)
{
    struct building building = {0};
    struct network *network = NULL;
    struct error err = {0};
    double start = stopwatch_now();
    int rc = prepare(&building, &err);

    if (rc == 0)
        rc = parse(&building, &network, &err);
    if (rc < 0) {
        say('E', "[TRT] %s", err.message);
        say('E', "Failed to parse onnx file");
        say('I', "Finished parsing network model. Parse time: %g", stopwatch_now() - start);
        say('E', "Parsing model failed");
        return fail("Failed to create engine from model or file.", NULL);
    }
    start = stopwatch_now();
    rc = engine_request_build(&building.request, network, &ret->engine, &err);
    if (rc < 0) {
        say('E', "Engine could not be created from network");
        return fail("Building engine failed", &err);
    }
    if (option("saveEngine") != NULL && save(ret->engine, &building.debug_names, option("saveEngine"), &err) < 0)
        return fail("Saving engine to file failed.", &err);
    say('I', "Engine built in %g sec.", stopwatch_now() - start);
    ret->detailed = option("profilingVerbosity") != NULL && strcmp(option("profilingVerbosity"), "detailed") == 0;
    ret->debug_names = building.debug_names;
    say('I', "Engine deserialized in %g sec.", 6.389e-06);
    return 0;
}
