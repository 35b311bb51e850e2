/* bench/engine_speed.c: the built-in engine against ONNX Runtime, and against its own first build.
 *
 *   engine_speed MODEL TURNS [-v]
 *
 * Builds twice (the second time with the timing cache of the first), then runs the engine and ONNX Runtime in turns on
 * the same input with the same number of threads; then saves the engine as a plan file in the current folder, opens it
 * again and removes it. With real-time priority where it is permitted. Prints one line:
 *
 *   median milliseconds of a run of ONNX Runtime, and of the engine
 *   seconds of the first and of the second build
 *   milliseconds to open the plan file, and of its first run, which makes the kernels
 *   how many layers oneDNN has, and ONNX Runtime
 *
 * -v: with the builder's log, and the time of each layer (in parentheses: the time measured when its tactic was
 * chosen).
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system.h"
#include "backend/onnxrt/settings.h"
#include "engine/build/builder.h"
#include "engine/build/timing.h"
#include "engine/network/compile.h"
#include "engine/plan/plan.h"
#include "engine/run/executor.h"

#define MOST_TURNS 100
#define ROUNDS_PER_TURN 7

static struct error error;

static void must(int rc)
{
    if (rc == 0)
        return;
    fprintf(stderr, "engine_speed: %s\n", error.message);
    exit(2);
}

static void write_line(void *data, enum log_level level, int depth, struct text message)
{
    (void)data, (void)level, (void)depth;
    fprintf(stderr, TEXT_FORMAT "\n", TEXT_ARGS(message));
}

/* The same values for every input: small, positive, and different from each other. Dynamic dimensions are 1. */
static int make_feed(void *context, const struct backend_io *inputs, size_t count, int64_t iteration,
                     struct tensor_list *ret, struct error *err)
{
    (void)context, (void)iteration;
    for (size_t i = 0; i < count; i++) {
        struct shape shape = inputs[i].shape;
        struct tensor tensor;
        int rc;

        for (size_t k = 0; k < shape.rank; k++)
            shape.dims[k] = shape.dims[k] < 0 ? 1 : shape.dims[k];
        rc = tensor_allocate(inputs[i].type, &shape, &tensor, err);
        if (rc < 0)
            return rc;
        memset(tensor_writable(&tensor), 0, tensor.size);
        for (size_t k = 0; inputs[i].type == DATA_FLOAT32 && k < tensor_elements(&tensor); k++)
            ((float *)tensor_writable(&tensor))[k] = (float)(k % 256) / 256;
        tensor_list_add(ret, text_of(inputs[i].name), &tensor);
    }
    return 0;
}

/* The feed of the first profile's best shapes. */
static int sample_feed(const struct engine *engine, struct tensor_list *ret)
{
    const struct network *network = engine->network;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < network->inputs.count; i++) {
        struct text name = network->model->values.items[network->inputs.items[i]].name;
        struct backend_io input = {.name = memory_copy(name.data, name.size),
                                   .type = network_type(network, network->inputs.items[i]),
                                   .shape = engine->profiles.items[0].optimum[i]};

        rc = make_feed(NULL, &input, 1, 0, ret, &error);
        free(input.name);
    }
    return rc;
}

static double build(const struct network *network, const struct builder_settings *settings, struct engine **ret)
{
    double start = stopwatch_now();

    must(engine_build(network, settings, ret, &error));
    return stopwatch_now() - start;
}

static void show_layers(const struct executor *executor, const struct engine *engine)
{
    size_t runs;
    const double *seconds = executor_layer_seconds(executor, &runs);

    for (size_t i = 0; i < engine->network->layers.count; i++)
        fprintf(stderr, "%8.1f us (%6.1f) %s:%s %s\n", seconds[i] / (double)runs * 1e6, engine->layers[i].seconds * 1e6,
                engine->layers[i].tactic.provider->name, engine->layers[i].tactic.name,
                engine->network->layers.items[i].name);
}

/* Idle threads of ONNX Runtime spin for a while and would take processor time from the engine. */
static void let_threads_fall_asleep(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
}

struct racers {
    struct backend_session *session;
    struct executor *executor;
    struct tensor_list feed;
};

/* One run of ONNX Runtime, or of the engine. */
static double run(struct racers *racers, bool engine)
{
    struct tensor_list outputs = {0};
    double seconds;

    if (engine)
        must(executor_run(racers->executor, &racers->feed, NULL, &outputs, &seconds, &error));
    else
        must(onnxrt_backend.run(racers->session, &racers->feed, NULL, &outputs, &seconds, &error));
    tensor_list_release(&outputs);
    return seconds;
}

