/* backend/tensorrt/worker.c: see worker.h. */
#include "backend/tensorrt/worker.h"

#include <stdlib.h>
#include <string.h>

#include "backend/tensorrt/config.h"
#include "backend/tensorrt/cuda.h"
#include "backend/tensorrt/engine.h"
#include "backend/tensorrt/interfaces.h"
#include "backend/tensorrt/support.h"
#include "backend/tensorrt/tactics.h"
#include "base/file/file.h"
#include "base/memory.h"

static void *last_plan; /* IHostMemory of the last build */

/* Calibration data of the next build, which refer to the question that brought them. */
static struct {
    struct tensorrt_samples samples;
    struct bounded_bytes bytes;
} offered;

static struct span plan_bytes(void *memory)
{
    return (struct span){TENSORRT_GET(VHostMemory, data, memory), TENSORRT_GET(VHostMemory, size, memory)};
}

static struct text as_text(struct span span)
{
    return (struct text){(const char *)span.data, span.size};
}

/* What each question needs, but for those about the library itself and about an open session. */
struct work {
    const struct tensorrt *trt;
    struct tensorrt_settings settings;
    struct backend_model model; /* without path and bytes: there is none */
};

/* Reads settings and model, which are the end of a question, and loads the library. Text is allocated in `arena`. */
static int start_work(struct worker_question *question, struct arena *arena, struct work *ret, struct error *err)
{
    struct message_reader *message = &question->message;

    *ret = (struct work){0};
    message_take_record(message, arena, &tensorrt_settings_record, &ret->settings);
    ret->settings.log = worker_log();
    ret->model.path = message_take_string(message, arena);
    ret->model.external_folder = message_take_string(message, arena);
    ret->model.size = message_take_number(message);
    ret->model.data = message_take_data(message, ret->model.size).data;
    return tensorrt_load(&ret->trt, err);
}

/* A session: an engine and what its settings refer to. */
struct worker_session {
    struct work work;
    struct tensorrt_engine engine;
    struct arena arena;
};

static struct {
    struct worker_session **items; /* NULL: closed */
    size_t count, capacity;
} sessions;

/* ---- The library ---- */

static int answer_describe(struct worker_question *question, struct worker_reply *reply, struct error *err)
{
    struct tensorrt_description description = {0};
    const struct tensorrt *trt;
    struct error no_device;
    SCOPED_STRING(name);
    int rc = tensorrt_load(&trt, err);

    (void)question;
    if (rc < 0)
        return rc;
    tensorrt_describe(trt, &name);
    description = (struct tensorrt_description){
        .name = name.data,
        .major = trt->major,
        .minor = trt->minor,
        .is_rtx = trt->place.flavour == TENSORRT_RTX,
        .builds = trt->create_builder != NULL,
        .cancels = tensorrt_has(TENSORRT_METHOD(VBuilderConfig, setProgressMonitor)),
        .path = trt->place.path,
        .reason = trt->place.reason,
        .others = trt->place.others,
        .parser = trt->create_parser != NULL ? trt->parser_path : NULL,
        .no_device = cuda_start(trt->place.path, &no_device) < 0 ? no_device.message : NULL,
    };
    message_put_record(&reply->message, &tensorrt_description_record, &description);
    return 0;
}

/* ---- Building ---- */

static struct text serialize_timing_cache(const struct tensorrt_config *config, void **ret_memory)
{
    void *cache = config->timing_cache != NULL
                      ? tensorrt_object(TENSORRT_GET(VBuilderConfig, getTimingCache, config->config))
                      : NULL;

    *ret_memory = cache != NULL ? tensorrt_object(TENSORRT_GET(VTimingCache, serialize, cache)) : NULL;
    return *ret_memory != NULL ? as_text(plan_bytes(*ret_memory)) : (struct text){0};
}

/* What the layers of a plan are, only a GPU tells. */
static int list_layers(const struct tensorrt *trt, const struct tensorrt_settings *settings, struct span plan,
                       struct string_builder *ret, struct error *err)
{
    struct tensorrt_engine engine;
    struct tensorrt_settings plain = *settings;
    int rc;

