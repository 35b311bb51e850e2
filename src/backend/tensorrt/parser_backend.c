/* backend/tensorrt/parser_backend.c: TensorRT's parser as a backend that says what it takes: see backend.h. */
#include <stdlib.h>

#include "backend/tensorrt/backend.h"
#include "base/memory.h"

struct parser_session {
    struct backend_session base;
    struct arena arena; /* of all names */
};

static struct backend_io *take_tensors(struct arena *arena, const struct tensorrt_network_tensors *tensors)
{
    struct backend_io *ret = arena_alloc_zero(arena, tensors->count + 1, sizeof(*ret));

    for (size_t i = 0; i < tensors->count; i++) {
        const struct tensorrt_network_tensor *tensor = &tensors->items[i];

        ret[i] = (struct backend_io){
            .name = arena_strdup(arena, tensor->name),
            .type = tensor->type,
            .has_shape = tensor->has_shape,
            .shape = tensor->shape,
            .symbols = arena_alloc_zero(arena, TENSOR_MAX_RANK, sizeof(char *)),
        };
    }
    return ret;
}

static void close_parser_session(struct backend_session *base)
{
    struct parser_session *session = (struct parser_session *)base;

    if (session != NULL)
        arena_release(&session->arena);
    free(session);
}

static int open_parser_session(const struct backend_request *request, struct backend_session **ret, struct error *err)
{
    struct parser_session *session = memory_alloc_zero(1, sizeof(*session));
    const struct tensorrt_settings settings = {.log = request->log};
    struct tensorrt_network_view view = {0};
    int rc = tensorrt_view_network(&settings, &request->model, &session->arena, &view, err);

    if (rc < 0) {
        close_parser_session(&session->base);
        return rc;
    }
    session->base = (struct backend_session){.inputs = take_tensors(&session->arena, &view.inputs),
                                             .outputs = take_tensors(&session->arena, &view.outputs),
                                             .input_count = view.inputs.count,
                                             .output_count = view.outputs.count};
    *ret = &session->base;
    return 0;
}

const struct backend tensorrt_parser_backend = {
    .name = "trt",
    .runner_prefix = "trt-parser",
    .open = open_parser_session,
    .close = close_parser_session,
};
