/* backend/model_loading.c: see model_loading.h. */
#include "backend/model_loading.h"

#include <string.h>

#include "backend/subgraph_session.h"
#include "backend/type_inference.h"
#include "base/memory.h"
#include "onnx/edit/model.h"
#include "onnx/edit/rebuild.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/wire.h"

#define LARGE_NODE 65536 /* bytes */

/* The runtime names nodes in its reasons: those without a name are called after what they make. Nodes that are large
 * for the tensors that they hold stay as they are. */
static int name_nodes(struct model *model, struct error *err)
{
    struct span_list fields SCOPED_ITEMS = {0};

    VECTOR_EACH (const struct node, node, model->nodes) {
        SCOPED_STRING(message);
        SCOPED_STRING(field);
        struct text made = {"nothing", strlen("nothing")};

        if (node->name.size > 0 || node->message.size > LARGE_NODE) {
            *VECTOR_APPEND(&fields) = node->field;
            continue;
        }
        for (size_t j = node->outputs.count; j-- > 0;)
            if (model_edge(model, node->outputs, j) != VALUE_NONE)
                made = model->values.items[model_edge(model, node->outputs, j)].name;
        string_add_bytes(&message, node->message.data, node->message.size);
        wire_write_text(&message, NODE_NAME,
                        text_of(arena_printf(&model->arena, "which makes '" TEXT_FORMAT "'", TEXT_ARGS(made))));
        wire_write_bytes(&field, GRAPH_NODE, message.data, message.size);
        *VECTOR_APPEND(&fields) = (struct span){arena_copy(&model->arena, field.data, field.size), field.size};
    }
    return model_set_nodes(model, &fields, err);
}

static int try_to_load(const struct subgraph *subgraph, const struct backend *backend,
                       const struct backend_request *request, enum loading *ret, struct error *ret_why,
                       struct error *err)
{
    struct subgraph_session session = {0};
    int rc = subgraph_session_open(&session, subgraph, backend, request, ret_why);

    subgraph_session_close(&session);
    if (rc == ERR_INTERRUPTED)
        return error_set(err, ERR_INTERRUPTED, "%s", ret_why->message);
    *ret = rc == 0 ? LOADING_WORKED : rc == ERR_BACKEND ? LOADING_REFUSED : LOADING_UNKNOWN;
    if (bounded_process_is_out_of_time(ret_why))
        *ret = LOADING_UNKNOWN;
    return 0;
}

int model_loading(const struct subgraph *subgraph, const struct backend *backend, const struct backend_request *request,
                  enum loading *ret, struct error *ret_why, struct error *err)
{
    struct model *model SCOPED(model_free_pointed) = model_copy(subgraph->model);
    struct known_types known SCOPED(known_types_release) = {0};
    struct subgraph copy SCOPED(subgraph_release) = {0};
    int rc;

    *ret = LOADING_UNKNOWN;
    known_types_init(&known, model, &model->arena);
    subgraph_init_copy(&copy, subgraph);
    copy.model = model;
    copy.known = &known;
    rc = name_nodes(model, err);
    if (rc < 0)
        return rc;
    rc = weights_to_inputs(&copy, &known, err);
    if (rc < 0)
        return rc;
    rc = try_to_load(&copy, backend, request, ret, ret_why, err);
    if (rc == 0 && *ret == LOADING_REFUSED && !bounded_process_is_end(ret_why)) {
        struct error why = {0};

        value_list_assign(&copy.inputs, &subgraph->inputs); /* with all weights it may be taken */
        rc = try_to_load(&copy, backend, request, ret, &why, err);
        if (strstr(why.message, "External data path") == NULL) /* else the first reason tells more */
            *ret_why = why;
    }
    return rc;
}