    plain.mark_debug = (struct words){0};
    plain.mark_unfused = plain.profile = false;
    rc = tensorrt_engine_load(trt, &plain, plan, NULL, &engine, err);
    if (rc < 0)
        return rc;
    rc = tensorrt_engine_layers(&engine, ret, err);
    tensorrt_engine_release(&engine);
    return rc;
}

static int build_plan(const struct tensorrt_config *config, struct error *err)
{
    const struct tensorrt_network *network = config->network;

    tensorrt_errors_clear();
    tensorrt_delete(last_plan);
    last_plan = tensorrt_object(
        TENSORRT_CALL(VBuilder, buildSerializedNetwork, network->builder, network->network, config->config));
    return last_plan != NULL ? 0 : tensorrt_failure(err, "TensorRT could not build an engine");
}

/* What is built, and what comes with it. What a reply refers to stays until the next build. */
struct plan_build {
    struct work work;
    bool wants_layers;
    struct tactic_replay wanted, chosen;
    struct tensorrt_tactics tactics;
};

/* Up to TensorRT 10 a build can be told its tactics, and tells them. */
static int select_tactics(struct plan_build *build, void *config, struct error *err)
{
    const char *given = build->work.settings.tactics;

    tactic_replay_init(&build->wanted);
    tactic_replay_init(&build->chosen);
    if (given == NULL && !build->work.settings.reports_tactics)
        return 0;
    if (tensorrt_require(TENSORRT_METHOD(VBuilderConfig, setAlgorithmSelector), "--load-tactics", err) < 0 ||
        (given != NULL &&
         tactic_replay_parse(&build->wanted, given, strlen(given), "the tactics to be forced", err) < 0))
        return err->code;
    tensorrt_tactics_init(&build->tactics, given != NULL ? &build->wanted : NULL, &build->chosen);
    build->tactics.frees_others = build->work.settings.frees_other_layers;
    TENSORRT_CALL(VBuilderConfig, setAlgorithmSelector, config, &build->tactics);
    return 0;
}

static void write_tactics(const struct tactic_replay *replay, struct json_writer *ret)
{
    json_writer_init(ret);
    if (replay->count > 0)
        tactic_replay_write(replay, ret);
}

static void put_build(struct plan_build *build, struct tensorrt_config *config, struct message *message)
{
    static struct string_builder layers, calibration;
    static struct json_writer tactics;
    static void *cache_memory;
    struct tensorrt_build_report report = {.lost_timing_cache = config->lost_timing_cache};
    struct error why = {0};
    struct text cache;

    tensorrt_delete(cache_memory);
    cache = serialize_timing_cache(config, &cache_memory);
    string_release(&layers);
    string_init(&layers);
    if (!build->wants_layers)
        report.no_layers = "nobody has asked for it";
    else if (list_layers(build->work.trt, &build->work.settings, plan_bytes(last_plan), &layers, &why) < 0)
        report.no_layers = why.message;
    json_writer_release(&tactics);
    write_tactics(&build->chosen, &tactics);
    report.plan_size = plan_bytes(last_plan).size;
    report.layers_size = layers.size;
    report.timing_cache_size = cache.size;
    report.tactics_size = tactics.text.size;
    string_release(&calibration);
    calibration = config->calibration.written;
    config->calibration.written = (struct string_builder){0};
    report.calibration_size = calibration.size;
    message_put_record(message, &tensorrt_build_report_record, &report);
    message_put_data(message, as_text(plan_bytes(last_plan)));
    message_put_data(message, (struct text){layers.data, layers.size});
    message_put_data(message, cache);
    message_put_data(message, (struct text){tactics.text.data, tactics.text.size});
    message_put_data(message, (struct text){calibration.data, calibration.size});
}

static int build_network(struct plan_build *build, const struct tensorrt_network *network, struct message *message,
                         struct error *err)
{
    struct tensorrt_config config;
    int rc = tensorrt_config_make(network, &config, err);

    if (rc < 0)
        return rc;
    rc = select_tactics(build, config.config, err);
    if (rc < 0)
        goto done;
    rc = build_plan(&config, err);
    if (config.calibration.failure.code != 0 || (rc == 0 && build->tactics.failure.code != 0)) {
        *err = config.calibration.failure.code != 0 ? config.calibration.failure : build->tactics.failure;
        rc = err->code;
    }
    if (rc == 0)
        put_build(build, &config, message);
done:
    tensorrt_config_release(&config);
    tactic_replay_release(&build->wanted);
    tactic_replay_release(&build->chosen);
    return rc;
}