/* Alternates between the two, so that other load on the machine slows both down. A turn is some warm-up runs and
 * ROUNDS_PER_TURN measured ones. */
static void race(const char *path, const struct engine *engine, size_t turns, bool verbose, double ret[2])
{
    struct backend_request request = {.model.path = path,
                                      .settings = &(struct onnxrt_settings){.optimization_level = -1}};
    static double seconds[2][MOST_TURNS * ROUNDS_PER_TURN];
    struct racers racers = {0};

    must(onnxrt_backend.open(&request, &racers.session, &error));
    must(executor_new(engine, NULL, &racers.executor, &error));
    must(sample_feed(engine, &racers.feed));
    for (size_t i = 0; i < 2 * turns; i++) {
        let_threads_fall_asleep();
        executor_set_profiling(racers.executor, false);
        for (size_t k = 0; k < 3; k++)
            run(&racers, i % 2);
        executor_set_profiling(racers.executor, verbose);
        for (size_t k = 0; k < ROUNDS_PER_TURN; k++)
            seconds[i % 2][i / 2 * ROUNDS_PER_TURN + k] = run(&racers, i % 2);
    }
    for (size_t i = 0; i < 2; i++)
        ret[i] = median_of_seconds(seconds[i], turns * ROUNDS_PER_TURN);
    if (verbose)
        show_layers(racers.executor, engine);
    tensor_list_release(&racers.feed);
    executor_free(racers.executor);
    onnxrt_backend.close(racers.session);
}

/* Seconds to open the engine as a plan file, and of its first run, which makes the kernels. */
static void load_plan(const struct engine *engine, const struct provider_settings *providers, const char *path,
                      double ret[2])
{
    struct tensor_list feed = {0}, outputs = {0};
    struct executor *executor;
    struct engine *loaded;
    double start;

    must(plan_save(engine, path, &error));
    must(sample_feed(engine, &feed));
    start = stopwatch_now();
    must(plan_load(path, providers, &loaded, &error));
    ret[0] = stopwatch_now() - start;
    start = stopwatch_now();
    must(executor_new(loaded, NULL, &executor, &error));
    must(executor_run(executor, &feed, NULL, &outputs, NULL, &error));
    ret[1] = stopwatch_now() - start;
    tensor_list_release(&outputs);
    tensor_list_release(&feed);
    executor_free(executor);
    engine_free(loaded);
    unlink(path);
}

static size_t count_layers(const struct engine *engine, const char *provider)
{
    size_t count = 0;

    for (size_t i = 0; i < engine->network->layers.count; i++)
        count += strcmp(engine->layers[i].tactic.provider->name, provider) == 0;
    return count;
}

int main(int argc, char **argv)
{
    bool verbose = argc == 4 && strcmp(argv[3], "-v") == 0;
    struct log log = {.threshold = LOG_VERBOSE, .write = write_line};
    struct builder_settings builder = {
        .sample = {.feed = make_feed, .iterations = 1}, .effort.optimization_level = 3, .log = verbose ? &log : NULL};
    struct provider_settings providers = {.log = builder.log};
    struct network_settings settings = {.folding = {.backend = &onnxrt_backend, .passes = -1, .size_limit = UINT64_MAX},
                                        .log = builder.log};
    size_t turns = argc >= 3 ? strtoul(argv[2], NULL, 10) : 0;
    struct network *network;
    struct engine *engine;
    struct model *model;
    double first, second, times[2], loading[2];

    if (turns < 1 || turns > MOST_TURNS) {
        fprintf(stderr, "usage: engine_speed MODEL TURNS [-v]\n");
        return 2;
    }
    sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1}); /* where it is permitted */
    must(model_open(argv[1], NULL, &model, &error));
    must(network_build(model, &settings, &network, &error));
    must(providers_open(&providers, &builder.providers, &error));
    builder.cache = timing_cache_new();
    first = build(network, &builder, &engine);
    engine_free(engine);
    second = build(network, &builder, &engine);
    race(argv[1], engine, turns, verbose, times);
    load_plan(engine, &providers, "engine_speed.plan", loading);
    printf("%f %f %f %f %f %f %zu %zu\n", times[0] * 1e3, times[1] * 1e3, first, second, loading[0] * 1e3,
           loading[1] * 1e3, count_layers(engine, "onednn"), count_layers(engine, "onnxrt"));
    engine_free(engine);
    providers_close(&builder.providers);
    timing_cache_free(builder.cache);
    network_free(network);
    return 0;
}
