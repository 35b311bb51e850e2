/* cli/inspect/engine_layers.c: layers out of engines of all kinds. */
#include "cli/inspect/engine_layers.h"

#include "backend/trtexec/installation.h"
#include "backend/trtexec/layers.h"
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

int engine_layers_ask(const char *path, struct log *log, struct layer_info *ret, struct error *err)
{
    const struct trtexec *program;
    struct error why;
    int rc = trtexec_find(&program, &why);

    if (rc < 0)
        return error_set(err, (enum error_code)rc,
                         "'%s': what its layers are only TensorRT tells, or the file that trtexec --exportLayerInfo "
                         "has written: %s",
                         path, why.message);
    return trtexec_ask_layers(program, path, log, ret, err);
}

int engine_layers_load(const char *path, struct log *log, struct layer_info *ret, struct error *err)
{
    if (plan_is_tensorrt(path))
        return engine_layers_ask(path, log, ret, err);
    if (plan_is(path))
        return load_plan(path, ret, err);
    return layer_info_open(ret, path, err);
}