/* TensorRT builds for the device of the process. TensorRT-RTX needs none. */
static int choose_device(const struct tensorrt *trt, const struct tensorrt_settings *settings, struct error *err)
{
    int rc = cuda_use_device(trt->place.path, settings->device, err);

    return rc == ERR_MISSING && settings->device == 0 ? 0 : rc;
}

static void release_samples(void)
{
    tensor_list_release(&offered.samples.tensors);
    bounded_bytes_release(&offered.bytes);
    offered.samples = (struct tensorrt_samples){0};
}

static int answer_samples(struct worker_question *question, struct worker_reply *reply, struct error *err)
{
    int rc;

    (void)reply;
    release_samples();
    offered.samples.count = message_take_number(&question->message);
    offered.samples.are_generated = message_take_number(&question->message) != 0;
    rc = message_take_tensors(&question->message, &offered.samples.tensors, err);
    offered.bytes = worker_question_keep(question);
    return rc;
}

static int answer_build(struct worker_question *question, struct worker_reply *reply, struct error *err)
{
    struct tensorrt_network network;
    struct plan_build build = {0};
    const struct work *work = &build.work;
    int rc;

    build.wants_layers = message_take_number(&question->message) != 0;
    rc = start_work(question, &reply->arena, &build.work, err);
    build.work.settings.samples = &offered.samples;
    if (rc == 0)
        rc = choose_device(work->trt, &work->settings, err);
    if (rc == 0)
        rc = tensorrt_network_open(work->trt, &work->settings, &work->model, &network, err);
    if (rc < 0)
        goto done;
    rc = build_network(&build, &network, &reply->message, err);
    tensorrt_network_release(&network);
done:
    release_samples(); /* of this build only */
    return rc;
}

/* ---- Networks ---- */

static void view_tensor(void *tensor, struct tensorrt_network_tensor *ret)
{
    union tensorrt_dims dims;

    *ret = (struct tensorrt_network_tensor){.name = ""};
    if (tensor == NULL) /* an optional input */
        return;
    dims = TENSORRT_GET(VTensor, getDimensions, tensor);
    ret->name = TENSORRT_GET(VTensor, getName, tensor);
    ret->type = tensorrt_type_from(TENSORRT_GET(VTensor, getType, tensor));
    ret->has_shape = tensorrt_dims_get(&dims, &ret->shape);
}

static void view_layer(void *layer, struct arena *arena, struct tensorrt_network_layer *ret)
{
    size_t inputs = (size_t)TENSORRT_GET(VLayer, getNbInputs, layer);
    size_t outputs = (size_t)TENSORRT_GET(VLayer, getNbOutputs, layer);
    struct tensorrt_network_tensor *items = arena_alloc_zero(arena, inputs + outputs + 1, sizeof(*items));

    for (size_t i = 0; i < inputs; i++)
        view_tensor(TENSORRT_CALL(VLayer, getInput, layer, (int32_t)i), &items[i]);
    for (size_t i = 0; i < outputs; i++)
        view_tensor(TENSORRT_CALL(VLayer, getOutput, layer, (int32_t)i), &items[inputs + i]);
    *ret = (struct tensorrt_network_layer){.name = TENSORRT_GET(VLayer, getName, layer),
                                           .type = tensorrt_layer_type(layer),
                                           .inputs = {items, inputs},
                                           .outputs = {items + inputs, outputs}};
    if (tensorrt_has(TENSORRT_METHOD(VLayer, getMetadata)))
        ret->nodes = TENSORRT_GET(VLayer, getMetadata, layer);
}

