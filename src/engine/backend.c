/* engine/backend.c: the built-in engine as a backend. See backend.h. */
#include "engine/backend.h"

#include <stdlib.h>
#include <string.h>

#include "backend/model_io.h"
#include "base/memory.h"
#include "engine/build/decisions.h"
#include "engine/plan/plan.h"
#include "engine/plan/engine.h"
#include "engine/run/executor.h"
#include "onnx/model/model.h"

struct engine_session {
    struct backend_session base;
    struct engine *engine;
    struct executor *executor;
    struct log *log;
    bool profile;
};

/* --- open --- */

int engine_settings_build(struct engine_settings *settings, const struct network *network, struct engine **ret,
                          struct error *err)
{
    int rc = 0;

    if (settings->builder.providers.count == 0)
        rc = providers_open(&settings->providers, &settings->builder.providers, err);
    return rc == 0 ? engine_build(network, &settings->builder, ret, err) : rc;
}

void engine_settings_release(struct engine_settings *settings)
{
    providers_close(&settings->builder.providers);
}

/* Makes room for `more` words after the existing ones. */
static const char **enlarge_word_list(struct words *words, size_t more, struct arena *arena)
{
    const char **items = arena_alloc_zero(arena, words->count + more + 1, sizeof(*items));

    for (size_t i = 0; i < words->count; i++)
        items[i] = words->items[i];
    words->items = items;
    return items;
}

int engine_settings_switch_off(struct engine_settings *settings, struct words names, struct arena *arena,
                               struct error *err)
{
    struct words *of_network = &settings->network.disabled, *sources = &settings->builder.sources_off;
    struct words *barriers = &settings->network.barriers;
    const char **disabled = enlarge_word_list(of_network, names.count, arena);
    const char **off = enlarge_word_list(sources, names.count, arena);
    const char **across = enlarge_word_list(barriers, names.count, arena);

    for (size_t i = 0; i < names.count; i++) {
        struct text name = text_of(names.items[i] + (*names.items[i] == NAME_MAY_MISS));

        if (text_begins_with(name, "fusion:") || text_begins_with(name, "folding:"))
            disabled[of_network->count++] = names.items[i];
        else if (text_begins_with(name, TACTICS_OF))
            off[sources->count++] = name.data + strlen(TACTICS_OF);
        else if (text_begins_with(name, BARRIER_PREFIX))
            across[barriers->count++] = name.data + strlen(BARRIER_PREFIX);
        else if (text_equal(name, TEXT(BLOCKED_LAYOUTS)))
            settings->builder.plain_layouts = true;
        else
            return error_set(
                err, ERR_INVALID,
                "'%s' cannot be disabled: the built-in engine has fusion:KIND, folding:KIND, " BLOCKED_LAYOUTS
                ", " TACTICS_OF "SOURCE and across:TENSOR",
                name.data);
    }
    return 0;
}

/* Not constant: the first build opens the providers. NULL: no settings, so only a plan file can be opened. */
static struct engine_settings *settings_of(const struct backend_request *request)
{
    return (struct engine_settings *)request->settings;
}

/* The engine owns its network. */
static int build_requested_engine(const struct backend_request *request, struct engine **ret, struct error *err)
{
    struct engine_settings *settings = settings_of(request);
    struct network *network = NULL;
    struct engine *engine = NULL;
    struct model *model;
    int rc = model_io_open(&request->model, &model, err);

    if (rc < 0)
        goto done;
    rc = network_build(model, &settings->network, &network, err);
    if (rc < 0)
        goto done;
    rc = engine_settings_build(settings, network, &engine, err);
    if (rc < 0)
        goto done;
    rc = settings->built != NULL ? settings->built(settings->data, engine, err) : 0;
    if (rc < 0)
        goto done;
    engine->owned_network = network;
    *ret = engine;
done:
    if (rc < 0) {
        engine_free(engine);
        network_free(network);
    }
    return rc;
}

static bool is_plan(const struct backend_request *request)
{
    return request->model.path != NULL ? plan_is(request->model.path) || plan_is_tensorrt(request->model.path)
                                       : plan_is_bytes((struct span){request->model.data, request->model.size});
}

static int load_requested_plan(const struct backend_request *request, struct engine **ret, struct error *err)
{
    const struct provider_settings defaults = {.log = request->log};
    const struct engine_settings *settings = settings_of(request);
    const struct provider_settings *providers = settings != NULL ? &settings->providers : &defaults;

    if (request->model.path != NULL)
        return plan_load(request->model.path, providers, ret, err);
    return plan_parse((struct span){request->model.data, request->model.size}, "the plan in memory", providers, ret,
                      err);
}

/* Other files, including TensorRT engines, are passed to the plan reader, which reports what they are. */
static int obtain_engine(const struct backend_request *request, struct engine **ret, struct error *err)
{
    const struct engine_settings *settings = settings_of(request);

    if (request->model.path != NULL && !file_exists(request->model.path))
        return error_set(err, ERR_MISSING, "model '%s' does not exist", request->model.path);
    if (is_plan(request) || settings == NULL || settings->is_built)
        return load_requested_plan(request, ret, err);
    return build_requested_engine(request, ret, err);
}

static void engine_close(struct backend_session *base)
{
    struct engine_session *session = (struct engine_session *)base;

    if (session == NULL)
        return;
    if (session->profile && session->executor != NULL)
        executor_log_profile(session->executor, session->engine, session->log);
    executor_free(session->executor);
    model_io_free(session->base.inputs, session->base.input_count);
    model_io_free(session->base.outputs, session->base.output_count);
    engine_free(session->engine);
    free(session);
}

static int engine_open(const struct backend_request *request, struct backend_session **ret, struct error *err)
{
    struct engine_session *session = memory_alloc_zero(1, sizeof(*session));
    int rc = obtain_engine(request, &session->engine, err);

    if (rc < 0)
        goto done;
    session->log = request->log;
    session->base = (struct backend_session){
        .inputs = engine_inputs_new(session->engine),
        .input_count = session->engine->network->inputs.count,
        .outputs = engine_outputs_new(session->engine),
        .output_count = session->engine->network->outputs.count,
    };
    rc = executor_new(session->engine, request->log, &session->executor, err);
    if (rc < 0)
        goto done;
    session->profile = request->settings != NULL && settings_of(request)->profile;
    executor_set_profiling(session->executor, session->profile);
    *ret = &session->base;
done:
    if (rc < 0)
        engine_close(&session->base);
    return rc;
}

/* --- description and runs --- */

static int engine_run(struct backend_session *base, const struct tensor_list *feed, const struct words *wanted,
                      struct tensor_list *ret, double *seconds, struct error *err)
{
    const struct engine_session *session = (const struct engine_session *)base;

    return executor_run(session->executor, feed, wanted, ret, seconds, err);
}

const struct backend engine_backend = {
    .name = "trt",
    .runner_prefix = "trt-runner",
    .open = engine_open,
    .close = engine_close,
    .run = engine_run,
};
