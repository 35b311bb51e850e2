/* backend/node_support.c: see node_support.h. */
#include "backend/node_support.h"

#include <stdlib.h>
#include <string.h>

#include "backend/subgraph_session.h"
#include "backend/type_inference.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "onnx/model_edit.h"
#include "onnx/value_info.h"

/* An input without a type would be refused with a reason that helps nobody. */
static char *find_unknown_input(const struct subgraph *single)
{
    for (size_t i = 0; i < single->inputs.count; i++) {
        const struct value *value = &single->model->values.items[single->inputs.items[i]];
        struct value_type type;
        struct string_builder reason;

        value_info_decode(value->info, &type);
        if (type.not_a_tensor != NULL || type.element != DATA_UNDEFINED)
            continue;
        string_init(&reason);
        string_add_format(&reason, "the type of its input '" TEXT_FORMAT "' is not known", TEXT_ARGS(value->name));
        return string_take(&reason);
    }
    return NULL;
}

/* What the runtime says of a node's outputs helps with the nodes behind it: a model with a refused node is never inferred as a
 * whole. */
static void learn_types(const struct subgraph *single, const struct subgraph_session *session)
{
    size_t count;
    const struct backend_io *outputs = session->backend->outputs(session->session, &count);

    for (size_t i = 0; i < count; i++) {
        uint32_t value = model_find_value(single->model, text_of(outputs[i].name));
        struct value_type type;

        if (value == VALUE_NONE)
            continue;
        value_info_decode(single->model->values.items[value].info, &type);
        if (type.not_a_tensor == NULL && type.element == DATA_UNDEFINED) {
            types_from_io(&outputs[i], &type);
            model_set_type(single->model, value, &type);
        }
    }
}

static int try_node(const struct subgraph *single, const struct backend *backend, const struct backend_request *request,
                    char **ret_reason, struct error *err)
{
    struct subgraph_session session;
    struct error why = {0};
    int rc;

    *ret_reason = find_unknown_input(single);
    if (*ret_reason != NULL)
        return 0;
    rc = subgraph_session_open(&session, single, backend, request, &why);
    if (rc == 0)
        learn_types(single, &session);
    subgraph_session_close(&session);
    if (rc < 0 && rc != ERR_BACKEND && rc != ERR_UNSUPPORTED)
        return error_set(err, (enum error_code)rc, "%s", why.message);
    if (rc < 0) {
        why.message[strcspn(why.message, "\n")] = '\0';
        *ret_reason = memory_strdup(why.message);
    }
    return 0;
}

int node_support_find(const struct subgraph *subgraph, const struct backend *backend,
                      const struct backend_request *request, struct node_support_list *ret, struct error *err)
{
    struct bitset one;
    int rc = 0;

    bitset_init(&one, subgraph->nodes.size);
    for (size_t i = bitset_next(&subgraph->nodes, 0); rc == 0 && i < subgraph->nodes.size;
         i = bitset_next(&subgraph->nodes, i + 1)) {
        struct subgraph single;
        char *reason = NULL;

        if (interrupt_pending()) {
            rc = error_set(err, ERR_INTERRUPTED, "interrupted");
            break;
        }
        bitset_clear(&one);
        bitset_add(&one, i);
        subgraph_init_nodes(&single, subgraph, &one);
        rc = try_node(&single, backend, request, &reason, err);
        subgraph_release(&single);
        if (rc == 0)
            *VECTOR_APPEND(ret) = (struct node_support){(uint32_t)i, reason};
    }
    bitset_release(&one);
    return rc;
}

void node_support_release(struct node_support_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i].reason);
    free(list->items);
    *list = (struct node_support_list){0};
}