static void view_network(void *network, struct arena *arena, struct tensorrt_network_view *ret)
{
    size_t inputs = (size_t)TENSORRT_GET(VNetworkDefinition, getNbInputs, network);
    size_t outputs = (size_t)TENSORRT_GET(VNetworkDefinition, getNbOutputs, network);
    size_t layers = (size_t)TENSORRT_GET(VNetworkDefinition, getNbLayers, network);
    struct tensorrt_network_tensor *tensors = arena_alloc_zero(arena, inputs + outputs + 1, sizeof(*tensors));
    struct tensorrt_network_layer *items = arena_alloc_zero(arena, layers + 1, sizeof(*items));

    for (size_t i = 0; i < inputs; i++)
        view_tensor(TENSORRT_CALL(VNetworkDefinition, getInput, network, (int32_t)i), &tensors[i]);
    for (size_t i = 0; i < outputs; i++)
        view_tensor(TENSORRT_CALL(VNetworkDefinition, getOutput, network, (int32_t)i), &tensors[inputs + i]);
    for (size_t i = 0; i < layers; i++)
        view_layer(TENSORRT_CALL(VNetworkDefinition, getLayer, network, (int32_t)i), arena, &items[i]);
    *ret = (struct tensorrt_network_view){{tensors, inputs}, {tensors + inputs, outputs}, {items, layers}};
}

static int answer_network(struct worker_question *question, struct worker_reply *reply, struct error *err)
{
    struct tensorrt_network network;
    struct tensorrt_network_view view;
    struct work work;
    int rc = start_work(question, &reply->arena, &work, err);

    if (rc == 0)
        rc = tensorrt_network_open(work.trt, &work.settings, &work.model, &network, err);
    if (rc < 0)
        return rc;
    view_network(network.network, &reply->arena, &view);
    message_put_record(&reply->message, &tensorrt_network_view_record, &view);
    tensorrt_network_release(&network);
    return 0;
}

static int answer_support(struct worker_question *question, struct worker_reply *reply, struct error *err)
{
    struct tensorrt_support support = {0};
    struct work work;
    int rc = start_work(question, &reply->arena, &work, err);

    if (rc == 0)
        rc = tensorrt_find_support(work.trt, &work.settings, &work.model, &reply->arena, &support, err);
    if (rc == 0)
        message_put_record(&reply->message, &tensorrt_support_record, &support);
    return rc;
}

/* ---- Sessions ---- */

static int load_plan(const char *path, struct file_map *ret, struct error *err)
{
    if (path == NULL && last_plan == NULL)
        return error_set(err, ERR_INVALID, "no engine was built");
    return path != NULL ? file_map_open(path, ret, err) : 0;
}

static struct span source_bytes(const struct file_map *map, const char *path)
{
    return path != NULL ? (struct span){map->data, map->size} : plan_bytes(last_plan);
}

static void put_tensors(struct message *message, const struct tensorrt_tensors *tensors)
{
    struct backend_io *ios SCOPED_FREE = memory_alloc_zero(tensors->count + 1, sizeof(*ios));

    for (size_t i = 0; i < tensors->count; i++)
        ios[i] = tensors->items[i].io;
    message_put_ios(message, ios, tensors->count);
}

static void release_session(struct worker_session *session)
{
    tensorrt_engine_release(&session->engine);
    arena_release(&session->arena);
    free(session);
}

static int load_session(struct worker_session *session, const struct tensorrt_plan_source *source, struct error *err)
{
    const struct work *work = &session->work;
    struct file_map map SCOPED(file_map_release) = {0};
    int rc = load_plan(source->path, &map, err);

    if (rc < 0)
        return rc;
    return tensorrt_engine_load(work->trt, &work->settings, source_bytes(&map, source->path),
                                source->refits ? &work->model : NULL, &session->engine, err);
}

static int answer_open(struct worker_question *question, struct worker_reply *reply, struct error *err)
{
    struct worker_session *session = memory_alloc_zero(1, sizeof(*session));
    struct tensorrt_plan_source source = {0};
    int rc;

    message_take_record(&question->message, &reply->arena, &tensorrt_plan_source_record, &source);
    rc = start_work(question, &session->arena, &session->work, err);
    if (rc == 0)
        rc = load_session(session, &source, err);
    if (rc < 0) {
        release_session(session);
        return rc;
    }
    message_put_number(&reply->message, sessions.count);
    put_tensors(&reply->message, &session->engine.inputs);
    put_tensors(&reply->message, &session->engine.outputs);
    *VECTOR_APPEND(&sessions) = session;
    return 0;
}

