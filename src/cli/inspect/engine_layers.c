/* cli/inspect/engine_layers.c: layers out of engines of all kinds. */
#include "cli/inspect/engine_layers.h"

#include "engine/plan/layer_info.h"
#include "engine/plan/plan.h"

static int load_plan(const char *path, struct layer_info *ret, struct error *err)
{
    struct engine *engine;
    int rc = plan_load(path, NULL, &engine, err);

    if (rc < 0)
        return rc;
    engine_layer_info_make(engine, ret);
    engine_free(engine);
    return 0;
}

int engine_layers_ask(const char *path, struct layer_info *ret, struct error *err)
{
    (void)ret;
    return error_set(err, ERR_MISSING,
                     "'%s': what the layers of an engine are only TensorRT can tell: give the file that trtexec "
                     "--exportLayerInfo has written instead",
                     path);
}

int engine_layers_load(const char *path, struct layer_info *ret, struct error *err)
{
    if (plan_is_tensorrt(path))
        return engine_layers_ask(path, ret, err);
    if (plan_is(path))
        return load_plan(path, ret, err);
    return layer_info_open(ret, path, err);
}
