/* backend/tensorrt/support.c: see support.h. */
#include "backend/tensorrt/support.h"

#include "backend/tensorrt/network.h"
#include "base/file/file.h"
#include "base/memory.h"

struct refusal_vector {
    struct tensorrt_refusal *items;
    size_t count, capacity;
};

struct taken_vector {
    struct tensorrt_taken_node *items;
    size_t count, capacity;
};

static const char *copy_text(struct arena *arena, const char *text)
{
    return arena_strdup(arena, text != NULL ? text : "");
}

/* "outer -> inner"; empty outside of functions. */
static const char *join_functions(struct arena *arena, struct words names)
{
    SCOPED_STRING(text);

    for (size_t i = 0; i < names.count; i++)
        string_add_format(&text, "%s%s", i > 0 ? " -> " : "", names.items[i]);
    return arena_text(arena, (struct text){text.data, text.size});
}

static void list_errors(void *parser, struct arena *arena, struct refusal_vector *ret)
{
    int32_t count = TENSORRT_GET(IParser, getNbErrors, parser);

    for (int32_t i = 0; i < count; i++) {
        void *error = TENSORRT_CALL(IParser, getError, parser, i);

        *VECTOR_APPEND(ret) =
            (struct tensorrt_refusal){.node = TENSORRT_GET(IParserError, node, error),
                                      .name = copy_text(arena, TENSORRT_GET(IParserError, nodeName, error)),
                                      .op_type = copy_text(arena, TENSORRT_GET(IParserError, nodeOperator, error)),
                                      .stack = join_functions(arena, tensorrt_parser_error_functions(error)),
                                      .reason = copy_text(arena, TENSORRT_GET(IParserError, desc, error))};
    }
}

static void list_taken(void *parser, struct taken_vector *ret)
{
    int64_t groups = TENSORRT_GET(IParser, getNbSubgraphs, parser);

    for (int64_t i = 0; i < groups; i++) {
        int64_t count = 0;
        const int64_t *nodes = TENSORRT_CALL(IParser, getSubgraphNodes, parser, i, &count);

        for (int64_t k = 0; nodes != NULL && k < count; k++)
            *VECTOR_APPEND(ret) = (struct tensorrt_taken_node){(int)nodes[k], (int)i};
    }
}

/* An error without a node is about the model as a whole. */
static bool refuses_whole(const struct refusal_vector *errors, const struct taken_vector *taken)
{
    return taken->count == 0 && (errors->count == 0 || errors->items[0].node < 0);
}

static int ask_parser(const struct tensorrt_network *network, const struct backend_model *source, struct arena *arena,
                      struct tensorrt_support *ret, struct error *err)
{
    char *place SCOPED_FREE = file_join(source->external_folder != NULL ? source->external_folder : ".", "model.onnx");
    struct refusal_vector errors SCOPED_ITEMS = {0};
    struct taken_vector taken SCOPED_ITEMS = {0};
    int rc = 0;

    ret->takes_all = TENSORRT_CALL(IParser, supportsModelV2, network->parser, source->data, source->size, place);
    if (ret->takes_all)
        return 0;
    list_taken(network->parser, &taken);
    list_errors(network->parser, arena, &errors);
    if (refuses_whole(&errors, &taken))
        rc = tensorrt_refuse_model(network->parser, err);
    if (errors.count > 0)
        ret->errors.items = arena_copy(arena, errors.items, errors.count * sizeof(*errors.items));
    if (taken.count > 0)
        ret->taken.items = arena_copy(arena, taken.items, taken.count * sizeof(*taken.items));
    ret->errors.count = errors.count;
    ret->taken.count = taken.count;
    return rc;
}

int tensorrt_find_support(const struct tensorrt *trt, const struct tensorrt_settings *settings,
                          const struct backend_model *source, struct arena *arena, struct tensorrt_support *ret,
                          struct error *err)
{
    struct tensorrt_network network;
    int rc = tensorrt_require(TENSORRT_METHOD(IParser, supportsModelV2), "the support of a whole model", err);

    if (rc == 0)
        rc = tensorrt_network_create(trt, settings, &network, err);
    if (rc < 0)
        return rc;
    rc = ask_parser(&network, source, arena, ret, err);
    tensorrt_network_release(&network);
    return rc;
}
