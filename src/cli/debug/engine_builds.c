/* cli/debug/engine_builds.c: see engine_builds.h. */
#include "cli/debug/engine_builds.h"

#include "cli/model_file.h"
#include "engine/plan/plan.h"

int engine_builds_check_model(const struct model_values *model, struct error *err)
{
    return model->type == MODEL_ONNX
               ? 0
               : error_set(err, ERR_INVALID,
                           "'%s' is an engine, which is already built: pass the ONNX model that it was built from",
                           model->path);
}

int engine_builds_init(struct engine_builds *builds, const struct command_context *context,
                       const struct engine_values *values, const struct model_file_settings *source, struct error *err)
{
    struct model *model;
    int rc = engine_builds_check_model(&source->model, err);

    if (rc < 0)
        return rc;
    *builds = (struct engine_builds){.times_are_kept = true};
    rc = engine_file_init(&builds->file, context, values, source, err);
    if (rc < 0)
        return rc;
    builds->seed = builds->file.request.builder.seed;
    rc = model_file_load(context, source, &model, err);
    if (rc == 0)
        rc = network_build(model, &builds->file.request.network, &builds->network, err);
    if (rc < 0)
        engine_builds_release(builds);
    return rc;
}

void engine_builds_release(struct engine_builds *builds)
{
    network_free(builds->network);
    engine_file_release(&builds->file);
    *builds = (struct engine_builds){0};
}

/* Times differ from build to build, and choices with them: that is what makes builds of one network differ at all. */
static void forget_times(struct engine_builds *builds)
{
    struct engine_file *file = &builds->file;

    if (builds->times_are_kept || file->values->load_timing_cache)
        return;
    timing_cache_free(file->cache);
    file->cache = timing_cache_new();
    file->request.builder.cache = file->cache;
}

static int build_engine(void *data, const struct engine_order *order, void **ret, struct error *err)
{
    struct engine_builds *builds = data;
    struct engine_settings *request = &builds->file.request;
    struct precision_overrides layers = request->builder.precision.layers;
    struct engine *engine;
    int rc;

    forget_times(builds);
    request->builder.seed = builds->seed + (uint64_t)(order->iteration > 0 ? order->iteration : 0);
    if (order->forced)
        request->builder.replay = order->forced;
    if (order->layers)
        request->builder.precision.layers = *order->layers;
    rc = engine_settings_build(request, builds->network, &engine, err);
    request->builder.replay = builds->file.replay;
    request->builder.precision.layers = layers;
    if (rc == 0)
        *ret = engine;
    return rc;
}

static int save_built_engine(void *data, void *engine, const char *path, struct error *err)
{
    (void)data;
    return plan_save(engine, path, err);
}

static int save_byproducts(void *data, void *engine, struct error *err)
{
    const struct engine_builds *builds = data;

    return engine_file_save_byproducts(&builds->file, engine, err);
}

static void drop_engine(void *data, void *engine)
{
    (void)data;
    engine_free(engine);
}

struct engine_maker engine_builds_maker(struct engine_builds *builds)
{
    return (struct engine_maker){.data = builds,
                                 .build = build_engine,
                                 .save = save_built_engine,
                                 .save_byproducts = save_byproducts,
                                 .drop = drop_engine};
}
