/* cli/inspect/engine_layers.c: see engine_layers.h. */
#include "cli/inspect/engine_layers.h"

#include <string.h>

#include "base/memory.h"
#include "cli/trt.h"
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
    const struct tensorrt_description *library;
    char *text SCOPED_FREE = NULL;
    struct error why;
    int rc = trt_choose(log, path, TRT_RUNS, &library, &why);

    if (rc < 0)
        return error_set(err, (enum error_code)rc,
                         "'%s': only TensorRT can list its layers; pass a file of layer information instead "
                         "(--layer-info, written by --save-layer-info): %s",
                         path, why.message);
    rc = tensorrt_ask_layers(path, log, &text, err);
    return rc < 0 ? rc : layer_info_parse(ret, text, strlen(text), "the layer information", err);
}

int engine_layers_load(const char *path, struct log *log, struct layer_info *ret, struct error *err)
{
    if (plan_is_tensorrt(path))
        return engine_layers_ask(path, log, ret, err);
    if (plan_is(path))
        return load_plan(path, ret, err);
    return layer_info_open(ret, path, err);
}
