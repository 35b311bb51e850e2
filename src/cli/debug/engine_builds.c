/* cli/debug/engine_builds.c: see engine_builds.h. */
#include "cli/debug/engine_builds.h"

#include "cli/model_file.h"

int engine_builds_init(struct engine_builds *builds, const struct command_context *context, struct error *err)
{
    const struct model_values *values = model_file_options(context).model;
    struct model *model;
    int rc;

    if (values->type != MODEL_ONNX)
        return error_set(err, ERR_INVALID,
                         "'%s' is an engine, which is built already: give the ONNX model that it is of", values->path);
    *builds = (struct engine_builds){.times_are_kept = true};
    rc = engine_file_init(&builds->file, context, err);
    if (rc < 0)
        return rc;
    builds->seed = builds->file.request.builder.seed;
    rc = model_file_load(context, &model, err);
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

static int make(void *data, int64_t index, const struct tactic_replay *forced, struct engine **ret, struct error *err)
{
    struct engine_builds *builds = data;
    struct engine_file *file = &builds->file;
    struct engine *engine = NULL;
    int rc;

    forget_times(builds);
    file->request.builder.seed = builds->seed + (uint64_t)(index > 0 ? index : 0);
    if (forced)
        file->request.builder.replay = forced;
    rc = engine_request_build(&file->request, builds->network, &engine, err);
    file->request.builder.replay = file->replay;
    if (rc == 0)
        rc = engine_file_save_byproducts(file, engine, err);
    if (rc == 0)
        *ret = engine;
    else
        engine_free(engine);
    return rc;
}

struct engine_maker engine_builds_maker(struct engine_builds *builds)
{
    return (struct engine_maker){.data = builds, .make = make};
}