/* An open session, for which the question's log lines are meant. */
static struct worker_session *find_session(uint64_t number)
{
    struct worker_session *session = sessions.items[number];

    session->work.settings.log = worker_log();
    tensorrt_logger(worker_log());
    return session;
}

static int answer_run(struct worker_question *question, struct worker_reply *reply, struct error *err)
{
    struct tensorrt_run_question run = {0};
    struct tensor_list feed SCOPED(tensor_list_release) = {0};
    double seconds = 0;
    int rc;

    message_take_record(&question->message, &reply->arena, &tensorrt_run_question_record, &run);
    rc = message_take_tensors(&question->message, &feed, err); /* which refer to it */
    if (rc == 0) {
        struct worker_session *session = find_session(run.session);

        rc = tensorrt_engine_run(&session->engine, &feed, run.wants_all ? NULL : &run.wanted, &reply->tensors, &seconds,
                                 err);
    }
    message_put_real(&reply->message, seconds);
    message_put_tensors(&reply->message, &reply->tensors);
    return rc;
}

static int answer_close(struct worker_question *question, struct worker_reply *reply, struct error *err)
{
    uint64_t number = message_take_number(&question->message);
    struct worker_session *session = find_session(number);

    (void)reply;
    (void)err;
    tensorrt_engine_log_times(&session->engine);
    release_session(session);
    sessions.items[number] = NULL;
    return 0;
}

/* ---- Layers of a plan ---- */

static int answer_layers(struct worker_question *question, struct worker_reply *reply, struct error *err)
{
    static struct string_builder layers;
    struct file_map map SCOPED(file_map_release) = {0};
    struct work work;
    int rc = start_work(question, &reply->arena, &work, err);

    if (rc == 0)
        rc = load_plan(work.model.path, &map, err);
    if (rc < 0)
        return rc;
    string_release(&layers);
    string_init(&layers);
    rc = list_layers(work.trt, &work.settings, source_bytes(&map, work.model.path), &layers, err);
    message_put_text(&reply->message, (struct text){layers.data, layers.size});
    return rc;
}

/* ---- Knobs of the compiler ---- */

static int list_build_routes(const struct tensorrt *trt, struct message *message, struct error *err)
{
    void *builder, *config;
    const char *routes = NULL;

    if (tensorrt_require(TENSORRT_METHOD(VBuilderConfig, getAllBuildRoutes), "build routes", err) < 0)
        return err->code;
    tensorrt_errors_clear();
    builder = trt->create_builder != NULL
                  ? tensorrt_object(trt->create_builder(tensorrt_logger(worker_log()), trt->number))
                  : NULL;
    config = builder != NULL ? tensorrt_object(TENSORRT_GET(VBuilder, createBuilderConfig, builder)) : NULL;
    if (config != NULL)
        routes = TENSORRT_GET(VBuilderConfig, getAllBuildRoutes, config);
    if (routes != NULL)
        message_put_text(message, text_of(routes));
    tensorrt_delete(config);
    tensorrt_delete(builder);
    return routes != NULL ? 0 : tensorrt_failure(err, "TensorRT lists no build routes");
}

static int answer_routes(struct worker_question *question, struct worker_reply *reply, struct error *err)
{
    const struct tensorrt *trt;
    int rc = tensorrt_load(&trt, err);

    (void)question;
    return rc < 0 ? rc : list_build_routes(trt, &reply->message, err);
}

static worker_function *const functions[TENSORRT_QUESTIONS] = {
    [TENSORRT_SAMPLES] = answer_samples, [TENSORRT_DESCRIBE] = answer_describe, [TENSORRT_BUILD] = answer_build,
    [TENSORRT_OPEN] = answer_open,       [TENSORRT_RUN] = answer_run,           [TENSORRT_CLOSE] = answer_close,
    [TENSORRT_LAYERS] = answer_layers,   [TENSORRT_NETWORK] = answer_network,   [TENSORRT_SUPPORT] = answer_support,
    [TENSORRT_ROUTES] = answer_routes,
};

const struct worker_work tensorrt_work = {
    .name = "TensorRT",
    .more_memory = "more memory",
    .more_time = "more time",
    .functions = functions,
    .function_count = TENSORRT_QUESTIONS,
};
