/* cli/debug/golden_engine.c: see golden_engine.h. */
#include "cli/debug/golden_engine.h"

#include "cli/engine_file.h"
#include "cli/model_file.h"

static int feed(void *data, const struct backend_io *inputs, size_t count, int64_t iteration, struct tensor_list *ret,
                struct error *err)
{
    return data_loader_feed(data, inputs, count, iteration, ret, err);
}

/* Nobody asked for what is built here, so it is not worth a line. */
int golden_engine_init(struct golden_engine *ret, const struct command_context *context, struct data_loader *loader,
                       struct error *err)
{
    struct backend_request request = model_file_request(context);
    int rc = engine_file_choose(context, err);

    if (rc < 0)
        return rc;
    request.log = NULL;
    *ret = (struct golden_engine){
        .network = {.folding = {.backend = &onnxrt_backend,
                                .request = request,
                                .passes = -1,
                                .partition = FOLDING_NODES,
                                .infer_types = true},
                    .keep_nodes_apart = true},
        .providers = {.request = request, .threads = request.intra_threads},
        .builder = {.precision.enabled[PRECISION_FLOAT32] = true,
                    .sample = {.feed = feed, .context = loader, .iterations = data_loader_iterations(loader)},
                    .deterministic = true,
                    .threads = request.intra_threads},
    };
    ret->request =
        (struct engine_request){.network = &ret->network, .providers = &ret->providers, .builder = &ret->builder};
    return 0;
}

struct backend_request golden_engine_request(const struct golden_engine *golden, const struct command_context *context)
{
    struct backend_request request = model_file_request(context);

    request.engine = &golden->request;
    return request;
}
