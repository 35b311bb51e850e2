/* cli/debug/trt_builds.c: see trt_builds.h. */
#include "cli/debug/trt_builds.h"

#include <stdlib.h>

#include "backend/model_io.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "cli/options/runners/engine.h"
#include "cli/trt_replay.h"

int trt_builds_init(struct trt_builds *builds, const struct command_context *context,
                    const struct engine_values *values, const struct model_file_settings *source, struct error *err)
{
    struct tensorrt_settings *settings;
    int rc;

    *builds = (struct trt_builds){0};
    rc = trt_request_init(&builds->trt, context, values, source, err);
    if (rc < 0)
        return rc;
    settings = &builds->trt.request.settings;
    if (values->load_timing_cache == NULL && values->load_tactics == NULL) {
        /* What is saved is of one build alone. One that keeps no times does not even share them among its layers. */
        settings->load_timing_cache = NULL;
        settings->without_timing_cache = values->save_timing_cache == NULL && values->save_tactics == NULL;
    }
    return 0;
}

void trt_builds_release(struct trt_builds *builds)
{
    if (builds->trt.context != NULL)
        trt_request_release(&builds->trt);
    free(builds->bytes);
    free(builds->folder);
    *builds = (struct trt_builds){0};
}

int trt_builds_set_model(struct trt_builds *builds, struct model *model, struct error *err)
{
    int rc = model_io_write(model, &builds->bytes, &builds->source, err);

    builds->source.external_folder = builds->folder = memory_strdup(model->folder);
    return rc;
}

/* ---- Engines ---- */

static struct tensorrt_named_types take_types(const struct precision_overrides *from, struct tensorrt_named_type *items)
{
    for (size_t i = 0; i < from->count; i++)
        items[i] = (struct tensorrt_named_type){from->items[i].name, from->items[i].type};
    return (struct tensorrt_named_types){items, from->count};
}

static void drop_trt_engine(void *data, void *engine)
{
    (void)data;
    if (engine != NULL)
        tensorrt_products_release(engine);
    free(engine);
}

static int make_trt_engine(const struct trt_builds *builds, const struct tensorrt_settings *settings,
                           const struct tactic_replay *forced, const struct backend_model *source,
                           struct tensorrt_products *ret, struct error *err)
{
    int rc = tensorrt_build(settings, source, builds->trt.request.wants_layers, ret, err);

    return rc < 0 || forced == NULL
               ? rc
               : trt_replay_check(forced, "the two replays, mixed,", true, ret, settings->log, err);
}

static int build_trt_engine(void *data, const struct engine_order *order, void **ret, struct error *err)
{
    struct trt_builds *builds = data;
    struct tensorrt_settings settings = builds->trt.request.settings;
    struct backend_model source = builds->source;
    struct tensorrt_products *made = memory_alloc_zero(1, sizeof(*made));
    struct tensorrt_named_type *types = NULL, *more = NULL;
    char *bytes = NULL;
    SCOPED_ARENA(arena);
    int rc = 0;

    if (order->forced != NULL) {
        trt_replay_force(order->forced, &settings, &arena);
        settings.frees_other_layers = true;
    }
    if (order->layers != NULL) {
        types = memory_alloc_zero(order->layers->count, sizeof(*types));
        settings.layer_precisions = take_types(order->layers, types);
    }
    if (order->others != NULL) {
        more = memory_alloc_zero(order->others->count, sizeof(*more));
        settings.optional_precisions = take_types(order->others, more);
    }
    if (order->model != NULL)
        rc = model_io_write(order->model, &bytes, &source, err);
    if (rc == 0)
        rc = make_trt_engine(builds, &settings, order->forced, &source, made, err);
    if (rc == ERR_UNSUPPORTED) /* options and names are the same for every build */
        rc = err->code = ERR_INVALID;
    free(bytes);
    free(types);
    free(more);
    if (rc == 0)
        *ret = made;
    else
        drop_trt_engine(builds, made);
    return rc;
}

static int save_trt_engine(void *data, void *engine, const char *path, struct error *err)
{
    const struct tensorrt_products *made = engine;

    (void)data;
    return file_write(path, made->plan.data, made->plan.size, FILE_INTERMEDIATE, err);
}

static int save_byproducts(void *data, void *engine, struct error *err)
{
    const struct trt_builds *builds = data;

    return trt_save_products(&builds->trt, engine, NULL, err);
}

struct engine_maker trt_builds_maker(struct trt_builds *builds)
{
    return (struct engine_maker){.data = builds,
                                 .build = build_trt_engine,
                                 .save = save_trt_engine,
                                 .save_byproducts = save_byproducts,
                                 .drop = drop_trt_engine};
}
