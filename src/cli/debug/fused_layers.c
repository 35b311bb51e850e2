/* cli/debug/fused_layers.c: see fused_layers.h. */
#include "cli/debug/fused_layers.h"

#include <stdlib.h>

#include "backend/model_io.h"
#include "backend/onnxrt/apart/backend.h"
#include "backend/onnxrt/settings.h"
#include "base/file/file.h"
#include "onnx/edit/model.h"

#define EXTENDED 2 /* optimization level */

/* In another process: the runtime may crash. */
static int save_rewritten(const struct model *model, const struct backend_request *request, const char *path,
                          struct error *err)
{
    struct onnxrt_settings settings = *onnxrt_settings_of(request);
    struct backend_request own = *request;
    struct backend_session *session;
    char *bytes SCOPED_FREE = NULL;
    int rc = model_io_write(model, &bytes, &own.model, err);

    if (rc < 0)
        return rc;
    if (settings.optimization_level < 0 || settings.optimization_level > EXTENDED)
        settings.optimization_level = EXTENDED;
    settings.optimized_path = path;
    own.settings = &settings;
    own.log = NULL;
    rc = onnxrt_apart_backend.open(&own, &session, err);
    if (rc == 0)
        onnxrt_apart_backend.close(session);
    return rc;
}

int fused_layers_of_onnxrt(const struct model *model, const struct backend_request *request, struct fused_layers *ret,
                           struct error *err)
{
    struct model *rewritten SCOPED(model_free_pointed) = NULL;
    char *folder SCOPED_FREE = NULL, *path SCOPED_FREE = NULL;
    int rc = file_make_temporary_folder("kernels", &folder, err);

    if (rc < 0)
        return rc;
    path = file_join(folder, "rewritten.onnx");
    rc = save_rewritten(model, request, path, err);
    if (rc == 0)
        rc = model_open(path, NULL, &rewritten, err);
    if (rc == 0)
        fused_layers_add_nodes(ret, model, rewritten);
    file_remove_tree(folder, NULL);
    return rc;
}

int fused_layers_of_engine(const struct model *model, const struct engine_settings *settings, struct fused_layers *ret,
                           struct error *err)
{
    struct network *network;
    int rc = network_build(model_copy(model), &settings->network, &network, err);

    if (rc < 0)
        return rc;
    VECTOR_EACH (const struct layer, layer, network->layers)
        fused_layers_add(ret, model, network->model, layer->inputs, layer->outputs);
    network_free(network);
    return 0;
}
