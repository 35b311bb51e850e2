/* backend/onnxrt/io.c: see io.h. */
#include "backend/onnxrt/io.h"

#include "backend/onnxrt/values.h"

static const char *kind_name(int kind)
{
    switch (kind) {
    case ORT_KIND_SEQUENCE:
        return "sequence";
    case ORT_KIND_MAP:
        return "map";
    case ORT_KIND_OPAQUE:
        return "opaque";
    case ORT_KIND_SPARSE_TENSOR:
        return "sparse tensor";
    case ORT_KIND_OPTIONAL:
        return "optional";
    default:
        return "value of an unknown kind";
    }
}

static int describe_name(const struct onnxrt *ort, const struct ort_session *session, enum onnxrt_side side,
                         size_t index, struct arena *arena, struct backend_io *ret, struct error *err)
{
    const struct ort_api *api = ort->api;
    char *name = NULL;
    int rc;

    rc = onnxrt_check(ort,
                      side == ONNXRT_INPUTS ? api->session_input_name(session, index, ort->allocator, &name)
                                            : api->session_output_name(session, index, ort->allocator, &name),
                      err, "ONNX Runtime does not tell the name of its %s %zu",
                      side == ONNXRT_INPUTS ? "input" : "output", index);
    if (rc < 0)
        return rc;
    ret->name = arena_strdup(arena, name);
    return onnxrt_check(ort, api->allocator_free(ort->allocator, name), err, "ONNX Runtime");
}

/* Releases before 1.24 show a tensor of unknown rank as a scalar. There, neither has a shape for us: an unknown shape
 * costs a check of the feed, a wrong one would refuse data that fit. */
static int describe_tensor(const struct onnxrt *ort, const struct ort_tensor_info *info, struct arena *arena,
                           struct backend_io *ret, struct error *err)
{
    const char *symbols[TENSOR_MAX_RANK];
    int rc;

    rc = onnxrt_read_shape(ort, info, &ret->type, &ret->shape, err);
    if (rc < 0)
        return rc;
    if (ret->type == DATA_UNDEFINED)
        ret->not_a_tensor = "tensor of an unknown element type";
    ret->has_shape = ort->tells_shape ? ort->api->has_shape(info) : ret->shape.rank > 0;
    rc = onnxrt_check(ort, ort->api->symbolic_dimensions(info, symbols, ret->shape.rank), err,
                      "ONNX Runtime does not tell its dimensions");
    if (rc < 0)
        return rc;
    ret->symbols = arena_alloc_zero(arena, ret->shape.rank, sizeof(*ret->symbols));
    for (size_t i = 0; i < ret->shape.rank; i++)
        if (ret->shape.dims[i] < 0 && symbols[i] && *symbols[i])
            ret->symbols[i] = arena_strdup(arena, symbols[i]);
    return 0;
}

static int describe_type(const struct onnxrt *ort, const struct ort_session *session, enum onnxrt_side side,
                         size_t index, struct arena *arena, struct backend_io *ret, struct error *err)
{
    const struct ort_api *api = ort->api;
    const struct ort_tensor_info *info;
    struct ort_type_info *type = NULL;
    struct ort_status *status;
    int kind = ORT_KIND_UNKNOWN;
    int rc;

    status = side == ONNXRT_INPUTS ? api->session_input_type(session, index, &type)
                                   : api->session_output_type(session, index, &type);
    if (!status)
        status = api->type_kind(type, &kind);
    if (!status)
        status = api->type_tensor_info(type, &info); /* gives NULL when it is none */
    rc = onnxrt_check(ort, status, err, "ONNX Runtime does not tell its type");
    if (rc == 0 && kind == ORT_KIND_TENSOR)
        rc = describe_tensor(ort, info, arena, ret, err);
    else if (rc == 0)
        ret->not_a_tensor = kind_name(kind);
    if (type)
        api->release_type_info(type);
    return rc;
}

int onnxrt_describe(const struct onnxrt *ort, const struct ort_session *session, enum onnxrt_side side,
                    struct arena *arena, struct backend_io **ret, size_t *ret_count, struct error *err)
{
    const char *what = side == ONNXRT_INPUTS ? "input" : "output";
    struct backend_io *items;
    size_t count = 0;
    int rc;

    rc = onnxrt_check(ort,
                      side == ONNXRT_INPUTS ? ort->api->session_input_count(session, &count)
                                            : ort->api->session_output_count(session, &count),
                      err, "ONNX Runtime does not tell its number of %ss", what);
    if (rc < 0)
        return rc;
    items = arena_alloc_zero(arena, count, sizeof(*items));
    for (size_t i = 0; i < count && rc == 0; i++) {
        rc = describe_name(ort, session, side, i, arena, &items[i], err);
        if (rc < 0)
            break;
        rc = describe_type(ort, session, side, i, arena, &items[i], err);
        if (rc < 0)
            error_context(err, "%s '%s'", what, items[i].name);
    }
    if (rc < 0)
        return rc;
    *ret = items;
    *ret_count = count;
    return 0;
}
